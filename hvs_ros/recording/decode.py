"""Recorded messages -> core values.

Works on what ``rosbags`` decodes from a bag's own definitions, so that a bag is read where no ROS is installed. Numbers
of outcomes and kinds are those of the interfaces; that they stay the same is tested against the definitions.
"""

from __future__ import annotations

import json
import struct
from typing import Any

from hvs_ros.angles import Direction, search_direction, search_turn_deg
from hvs_ros.recording.episode import RecordedHead
from hvs_ros.search.action import Action, ActionError, Rotate, Submit
from hvs_ros.search.decision import Decision, ParseStatus, Usage
from hvs_ros.search.episode import Outcome, TurnTimes
from hvs_ros.search.task import Task, TaskError, TaskKind
from hvs_ros.search.view import MoveOutcome

TURN = "hvs_interfaces/msg/Turn"
STATE = "hvs_interfaces/msg/SearchState"
CAPABILITIES = "hvs_interfaces/msg/HeadCapabilities"
COMPRESSED = "sensor_msgs/msg/CompressedImage"
IMAGE = "sensor_msgs/msg/Image"
TEXT = "std_msgs/msg/String"

IDLE, LOOKING, THINKING, MOVING, DONE = range(5)
"""SearchState: state."""

OUTCOMES: dict[int, Outcome] = dict(enumerate(Outcome, start=1))
"""Search: outcome; the enumeration has the action's order."""
MOVES: dict[int, MoveOutcome] = dict(enumerate(MoveOutcome, start=1))
"""MoveHead: outcome, likewise."""
STATUSES: dict[int, ParseStatus] = dict(enumerate(ParseStatus, start=1))
"""Turn: status, likewise."""
TARGETS = {0: TaskKind.OBJECT, 1: TaskKind.PATH}
ROTATE, SUBMIT = 1, 2

HEADER_BYTES = 12
"""Of a serialized message, up to the end of its header's stamp."""


def stamp_ns(stamp: Any) -> int:
    """Return a Time in nanoseconds."""
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)


def header_stamp_ns(data: bytes) -> int:
    """Return the header stamp of a serialized message that begins with a Header, without decoding the rest."""
    order = "<" if data[1] & 1 else ">"
    seconds, nanoseconds = struct.unpack_from(f"{order}iI", data, 4)
    return int(seconds) * 1_000_000_000 + int(nanoseconds)


def direction(pose: Any) -> Direction:
    """Return where a HeadPose looks."""
    return search_direction(pose.yaw, pose.pitch)


def task(state: Any) -> Task:
    """Return what a SearchState says is searched for; what was refused for having no words is shown as such."""
    kind = TARGETS.get(state.target, TaskKind.OBJECT)
    try:
        return Task(state.instruction, kind, state.max_turns)
    except TaskError:
        return Task(state.instruction.strip() or "(no instruction)", kind, max(1, state.max_turns))


def settings(state: Any) -> dict[str, Any]:
    """Return the policy's settings; a text that is no JSON object is kept under ``text``."""
    try:
        values = json.loads(state.parameters or "{}")
    except ValueError:
        values = state.parameters
    return values if isinstance(values, dict) else {"text": values}


def decision(turn: Any) -> Decision:
    """Return what the policy answered in a Turn."""
    status = STATUSES.get(turn.status, ParseStatus.BAD_ACTION)
    action: Action | None = None
    if status is ParseStatus.OK:
        try:
            action = _action(turn.command)
        except ActionError:
            status = ParseStatus.BAD_ACTION
        else:
            status = status if action is not None else ParseStatus.NO_ANSWER
    usage = Usage(_count(turn.prompt_tokens), _count(turn.completion_tokens), _count(turn.image_tokens))
    return Decision(action, turn.thought, turn.raw_answer, status, bool(turn.guess), usage)


def times(turn: Any) -> TurnTimes:
    """Return how long the parts of a Turn took."""
    return TurnTimes(turn.look_time, turn.think_time, turn.move_time)


def head(capabilities: Any) -> RecordedHead:
    """Return what HeadCapabilities say that a record keeps."""
    return RecordedHead(
        name=capabilities.name,
        kind=capabilities.kind,
        view=capabilities.view,
        width=int(capabilities.width),
        height=int(capabilities.height),
        hfov_deg=abs(search_turn_deg(capabilities.hfov)),
        yaw_deg=None if capabilities.yaw_continuous else _range(capabilities.yaw_max, capabilities.yaw_min),
        pitch_deg=_range(capabilities.pitch_max, capabilities.pitch_min),
    )


def _action(command: Any) -> Action | None:
    if command.kind == ROTATE:
        return Rotate(_clean(search_turn_deg(command.yaw)), _clean(search_turn_deg(command.pitch)))
    if command.kind == SUBMIT:
        answer = search_direction(command.yaw, command.pitch)
        return Submit(_clean(answer.yaw_deg), _clean(answer.pitch_deg))
    return None


def _range(first: float, last: float) -> tuple[float, float] | None:
    """Return a reachable range in search degrees; None where it is not filled in."""
    return None if first == last else (_clean(search_turn_deg(first)), _clean(search_turn_deg(last)))


def _clean(degrees: float) -> float:
    # A billionth of a degree is what the way through radians leaves; policies say 30, not 30.000000000000004.
    return round(degrees, 9) + 0.0


def _count(tokens: int) -> int | None:
    return int(tokens) if tokens >= 0 else None
