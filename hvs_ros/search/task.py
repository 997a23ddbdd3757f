"""What is searched for. The task is what the searcher is told; the target, the answer, stays with the scorer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from hvs_ros.angles import Direction

DEFAULT_MAX_TURNS = 10
"""Turns after which the benchmark ends a search without a submission."""


class TaskError(ValueError):
    """A task that cannot be searched for; the message says what is wrong with it."""


class TaskKind(Enum):
    """What the direction of the answer means."""

    OBJECT = "object"
    """Look at the object (humanoid object search, HOS)."""
    PATH = "path"
    """Look along the way to take; the pitch does not matter (humanoid path search, HPS)."""


LEVEL_NAMES = {
    TaskKind.OBJECT: ("easy", "medium", "hard"),
    TaskKind.PATH: ("easy", "medium", "hard", "extreme"),
}
"""Difficulties of the benchmark; a level is a place in its kind's list."""


@dataclass(frozen=True)
class Task:
    """What a searcher is told.

    Attributes:
        instruction: what to find, in words.
        kind: an object to look at, or a path to look along.
        max_turns: after how many turns a search without a submission ends.

    Raises:
        TaskError: the instruction is empty or no text, or there is no turn to search in.
    """

    instruction: str
    kind: TaskKind = TaskKind.OBJECT
    max_turns: int = DEFAULT_MAX_TURNS

    def __post_init__(self) -> None:
        if not self.instruction.strip():
            raise TaskError("the instruction is empty: say what to find, e.g. 'find the exit sign'")
        odd = next((c for c in self.instruction if c == "\0" or "\ud800" <= c <= "\udfff"), "")
        if odd:
            raise TaskError(f"the instruction holds the character U+{ord(odd):04X}, which cannot be part of a text")
        if self.max_turns < 1:
            raise TaskError(f"max_turns is {self.max_turns}: a search needs at least 1 turn")


@dataclass(frozen=True)
class Target:
    """The true answer: a box on the sphere. Only the scorer and the report hold it.

    Attributes:
        yaw_deg: (left, right) edge in [0, 360); left > right where the box crosses yaw 0.
        pitch_deg: (low, high) edge in [-90, 90]; None for a path, where any pitch will do.
    """

    yaw_deg: tuple[float, float]
    pitch_deg: tuple[float, float] | None = None

    @property
    def kind(self) -> TaskKind:
        """A box without a pitch is a path to look along."""
        return TaskKind.PATH if self.pitch_deg is None else TaskKind.OBJECT

    @property
    def width_deg(self) -> float:
        """Width of the yaw interval in [0, 360]; the whole circle is written [0, 360]."""
        left, right = self.yaw_deg
        return right - left if right >= left else right - left + 360.0

    @property
    def center(self) -> Direction:
        """The middle of the box; a path's pitch is 0."""
        low, high = self.pitch_deg or (0.0, 0.0)
        return Direction(self.yaw_deg[0] + self.width_deg / 2, (low + high) / 2).normalized()


@dataclass(frozen=True)
class EpisodeSpec:
    """One episode of a benchmark: a task, where its search starts, and its answer.

    Attributes:
        episode_id: stable name, ``scene/item/start yaw``.
        scene: name of the scene.
        task: what the searcher is told.
        start: where the head looks first.
        target: the answer.
        level: difficulty as annotated (object 0..2, path 0..3); None where it is not.
    """

    episode_id: str
    scene: str
    task: Task
    start: Direction
    target: Target
    level: int | None = None
