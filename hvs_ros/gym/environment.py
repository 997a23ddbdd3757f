"""The Gymnasium environment: a step is a turn of a search.

It drives the same ``SearchSession`` as the benchmark, reads answers with the same parser and cuts views out of the same
panoramas, so what is learned here is what is tested there. It has no prompts: what the model is told, and how much of
it is remembered, belongs to whoever trains; ``observation`` is what ``hvs_ros.policy`` makes its messages of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

import gymnasium
import numpy as np

from hvs_ros.angles import Direction
from hvs_ros.benchmark.episodes import Episode
from hvs_ros.gym.answers import AnswerSpace
from hvs_ros.gym.episodes import EpisodeDeck
from hvs_ros.gym.rewards import RewardWeights, approach, correctness, distance, well_formed_episode
from hvs_ros.gym.search import OngoingSearch, Pixels
from hvs_ros.gym.studio import Studio, studios
from hvs_ros.panorama import SAMPLINGS, Camera, Sampling
from hvs_ros.policy.model_settings import ParserMode, Thought
from hvs_ros.policy.parse import Parsed, parse, well_formed
from hvs_ros.search.action import Action, Rotate, Submit
from hvs_ros.search.decision import Decision, ParseStatus
from hvs_ros.search.scoring import ScoringMode
from hvs_ros.search.task import DEFAULT_MAX_TURNS, Task
from hvs_ros.search.view import Observation

E = TypeVar("E", bound=Enum)


class HumanoidSearchEnv(gymnasium.Env[Pixels, str]):
    """Search in panoramas; defaults are the published training's.

    An observation is the view, (height, width, 3) uint8, **RGB**, with the green cross, unaltered by JPEG. An action
    is the text that a model says. A submission terminates an episode, the turn limit truncates it. ``info`` holds

    - always: ``episode_id``, ``instruction``, ``kind`` ("object" or "path"), ``level`` (difficulty), ``direction``
      (where the head looks, [yaw, pitch] in search degrees, float64), ``turn`` (that is to be answered, the first is 1;
      at the end the last), ``turns_left``, ``feedback`` (what came of the last answer, in words);
    - after a step: ``status`` (what the parser says of the answer), ``action`` (as understood; empty: none),
      ``well_formed`` (the answer is valid and nothing but the format), ``rewards`` (terms; they sum to the reward);
    - at the end: ``success`` and ``outcome``.

    Args:
        scenes: folder in the published layout; None: the sample scenes.
        select: shell patterns for ids of episodes or names of scenes; empty: all.
        kind: "object" or "path" only; None: both.
        width: of the views [pixels].
        height: of the views [pixels].
        hfov_deg: of the views [degrees].
        sampling: "exact", or "hstar" as the published environment renders.
        max_turns: answers after which an episode is truncated.
        parser: "strict", "lenient" or "lenient+", as for policies with a model.
        thought: what is to come before an answer: "free", "none" or "grounded".
        bare: a text without ``<answer>`` is the action itself, ``rotate(10,-5)``.
        scoring: "paper", or "reference" as the published code judges.
        rewards: weights by name, those of ``RewardWeights`` that are to differ.
        memory_mb: for panoramas that are not looked at, shared by the environments of a process.
        render_mode: "rgb_array" or None.

    Raises:
        ValueError: a setting that cannot be, or nothing to search; the message names it.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 1}  # noqa: RUF012

    def __init__(
        self,
        scenes: str | Path | None = None,
        *,
        select: Sequence[str] = (),
        kind: str | None = None,
        width: int = 1280,
        height: int = 720,
        hfov_deg: float = 100.0,
        sampling: Sampling = "exact",
        max_turns: int = DEFAULT_MAX_TURNS,
        parser: str = ParserMode.LENIENT.value,
        thought: str = Thought.FREE.value,
        bare: bool = False,
        scoring: str = ScoringMode.PAPER.value,
        rewards: Mapping[str, float] | None = None,
        memory_mb: int = 1024,
        render_mode: str | None = None,
    ) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(f"render_mode is {render_mode!r}; give 'rgb_array' or None")
        if sampling not in SAMPLINGS:
            raise ValueError(f"sampling is {sampling!r}; give {' or '.join(SAMPLINGS)}")
        self.render_mode = render_mode
        self._camera = Camera(width, height, hfov_deg)
        self._sampling = sampling
        self._parser, self._thought = _choice("parser", parser, ParserMode), _choice("thought", thought, Thought)
        self._scoring = _choice("scoring", scoring, ScoringMode)
        self._bare = bare
        self._weights = RewardWeights.of(rewards)
        self._deck = EpisodeDeck(scenes, select, kind, max_turns)
        self._studio: Studio | None = studios.get(memory_mb)
        self._search: OngoingSearch | None = None
        self._well_formed = True
        self.observation_space = gymnasium.spaces.Box(0, 255, (height, width, 3), np.uint8)
        self.action_space = AnswerSpace(bare=bare)

    @property
    def episodes(self) -> tuple[Episode, ...]:
        """The episodes that ``reset`` draws from, by scene, item and start."""
        return self._deck.episodes

    @property
    def task(self) -> Task:
        """What the searcher of the present episode is told.

        Raises:
            ResetNeeded: there was no episode yet.
        """
        if self._search is None:
            raise gymnasium.error.ResetNeeded("there is no episode: call reset() first")
        return self._search.episode.task

    @property
    def observation(self) -> Observation:
        """What a policy is given in this turn (the view in BGR); from ``reset`` until the end of an episode.

        Raises:
            ResetNeeded: no episode is under way.
        """
        if self._search is None or self._search.observation is None:
            raise gymnasium.error.ResetNeeded("no episode is under way: call reset() first")
        return self._search.observation

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Pixels, dict[str, Any]]:
        """Begin an episode: the one of ``options={"episode": id}``, else the next of a shuffled pass through all.

        Args:
            seed: begins a new pass, whose order follows from it.
            options: ``{"episode": id}``, or nothing.

        Raises:
            ValueError: an option that is not known, or no such episode.
            PictureError: the panorama cannot be opened.
            ClosedEnvironmentError: it was closed.
        """
        super().reset(seed=seed)
        if self._studio is None:
            raise gymnasium.error.ClosedEnvironmentError("the environment is closed: make another one")
        if seed is not None:
            self._deck.shuffle()
        episode = self._deck.chosen(options) or self._deck.draw(self.np_random)
        self._search = OngoingSearch(episode, self._studio.sampler(episode.scene, self._camera, self._sampling))
        self._well_formed = True
        return self._search.pixels(), self._info(self._search)

    def step(self, action: str) -> tuple[Pixels, float, bool, bool, dict[str, Any]]:
        """Take an answer: turn the head, or end the episode.

        Args:
            action: what the model said; whatever is wrong with it costs the turn.

        Returns:
            The view after it, the reward, whether it was a submission, whether it was the last turn, and the info.

        Raises:
            ResetNeeded: no episode is under way.
        """
        search = self._search
        if search is None or search.observation is None:
            raise gymnasium.error.ResetNeeded("no episode is under way: call reset() before step()")
        answer = str(action)
        parsed, formed = self._read(answer)
        self._well_formed &= formed
        before = search.direction
        search.act(Decision(parsed.action, thought=parsed.thought, raw=answer, status=parsed.status))
        rewards = self._rewards(search, parsed.action, before)
        info = self._info(search) | {
            "status": parsed.status.value,
            "action": "" if parsed.action is None else str(parsed.action),
            "well_formed": formed,
            "rewards": rewards,
        }
        over, submitted = search.observation is None, isinstance(parsed.action, Submit)
        if over:
            info |= {"success": search.success(self._scoring), "outcome": search.session.result.outcome.value}
        return search.pixels(), sum(rewards.values()), submitted, over and not submitted, info

    def render(self) -> Pixels | None:
        """Return the present view as ``step`` does; None without a render mode.

        Raises:
            ResetNeeded: there was no episode yet.
        """
        if self._search is None:
            raise gymnasium.error.ResetNeeded("there is no view yet: call reset() before render()")
        return self._search.pixels() if self.render_mode == "rgb_array" else None

    def close(self) -> None:
        """Let go of the panoramas; the last environment of a process that does so frees them."""
        self._studio = self._search = None

    def _read(self, answer: str) -> tuple[Parsed, bool]:
        """Return what an answer says, and whether it is valid and in the format that is asked for."""
        if self._bare and "<answer>" not in answer:
            parsed = parse(f"<answer>{answer}</answer>", mode=self._parser, thought=Thought.NONE)
            return parsed, parsed.status is ParseStatus.OK
        parsed = parse(answer, mode=self._parser, thought=self._thought)
        return parsed, parsed.status is ParseStatus.OK and well_formed(answer, self._thought)

    def _rewards(self, search: OngoingSearch, action: Action | None, before: Direction) -> dict[str, float]:
        """Return the terms of a turn; they are floats, whatever the weights are."""
        terms = {"correctness": 0.0, "format": 0.0, "distance": 0.0}
        target = search.episode.target
        if isinstance(action, Rotate) and target is not None:
            terms["distance"] = distance(approach(target, before, search.direction), self._weights)
        elif isinstance(action, Submit):
            terms["correctness"] = correctness(search.success(self._scoring), self._weights)
            terms["format"] = well_formed_episode(self._well_formed, self._weights)
        return terms

    @staticmethod
    def _info(search: OngoingSearch) -> dict[str, Any]:
        episode, session, direction = search.episode, search.session, search.direction
        return {
            "episode_id": episode.episode_id,
            "instruction": episode.task.instruction,
            "kind": episode.task.kind.value,
            "level": episode.level,
            "direction": np.array([direction.yaw_deg, direction.pitch_deg]),
            "turn": len(session.turns) if session.done else session.turn,
            "turns_left": episode.task.max_turns - len(session.turns),
            "feedback": session.feedback or "",
        }


def _choice(name: str, value: str, choices: type[E]) -> E:
    try:
        return choices(value)
    except ValueError:
        known = [choice.value for choice in choices]
        raise ValueError(f"{name} is {value!r}; give {', '.join(known[:-1])} or {known[-1]}") from None
