"""One episode under way: the session of a search, and a head in its panorama that turns at once."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from hvs_ros.angles import Direction
from hvs_ros.benchmark.episodes import Episode
from hvs_ros.benchmark.searching import MARK
from hvs_ros.panorama import ViewSampler, mark_cross
from hvs_ros.search.decision import Decision
from hvs_ros.search.episode import SearchSession, Turn
from hvs_ros.search.scoring import ScoringMode, score
from hvs_ros.search.view import Arrival, MoveOutcome, Observation, View

Pixels = NDArray[np.uint8]


class OngoingSearch:
    """A search that is stepped through answer by answer.

    Args:
        episode: with a target.
        sampler: makes the views of its scene.

    Attributes:
        episode: as given.
        session: of the search.
        observation: what a policy is given in this turn; None when the search is over.
    """

    def __init__(self, episode: Episode, sampler: ViewSampler) -> None:
        self.episode = episode
        self.session = SearchSession(episode.task, keep_pictures=False)
        self._sampler = sampler
        self._view = self._seen(episode.start.normalized())
        self.observation: Observation | None = self._observe()

    @property
    def direction(self) -> Direction:
        """Where the head looks."""
        return self._view.direction

    def pixels(self) -> Pixels:
        """Return the view with its cross in RGB, always a new array."""
        return np.asarray(cv2.cvtColor(self._view.image, cv2.COLOR_BGR2RGB), np.uint8)

    def act(self, decision: Decision) -> Turn:
        """Do what was decided, and look.

        Raises:
            RuntimeError: the search is over.
        """
        goal = self.session.decide(decision)
        turn = self.session.conclude(None if goal is None else Arrival(MoveOutcome.REACHED, goal.normalized()))
        if turn.direction != self._view.direction:
            self._view = self._seen(turn.direction)
        self.observation = None if self.session.done else self._observe()
        return turn

    def success(self, mode: ScoringMode) -> bool:
        """Return whether the submission was right, once the search is over; without one it was not."""
        submitted, target = self.session.result.submitted, self.episode.target
        return submitted is not None and target is not None and score(target, submitted, mode).success

    def _seen(self, direction: Direction) -> View:
        sampler = self._sampler
        image = sampler.render(direction.yaw_deg, direction.pitch_deg)
        mark_cross(image)
        return View(image, direction, 0, sampler.camera.hfov_deg, f"{sampler.info.made}, {MARK}")

    def _observe(self) -> Observation:
        return self.session.observe(self._view)
