"""Do a robot's joints turn the way its YAML says? Four small moves show it, and a record keeps that they did.

A wrong sign sends a head the other way, into its stop if nobody watches. So a robot's head is slow until a person has
watched the four moves (``hvs check-signs``). The record lies in the user's state folder (XDG base directory
specification) and belongs to the values that decide where a joint turns: when one of them changes, it counts no more.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvs_ros.neck.robot import NeckJoint, Robot

if TYPE_CHECKING:
    from hvs_ros.neck.limits import GazeLimits

SLOW = 0.2
"""Of every velocity, until the signs have been checked."""
MOVE_ANGLE = math.radians(10.0)
LEAST_ANGLE = math.radians(3.0)
"""A head that can turn less than this to a side has nothing to be watched there."""


@dataclass(frozen=True)
class SignMove:
    """A move that a person watches.

    Attributes:
        name: where the head turns.
        yaw: 1 left, -1 right.
        pitch: 1 down, -1 up.
        sees: what there is to see if every sign is right.
    """

    name: str
    yaw: int
    pitch: int
    sees: str


_PICTURE = "in the camera's picture everything moves"
SIGN_MOVES = (
    SignMove("left", 1, 0, f"the head turns to ITS OWN left; {_PICTURE} to the right"),
    SignMove("right", -1, 0, f"the head turns to ITS OWN right; {_PICTURE} to the left"),
    SignMove("up", 0, -1, f"the head looks further up; {_PICTURE} down"),
    SignMove("down", 0, 1, f"the head looks further down; {_PICTURE} up"),
)


@dataclass(frozen=True)
class PlannedMove:
    """A move within what a head can reach.

    Attributes:
        move: which.
        start: (yaw, pitch) [rad] that it begins at.
        target: (yaw, pitch) [rad] that it ends at.
    """

    move: SignMove
    start: tuple[float, float]
    target: tuple[float, float]


def plan_sign_moves(limits: GazeLimits) -> list[PlannedMove]:
    """Return the moves that a head with these limits can make: about 10 degrees each, from as near to ahead as can be.

    An axis whose whole range is less than twice LEAST_ANGLE has none.
    """
    yaw_range = (-math.pi, math.pi) if limits.yaw_continuous else (limits.yaw_min, limits.yaw_max)
    (yaw, yaw_step), (pitch, pitch_step) = (
        _middle(low, high) for low, high in (yaw_range, (limits.pitch_min, limits.pitch_max))
    )
    return [
        PlannedMove(move, (yaw, pitch), (yaw + move.yaw * yaw_step, pitch + move.pitch * pitch_step))
        for move in SIGN_MOVES
        if (yaw_step if move.yaw else pitch_step) >= LEAST_ANGLE
    ]


def _middle(low: float, high: float) -> tuple[float, float]:
    """Return (where an axis starts, how far it goes to either side)."""
    step = min(MOVE_ANGLE, (high - low) / 2)
    return min(max(0.0, low + step), high - step), step


def velocity_scale(robot: Robot) -> float:
    """Return by what every velocity of the robot's head is multiplied: 1, or SLOW until its signs have been checked."""
    return 1.0 if passed(robot) else SLOW


def passed(robot: Robot) -> bool:
    """Return whether somebody has watched this robot's moves, with the values that it has now."""
    try:
        content = json.loads(record_path(robot).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and content.get("fingerprint") == fingerprint(robot)


def record_pass(robot: Robot) -> Path:
    """Keep that the robot's signs have been checked, and return the file that says so.

    Raises:
        OSError: it cannot be written.
    """
    path = record_path(robot)
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {
        "robot": robot.name,
        "checked": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "fingerprint": fingerprint(robot),
        "values": _values(robot),
    }
    unfinished = path.with_suffix(".new")
    unfinished.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    unfinished.replace(path)
    return path


def record_path(robot: Robot) -> Path:
    """Return where the record of a robot with these values is, or would be."""
    state = os.environ.get("XDG_STATE_HOME", "")
    # A relative path is to be ignored, says the specification.
    folder = Path(state) if os.path.isabs(state) else Path.home() / ".local" / "state"
    return folder / "hvs_ros" / "signs" / f"{robot.name}-{fingerprint(robot)[:12]}.json"


def fingerprint(robot: Robot) -> str:
    """Return a text that changes with every value that decides where the head turns, and with no other.

    Topics are none of these, so that a robot in another namespace is the same one; nor are velocities and limits.
    """
    return hashlib.sha256(json.dumps(_values(robot), sort_keys=True).encode()).hexdigest()


def _values(robot: Robot) -> dict[str, Any]:
    camera = dataclasses.asdict(robot.camera)
    torso = robot.torso_commands
    return {
        "name": robot.name,
        "base": dataclasses.asdict(robot.base),
        "camera": {key: camera[key] for key in ("frame", "parent", "xyz", "rpy", "turned")},
        "neck": [_joint(joint) for joint in robot.neck],
        "torso": [_joint(joint) for joint in robot.torso],
        "commands": [robot.commands.backend, robot.commands.settings],
        "torso_commands": None if torso is None else [torso.backend, torso.settings],
        "description": dataclasses.asdict(robot.description),
    }


def _joint(joint: NeckJoint) -> dict[str, Any]:
    return {"name": joint.name, "driver_name": joint.wire_name, "sign": joint.sign, "offset": joint.offset}
