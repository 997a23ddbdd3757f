"""Answers that are known beforehand, for both sides of a comparison, and a crew that gives them without looking."""

from __future__ import annotations

import random
import zlib
from collections.abc import Mapping, Sequence

from hvs_ros.benchmark.episodes import Episode
from hvs_ros.policy.parse import parse
from hvs_ros.search.decision import Decision
from hvs_ros.search.task import Task
from hvs_ros.search.view import Observation

Scripts = Mapping[str, Sequence[str]]
"""Answers by instruction; the last one is repeated."""


def said(action: str) -> str:
    """Return an answer in the format."""
    return f"<think>I have been told so.</think><answer>{action}</answer>"


def looking_around(episodes: Sequence[Episode], rotations: int) -> Scripts:
    """Return scripts that turn so often and then submit, about half of them the right direction."""
    scripts: dict[str, list[str]] = {}
    for episode in episodes:
        instruction = episode.task.instruction
        if instruction in scripts or episode.target is None:
            continue
        draw = random.Random(zlib.crc32(instruction.encode()))
        center = episode.target.center
        off = 0 if draw.random() < 0.5 else 180
        turns = [f"rotate({draw.randint(-90, 90)},{draw.randint(-20, 20)})" for _ in range(rotations)]
        turns.append(f"submit({round(center.yaw_deg + off) % 360},{round(center.pitch_deg)})")
        scripts[instruction] = [said(turn) for turn in turns]
    return scripts


class ScriptedCrew:
    """Decides at once (see ``hvs_ros.policy.crew.Crew``)."""

    def __init__(self, scripts: Scripts, size: int) -> None:
        self.size = size
        self._scripts = scripts

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    def searcher(self) -> ScriptedSearcher:
        return ScriptedSearcher(self._scripts)

    def describe(self) -> Mapping[str, str]:
        return {}


class ScriptedSearcher:
    """Reads its script as any answer is read."""

    def __init__(self, scripts: Scripts) -> None:
        self._scripts = scripts
        self._script: Sequence[str] = ()

    async def start(self, task: Task) -> None:
        self._script = self._scripts[task.instruction]

    async def decide(self, observation: Observation) -> Decision:
        answer = self._script[min(observation.turn, len(self._script)) - 1]
        parsed = parse(answer)
        return Decision(parsed.action, thought=parsed.thought, raw=answer, status=parsed.status)
