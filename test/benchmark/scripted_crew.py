"""A crew whose searchers do what a test says, and small scenes to search in."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from hvs_ros.angles import Direction
from hvs_ros.benchmark.engine import BenchEngine, EngineSettings
from hvs_ros.benchmark.episodes import Episode
from hvs_ros.benchmark.record import SearchRecord
from hvs_ros.benchmark.result import EpisodeResult
from hvs_ros.benchmark.run import Listener, Patience
from hvs_ros.benchmark.viewing import Viewing
from hvs_ros.panorama import Camera
from hvs_ros.panorama.scene import Scene
from hvs_ros.policy.crew import Crew
from hvs_ros.search.action import Submit
from hvs_ros.search.decision import Decision
from hvs_ros.search.episode import Outcome, SearchFailure
from hvs_ros.search.task import Target, Task
from hvs_ros.search.view import Observation

VIEWING = Viewing(Camera(64, 36, 100.0))
HASTY = Patience(attempts=3, pause_s=0.0, failures_in_a_row=3, outage_s=0.0)
RIGHT = Decision(Submit(90.0, 0.0))
Answer = Callable[[Task, Observation], Awaitable[Decision]]


def make_scenes(folder: Path, count: int, width: int = 256) -> list[Scene]:
    """Return scenes with pictures of coloured patches."""
    scenes = []
    for number in range(count):
        picture = folder / f"scene_{number}.png"
        patches = np.random.default_rng(number).integers(0, 255, (8, 16, 3), dtype=np.uint8)
        assert cv2.imwrite(str(picture), cv2.resize(patches, (width, width // 2)))
        scenes.append(Scene(f"scene_{number}", picture))
    return scenes


def make_episodes(folder: Path, scenes: int = 3, each: int = 4) -> list[Episode]:
    """Return episodes that visit the scenes in turn, as a shuffled benchmark does."""
    target = Target((80.0, 100.0), (-10.0, 10.0))
    places = make_scenes(folder, scenes)
    return [
        Episode(
            episode_id=f"{scene.name}/{number}/{45 * number}",
            scene=scene,
            task=Task(f"find {number}"),
            start=Direction(45.0 * number, 0.0),
            target=target,
            level=1,
        )
        for number in range(each)
        for scene in places
    ]


async def submit(task: Task, observation: Observation) -> Decision:
    """Submit the answer at once."""
    return RIGHT


class ScriptedCrew:
    """See ``hvs_ros.policy.crew.Crew``.

    Attributes:
        events: opened, closed.
        busy: searches under way.
        most: so many of them at the same time.
        tasks: that were begun, by their instruction.
    """

    def __init__(self, answer: Answer = submit, size: int = 4) -> None:
        self.size = size
        self.answer = answer
        self.events: list[str] = []
        self.busy = self.most = 0
        self.tasks: list[str] = []
        self.canceled = 0

    async def open(self) -> None:
        await asyncio.sleep(0)
        self.events.append("opened")

    def searcher(self) -> _Searcher:
        return _Searcher(self)

    def describe(self) -> Mapping[str, str]:
        return {"model": "scripted"}

    async def close(self) -> None:
        await asyncio.sleep(0)
        self.events.append("closed")


class _Searcher:
    def __init__(self, crew: ScriptedCrew) -> None:
        self._crew = crew
        self._task = Task("nothing yet")

    async def start(self, task: Task) -> None:
        self._task = task
        self._crew.tasks.append(task.instruction)

    async def decide(self, observation: Observation) -> Decision:
        crew = self._crew
        assert "closed" not in crew.events and observation.image.shape == (36, 64, 3)
        crew.busy += 1
        crew.most = max(crew.most, crew.busy)
        try:
            return await crew.answer(self._task, observation)
        except asyncio.CancelledError:
            crew.canceled += 1
            raise
        finally:
            crew.busy -= 1


class Log(Listener):
    """Notes what it is told."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.retried: list[tuple[str, Outcome]] = []
        self.results: list[EpisodeResult] = []

    def on_episode(self, number: int, total: int, episode: Episode) -> None:
        self.begun.append(episode.episode_id)

    def on_retry(self, episode: Episode, record: SearchRecord, attempt: int) -> None:
        self.retried.append((episode.episode_id, record.outcome))

    def on_result(self, result: EpisodeResult) -> None:
        self.results.append(result)


def make_engine(episodes: list[Episode], crew: Crew, listener: Listener | None = None, **options: Any) -> BenchEngine:
    """Return an engine in a hurry."""
    settings = EngineSettings(options.pop("in_flight", 4), memory_mb=options.pop("memory_mb", 100), threads=2)
    options.setdefault("patience", HASTY)
    viewing = options.pop("viewing", VIEWING)
    return BenchEngine(
        episodes, crew, viewing, options.pop("results", None), listener or Listener(), settings, **options
    )


def unavailable(message: str = "no server") -> SearchFailure:
    """Return the failure of a policy that cannot be reached."""
    return SearchFailure(Outcome.POLICY_UNAVAILABLE, message)
