"""What a searcher sees, and how a head answers a command to turn."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hvs_ros.angles import Direction

Picture = NDArray[np.uint8]
"""BGR uint8, shape (height, width, 3)."""


@dataclass(frozen=True)
class View:
    """A head's camera picture at rest.

    Attributes:
        image: BGR uint8, shape (height, width, 3), without any mark drawn into it.
        direction: where the head looked.
        stamp_ns: when, in nanoseconds of the clock that the head uses.
        hfov_deg: horizontal field of view.
        made: how the picture was made (sampling, supersampling, re-projection), for the record.
    """

    image: Picture
    direction: Direction
    stamp_ns: int
    hfov_deg: float
    made: str = ""


@dataclass(frozen=True)
class Observation:
    """What a policy is given in one turn.

    Attributes:
        image: BGR uint8, shape (height, width, 3), with the green centre cross.
        direction: where the head looks.
        hfov_deg: horizontal field of view.
        turn: which turn, the first is 1.
        turns_left: how many turns remain, this one included.
        feedback: what came of the last turn; None in the first.
        arrival: how the last turn's move ended; None in the first turn, and where the head was not commanded.
        stamp_ns: stamp of the view.
        picture: how the image was made and marked, for the record.
    """

    image: Picture
    direction: Direction
    hfov_deg: float
    turn: int
    turns_left: int
    feedback: str | None = None
    stamp_ns: int = 0
    picture: str = ""
    arrival: Arrival | None = None

    def record(self) -> dict[str, Any]:
        """Return everything but the pixels, for a log."""
        height, width = self.image.shape[:2]
        return {
            "turn": self.turn,
            "yaw_deg": self.direction.yaw_deg,
            "pitch_deg": self.direction.pitch_deg,
            "hfov_deg": self.hfov_deg,
            "size": [width, height],
            "picture": self.picture,
            "stamp_ns": self.stamp_ns,
        }


class MoveOutcome(Enum):
    """How a move of the head ended; names as in MoveHead.action."""

    REACHED = "reached"
    CLAMPED = "clamped"
    REFUSED = "refused"
    NOT_SETTLED = "not settled"
    NO_RESPONSE = "no response"
    STOPPED = "stopped"
    PREEMPTED = "preempted"
    FAULT = "fault"

    @property
    def arrived(self) -> bool:
        """The head is at rest where it was sent, or as near to it as it can look."""
        return self in (MoveOutcome.REACHED, MoveOutcome.CLAMPED)


@dataclass(frozen=True)
class Arrival:
    """The end of a move.

    Attributes:
        outcome: how it ended.
        direction: where the head really looks now.
        stamp_ns: views with this stamp or a later one show that direction.
        message: the head's own words.
    """

    outcome: MoveOutcome
    direction: Direction
    stamp_ns: int = 0
    message: str = ""
