"""A model that says what a script says: everything but the model is what a real run has."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from hvs_ros.benchmark.engine import BenchEngine, EngineSettings
from hvs_ros.benchmark.episodes import Episode
from hvs_ros.benchmark.in_process import InProcessBackend, SceneHead
from hvs_ros.benchmark.protocol import Protocol
from hvs_ros.benchmark.result import EpisodeResult
from hvs_ros.benchmark.run import BenchmarkRun, Listener, RunReport
from hvs_ros.benchmark.viewing import Viewing
from hvs_ros.panorama.camera import Camera
from hvs_ros.panorama.surroundings import Workshop
from hvs_ros.policy.conversation import Message
from hvs_ros.policy.engine import Answer
from hvs_ros.policy.model_policy import ModelPolicy
from hvs_ros.policy.model_settings import ModelSettings
from hvs_ros.policy.thread_crew import ThreadCrew
from hvs_ros.search.task import Task

SMALL = Camera(96, 54, 100.0)
"""No view changes what a script says."""
CUT = "<cut>"
"""Ends an answer that the token limit cut off."""
Scripts = Mapping[str, Sequence[str]]


class ScriptedEngine:
    """Says the lines of a script, one a turn."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def describe(self) -> Mapping[str, Any]:
        """Return what it is."""
        return {"model": "script"}

    def answer(self, messages: Sequence[Message], canceled: threading.Event) -> Answer:
        """Return the next line."""
        line = self.lines.pop(0)
        finish: Literal["stop", "length"] = "length" if line.endswith(CUT) else "stop"
        return Answer(line.removesuffix(CUT), finish)

    def close(self) -> None:
        """Release nothing."""


class ScriptedPolicy(ModelPolicy):
    """A model's policy; the instruction of a task, as ``marked`` makes it, says which script is used.

    Args:
        scripts: answers by the id of their episode.
        common: as for any model.
    """

    def __init__(self, scripts: Scripts, common: Mapping[str, Any]) -> None:
        self._scripts, self._script = scripts, ScriptedEngine()
        super().__init__(lambda: self._script, ModelSettings.of(common))

    def start(self, task: Task) -> None:
        """Take the script of a task."""
        self._script.lines = list(self._scripts[task.instruction.rpartition(" #")[2]])
        super().start(task)


def marked(episode: Episode, episode_id: str) -> Episode:
    """Return an episode under another id, which its instruction ends with."""
    task = replace(episode.task, instruction=f"{episode.task.instruction} #{episode_id}")
    return replace(episode, episode_id=episode_id, task=task)


def run_at_once(protocol: Protocol, episodes: Sequence[Episode], scripts: Scripts) -> list[EpisodeResult]:
    """Run episodes as a benchmark does, many at once, by a protocol but for the prompts and the size of its views."""
    crew = ThreadCrew(lambda: _policy(protocol, scripts), size=8)
    viewing = Viewing(SMALL, protocol.sampling)
    return _completed(BenchEngine(episodes, crew, viewing, None, Listener(), EngineSettings(in_flight=8)).run())


def run_one_by_one(protocol: Protocol, episodes: Sequence[Episode], scripts: Scripts) -> list[EpisodeResult]:
    """Run episodes as ``hvs sim`` does."""
    head = SceneHead(Workshop("", SMALL, protocol.sampling, 1, 400))
    with InProcessBackend(lambda: _policy(protocol, scripts), head) as backend:
        return _completed(BenchmarkRun(list(episodes), backend).run())


def _policy(protocol: Protocol, scripts: Scripts) -> ScriptedPolicy:
    return ScriptedPolicy(scripts, {**protocol.model, "prompts": "hvs"})


def _completed(report: RunReport) -> list[EpisodeResult]:
    assert report.complete, [result.record.message for result in report.results if not result.completed]
    return report.results
