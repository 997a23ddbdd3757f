"""What the camera says to the four moves of the sign check, and which value in a robot's YAML it points at.

The operator's eyes decide whether the head turned the right way; the pictures decide whether they turned with it. A
contradiction is never passed over: if the joints say left and the picture says right, one of them is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from hvs_ros.neck.seen_turn import SeenTurn
from hvs_ros.neck.sign_check import LEAST_ANGLE, SignMove

ASIDE = math.radians(30.0)
"""So far may the seen motion's direction be off: the picture may hang a little, the camera sits beside the axis."""
SIZES = (0.6, 1.5)
"""Of the seen turn, as parts of the one by joints."""


class Sight(Enum):
    """How what the camera saw goes with what the joints say."""

    AGREES = "the camera saw the same"
    REVERSED = "THE CAMERA SAW THE OPPOSITE"
    CROSSWISE = "THE CAMERA SAW A MOTION ACROSS"
    OTHER_SIZE = "the camera saw another angle"
    STILL = "THE CAMERA SAW NO MOTION"
    UNCLEAR = "the pictures show too little to tell"
    NO_MOVE = "the joints hardly moved"

    @property
    def wrong(self) -> bool:
        """It contradicts the joints, or there was nothing to be seen."""
        return self not in (Sight.AGREES, Sight.UNCLEAR)


@dataclass(frozen=True)
class WatchedMove:
    """A move that was made.

    Attributes:
        move: which.
        told: (yaw, pitch) [rad] that the head turned by its joints, REP-103.
        seen: what the pictures tell.
        joints: those that turned most, the first one most.
    """

    move: SignMove
    told: tuple[float, float]
    seen: SeenTurn
    joints: tuple[str, ...] = ()

    @property
    def sight(self) -> Sight:
        """How the two go together."""
        told, seen = math.hypot(*self.told), math.hypot(self.seen.yaw, self.seen.pitch)
        if told < LEAST_ANGLE / 2:
            return Sight.NO_MOVE
        if not self.seen.clear:
            return Sight.UNCLEAR
        if seen < told / 4:
            return Sight.STILL
        cosine = (self.told[0] * self.seen.yaw + self.told[1] * self.seen.pitch) / (told * seen)
        angle = math.acos(max(-1.0, min(1.0, cosine)))
        if angle > math.pi - ASIDE:
            return Sight.REVERSED
        if angle > ASIDE:
            return Sight.CROSSWISE
        return Sight.AGREES if SIZES[0] <= seen / told <= SIZES[1] else Sight.OTHER_SIZE


def advice(moves: Sequence[WatchedMove], denied: Sequence[str] = ()) -> list[str]:
    """Say which values of the robot's YAML to look at; nothing where there is nothing wrong.

    Args:
        moves: as made.
        denied: names of moves that the operator did not see as they should be.
    """
    sights = [watched.sight for watched in moves]
    upside_down = bool(moves) and not denied and all(sight is Sight.REVERSED for sight in sights)
    told = [_UPSIDE_DOWN] if upside_down else []
    if Sight.CROSSWISE in sights:
        told.append(_ON_ITS_SIDE)
    for axis in () if upside_down else (("left", "right"), ("up", "down")):
        moved = [watched for watched in moves if watched.move.name in axis]
        doubtful = [
            watched.move.name for watched in moved if watched.move.name in denied or watched.sight is Sight.REVERSED
        ]
        if doubtful:
            told.append(f"{' and '.join(doubtful)}: {_of_joints(moved)}")
    if Sight.STILL in sights:
        told.append(_STILL)
    if Sight.NO_MOVE in sights:
        told.append(_NO_MOVE)
    if Sight.OTHER_SIZE in sights:
        told.append(_OTHER_SIZE)
    return told


_UPSIDE_DOWN = (
    "every picture moved the wrong way, though the head turned as it should: the camera hangs upside down;"
    " camera.turned (or camera.rpy) is off by pi"
)
_ON_ITS_SIDE = "pictures moved across: the camera lies on its side; camera.turned (or camera.rpy) is off by about pi/2"
_STILL = "pictures stood still: camera.image is the topic of another camera, or its pictures are old"
_NO_MOVE = "the head arrived without having turned: are lower and upper of its joints, or the URDF's limits, right?"
_OTHER_SIZE = (
    "pictures turned by another angle than the joints: is the camera calibrated (camera_info's focal lengths), does the"
    " joints' driver count in radians?"
)


def _of_joints(moves: Sequence[WatchedMove]) -> str:
    joints = list(dict.fromkeys(watched.joints[0] for watched in moves if watched.joints))
    which = f"of {' and '.join(joints)}" if joints else "of the joint that turned"
    return (
        f"look at `sign:` {which}; at its `offset:` if the head turned the right way from a wrong place;"
        " at camera.turned if only the picture moved the wrong way"
    )
