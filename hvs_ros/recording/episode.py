"""A recorded search as plain data: what reports, replay and exports work with, wherever it was recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hvs_ros.angles import Direction
from hvs_ros.search.decision import Decision
from hvs_ros.search.episode import Outcome, TurnTimes
from hvs_ros.search.task import Task
from hvs_ros.search.view import MoveOutcome


@dataclass(frozen=True)
class RecordedView:
    """A camera picture without any mark.

    Attributes:
        jpeg: the picture as JPEG bytes.
        stamp_ns: when it was taken.
        width: pixels.
        height: pixels.
    """

    jpeg: bytes
    stamp_ns: int
    width: int
    height: int


@dataclass(frozen=True)
class RecordedTurn:
    """One turn.

    Attributes:
        number: which, the first is 1.
        view: what the head's camera saw; None where the recording does not hold it.
        view_stamp_ns: stamp of the view that the policy was given.
        picture: how that was made and marked.
        direction: where the head looked in it.
        decision: what the policy answered.
        move: how the move ended; None where the head was not commanded.
        move_message: the head's own words.
        after: where the head looked after the turn.
        feedback: what the policy was told about the turn.
        times: how long its parts took.
    """

    number: int
    view: RecordedView | None
    view_stamp_ns: int
    picture: str
    direction: Direction
    decision: Decision
    move: MoveOutcome | None
    move_message: str
    after: Direction
    feedback: str
    times: TurnTimes


@dataclass(frozen=True)
class RecordedHead:
    """The head that searched.

    Attributes:
        name: of it.
        kind: panorama, robot, twin.
        view: how its views were made.
        width: of a view in pixels; 0 where it is not known.
        height: likewise.
        hfov_deg: horizontal field of view; 0 where it is not known.
        yaw_deg: (leftmost, rightmost) reachable yaw, right positive; None: all round, or not known.
        pitch_deg: (lowest, highest) reachable pitch, up positive; None: not known.
    """

    name: str = ""
    kind: str = ""
    view: str = ""
    width: int = 0
    height: int = 0
    hfov_deg: float = 0.0
    yaw_deg: tuple[float, float] | None = None
    pitch_deg: tuple[float, float] | None = None


@dataclass(frozen=True)
class EpisodeRecord:
    """One search, complete or as far as it was recorded.

    Attributes:
        search_id: which.
        task: what was searched for.
        policy: name of the policy.
        parameters: its settings.
        outcome: how the search ended; None where the recording does not hold its end.
        message: why, for a person.
        submitted: the answer as the policy said it, the yaw in [0, 360); None unless SUBMITTED.
        guess: the policy says itself that it guessed.
        looking: where the head looked at the end; None when there was no turn.
        turns: all turns, in order.
        scene: what surrounded the head, where that is known.
        head: that searched.
        started_ns: when the search started.
        ended_ns: when it ended, or its last message.
        path: of the bag; None for a search that was not recorded in one.
        problem: what is wrong with the recording; empty: nothing.
        info: what else the recorder wrote down: versions, parameters of the nodes.
    """

    search_id: str
    task: Task
    policy: str
    parameters: Mapping[str, Any]
    outcome: Outcome | None
    message: str
    submitted: Direction | None
    guess: bool
    looking: Direction | None
    turns: tuple[RecordedTurn, ...]
    scene: str = ""
    head: RecordedHead = RecordedHead()
    started_ns: int = 0
    ended_ns: int = 0
    path: Path | None = None
    problem: str = ""
    info: Mapping[str, Any] = field(default_factory=dict)

    @property
    def duration_s(self) -> float:
        """How long the search took; 0 where its start is not known."""
        return max(0.0, (self.ended_ns - self.started_ns) / 1e9) if self.started_ns else 0.0

    @property
    def travel_deg(self) -> float:
        """How far the head turned in all."""
        return sum(turn.direction.angle_to_deg(turn.after) for turn in self.turns)
