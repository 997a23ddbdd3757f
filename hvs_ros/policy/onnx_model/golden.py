"""Golden frames: what an exported model is shown to see whether it decides as the original does.

A search goes where the original turns. Where the original submits, or says nothing that can be done, the head is turned
on all the same, so that every search has as many turns as are asked for.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np

from hvs_ros.angles import Direction
from hvs_ros.benchmark.episodes import Episode, plan_episodes
from hvs_ros.benchmark.in_process import SceneHead
from hvs_ros.panorama import Camera, draw_cross
from hvs_ros.panorama.scene import load_scenes
from hvs_ros.panorama.surroundings import Workshop
from hvs_ros.policy.contract import PolicyError
from hvs_ros.policy.conversation import Message
from hvs_ros.policy.engine import Answer, Description, Engine
from hvs_ros.policy.model_policy import ModelPolicy
from hvs_ros.policy.model_settings import ModelSettings
from hvs_ros.search.action import Rotate
from hvs_ros.search.decision import Decision
from hvs_ros.search.loop import Head, run_search
from hvs_ros.search.task import Task, TaskKind
from hvs_ros.search.view import Arrival, MoveOutcome, Observation, Picture, View

ON = Rotate(60, 0)
"""Where the head is turned when the original does not turn it."""
HFOV_DEG = 100.0
ENDINGS = (".jpg", ".jpeg", ".png", ".webp")
CACHE_MB = 512


@dataclass(frozen=True)
class GoldenSearch:
    """A search to be repeated.

    Attributes:
        name: for a person.
        task: what the model is told.
        head: shows it views.
    """

    name: str
    task: Task
    head: Head


@dataclass(frozen=True)
class Asked:
    """One turn of the original.

    Attributes:
        search: name of the search.
        turn: the first is 1.
        messages: what it was asked.
        answer: what it said.
        decision: what that means.
    """

    search: str
    turn: int
    messages: tuple[Message, ...]
    answer: Answer
    decision: Decision


def sample_searches(scenes: Path, camera: Camera, searches: int, turns: int) -> Iterator[GoldenSearch]:
    """Return searches in a folder of scenes, spread over scenes and tasks.

    Args:
        scenes: the folder.
        camera: looks at them.
        searches: how many at most.
        turns: of each.

    Raises:
        SceneError: there are no scenes.
        SelectionError: they have no tasks.
    """
    episodes = _spread(plan_episodes(load_scenes(scenes), max_turns=turns))
    workshop = Workshop("", camera, "exact", 1, CACHE_MB)
    for episode in episodes[:searches]:
        head = SceneHead(workshop)
        head.enter(episode.address, episode.start)
        yield GoldenSearch(episode.episode_id, episode.task, head)


def picture_searches(folder: Path, instruction: str, searches: int, turns: int) -> Iterator[GoldenSearch]:
    """Return searches that are shown the pictures of a folder in the order of their names, each once.

    Args:
        folder: of pictures as a head's camera takes them, without a cross.
        instruction: what is searched for.
        searches: how many at most.
        turns: of each.

    Raises:
        PolicyError: there are none, or one cannot be read.
    """
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix.lower() in ENDINGS)
    except OSError as error:
        raise PolicyError(f"{folder} cannot be read: {error.strerror}") from error
    if not paths:
        raise PolicyError(f"{folder} holds no pictures ({', '.join(ENDINGS)})")
    for number, first in enumerate(range(0, len(paths), turns)):
        if number == searches:
            return
        shown = paths[first : first + turns]
        pictures = PictureHead([_picture(path) for path in shown])
        yield GoldenSearch(shown[0].name, Task(instruction, max_turns=len(shown)), pictures)


class PictureHead:
    """A head (see ``hvs_ros.search.loop``) that is shown one picture after another, wherever it turns."""

    def __init__(self, pictures: Sequence[Picture]) -> None:
        self._pictures = pictures
        self._now = 0
        self._direction = Direction(0.0, 0.0)

    def look(self) -> View:
        """Return the picture of this turn."""
        return View(self._pictures[self._now], self._direction, 0, HFOV_DEG, "a picture")

    def turn_to(self, goal: Direction) -> Arrival:
        """Go on to the next picture."""
        self._direction = goal.normalized()
        self._now = min(self._now + 1, len(self._pictures) - 1)
        return Arrival(MoveOutcome.REACHED, self._direction)


def ask_original(engine: Engine, settings: ModelSettings, search: GoldenSearch) -> list[Asked]:
    """Let the original search, and return every turn of it.

    Raises:
        PolicyError: it cannot.
    """
    overheard = _Overheard(engine)
    led = _Led(ModelPolicy(lambda: overheard, settings))
    run_search(search.task, search.head, led, mark=draw_cross, mark_name="green cross")
    return [
        Asked(search.name, turn, messages, answer, decision)
        for turn, ((messages, answer), decision) in enumerate(zip(overheard.heard, led.decisions, strict=True), 1)
    ]


class _Overheard:
    """An engine that another one is behind, with everything that was said."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.heard: list[tuple[tuple[Message, ...], Answer]] = []

    def describe(self) -> Description:
        return self._engine.describe()

    def answer(self, messages: Sequence[Message], canceled: threading.Event) -> Answer:
        answer = self._engine.answer(messages, canceled)
        self.heard.append((tuple(messages), answer))
        return answer

    def close(self) -> None:
        """The engine stays open."""


class _Led:
    """A policy whose searches go on for as many turns as they may have."""

    def __init__(self, policy: ModelPolicy) -> None:
        self._policy = policy
        self.decisions: list[Decision] = []

    def start(self, task: Task) -> None:
        self._policy.start(task)

    def decide(self, observation: Observation) -> Decision:
        decision = self._policy.decide(observation)
        self.decisions.append(decision)
        return decision if isinstance(decision.action, Rotate) else replace(Decision(ON), raw=decision.raw)


def _spread(episodes: Sequence[Episode]) -> list[Episode]:
    """Return the episodes such that the first few are of different scenes and kinds of tasks."""
    scenes = list(dict.fromkeys(episode.scene.name for episode in episodes))
    kinds = list(TaskKind)
    earlier: Counter[tuple[str, TaskKind]] = Counter()
    ranked = []
    for place, episode in enumerate(episodes):
        scene, kind = episode.scene.name, episode.task.kind
        # One round takes one kind from each scene, the next round the other.
        ranked.append((earlier[scene, kind], (scenes.index(scene) + kinds.index(kind)) % len(kinds), place, episode))
        earlier[scene, kind] += 1
    return [episode for *_, episode in sorted(ranked, key=lambda entry: entry[:3])]


def _picture(path: Path) -> Picture:
    try:
        picture = cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_COLOR)
    except OSError as error:
        raise PolicyError(f"{path} cannot be read: {error.strerror}") from error
    if picture is None:
        raise PolicyError(f"{path} is no picture that can be decoded")
    return np.asarray(picture, np.uint8)
