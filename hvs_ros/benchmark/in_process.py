"""Runs episodes in this process, without ROS: the same session and the same loop, with a panorama for a head.

What the head does here is what ``panorama_head`` does without motion: a move has ended when it was commanded, and the
view is cut out of the panorama at once. So a policy decides the same here as behind the graph, only faster.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from hvs_ros.angles import Direction
from hvs_ros.benchmark.episodes import Episode
from hvs_ros.benchmark.record import SearchRecord, TurnRecord
from hvs_ros.benchmark.run import Listener
from hvs_ros.panorama import draw_cross
from hvs_ros.panorama.surroundings import Surroundings, SurroundingsError, Workshop
from hvs_ros.policy.contract import Policy
from hvs_ros.policy.runner import PolicyRunner
from hvs_ros.search.episode import Outcome, SearchFailure, SearchResult, Turn
from hvs_ros.search.loop import Watcher, run_search
from hvs_ros.search.view import Arrival, MoveOutcome, View


class SceneHead:
    """A head inside a panorama that turns at once (see ``hvs_ros.search.loop.Head``).

    Args:
        workshop: opens scenes, as for the panorama head's node.
    """

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop
        self._around: Surroundings | None = None
        self._direction = Direction(0.0, 0.0)

    def enter(self, scene: Path, start: Direction) -> None:
        """Go into a scene.

        Raises:
            SearchFailure: it cannot be opened.
        """
        try:
            self._around = self._workshop.find(str(scene))
        except SurroundingsError as error:
            raise SearchFailure(Outcome.HEAD_FAILED, str(error)) from error
        self._direction = start.normalized()

    def look(self) -> View:
        """Return the view of the present direction."""
        if self._around is None:
            raise SearchFailure(Outcome.HEAD_UNAVAILABLE, "the head is in no scene")
        sampler = self._around.sampler
        image = self._around.render(self._direction)
        return View(image, self._direction, time.time_ns(), sampler.camera.hfov_deg, sampler.info.made)

    def turn_to(self, goal: Direction) -> Arrival:
        """Look there."""
        self._direction = goal.normalized()
        return Arrival(MoveOutcome.REACHED, self._direction, time.time_ns())


class InProcessBackend:
    """Runs episodes with a policy in this process; a context manager.

    Args:
        create: makes the policy.
        head: where it looks.
        deadline_s: limit for one decision.
        keep: is given each search with its pictures when it has ended (for a report, for instance).
    """

    def __init__(
        self,
        create: Callable[[], Policy],
        head: SceneHead,
        *,
        deadline_s: float = 120.0,
        keep: Callable[[Episode, SearchResult], None] | None = None,
    ) -> None:
        self._runner = PolicyRunner(create, deadline_s=deadline_s)
        self._head = head
        self._keep = keep
        self._canceled = threading.Event()

    def load(self) -> None:
        """Make the policy now, so that one that cannot be made is known before anything is searched.

        Raises:
            SearchFailure: why not.
        """
        self._runner.load()

    def run(self, episode: Episode, listener: Listener) -> SearchRecord:
        """Search once."""
        if self._canceled.is_set():
            return SearchRecord(Outcome.CANCELED, "canceled before it began")
        try:
            self._head.enter(episode.address, episode.start)
        except SearchFailure as failure:
            return SearchRecord(failure.outcome, str(failure))
        teller = _TurnTeller(listener)
        result = run_search(episode.task, self._head, self._runner, [teller], mark=draw_cross, mark_name="green cross")
        if self._keep is not None:
            self._keep(episode, result)
        return SearchRecord.of(result)

    def cancel(self) -> None:
        """End the search under way, and let no other begin."""
        self._canceled.set()
        self._runner.cancel()

    def close(self) -> None:
        """Close the policy."""
        self._runner.close()

    def __enter__(self) -> InProcessBackend:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _TurnTeller(Watcher):
    def __init__(self, listener: Listener) -> None:
        self._listener = listener

    def on_turn(self, turn: Turn) -> None:
        """Pass it on without its picture."""
        self._listener.on_turn(TurnRecord.of(turn))
