"""The two things a searcher can do: turn the head, or submit the direction of what it was told to find."""

from __future__ import annotations

import math
from dataclasses import dataclass

LIMIT_DEG = 3600.0
"""Angles beyond ten full turns are not meant: such an action is out of range."""


class ActionError(ValueError):
    """Numbers that are no action; the message says why."""


class OutOfRangeError(ActionError):
    """Numbers, but beyond any sense."""


def _check(action: str, **angles_deg: float) -> None:
    for name, value in angles_deg.items():
        if not math.isfinite(value):
            raise ActionError(f"{action}: {name} is {value}, not a finite number of degrees")
        if abs(value) > LIMIT_DEG:
            raise OutOfRangeError(f"{action}: {name} is {value:g} degrees, beyond +-{LIMIT_DEG:g}")


@dataclass(frozen=True)
class Rotate:
    """Turn the head by an angle from where it looks.

    Attributes:
        dyaw_deg: degrees to the right.
        dpitch_deg: degrees up.

    Raises:
        ActionError: an angle is not finite or beyond ``LIMIT_DEG``.
    """

    dyaw_deg: float
    dpitch_deg: float

    def __post_init__(self) -> None:
        _check("rotate", dyaw=self.dyaw_deg, dpitch=self.dpitch_deg)

    def __str__(self) -> str:
        return f"rotate({self.dyaw_deg:g},{self.dpitch_deg:g})"


@dataclass(frozen=True)
class Submit:
    """Answer: the target lies in this direction.

    Attributes:
        yaw_deg: degrees to the right of the panorama's centre or the body's forward direction; any turn of it.
        pitch_deg: degrees up.

    Raises:
        ActionError: an angle is not finite or beyond ``LIMIT_DEG``.
    """

    yaw_deg: float
    pitch_deg: float

    def __post_init__(self) -> None:
        _check("submit", yaw=self.yaw_deg, pitch=self.pitch_deg)

    def __str__(self) -> str:
        return f"submit({self.yaw_deg:g},{self.pitch_deg:g})"


Action = Rotate | Submit
