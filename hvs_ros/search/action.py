"""The two things a searcher can do: turn the head, or submit the direction of what it was told to find."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

LIMIT_DEG = 3600.0
"""Angles beyond ten full turns are not meant: such an action is out of range."""


class ActionError(ValueError):
    """Numbers that are no action; the message says why."""


class OutOfRangeError(ActionError):
    """Numbers, but beyond any sense."""


def _checked(action: str, name: str, value: object) -> float:
    """Return the angle as a plain float: a policy's own may be numpy's, which messages and JSON do not take."""
    if not isinstance(value, Real):
        raise ActionError(f"{action}: {name} is {value!r:.100}, not a number of degrees")
    try:
        degrees = float(value)
    except OverflowError as error:  # an integer may be larger than any float
        raise OutOfRangeError(f"{action}: {name} is far beyond +-{LIMIT_DEG:g} degrees") from error
    if not math.isfinite(degrees):
        raise ActionError(f"{action}: {name} is {degrees}, not a finite number of degrees")
    if abs(degrees) > LIMIT_DEG:
        raise OutOfRangeError(f"{action}: {name} is {degrees:g} degrees, beyond +-{LIMIT_DEG:g}")
    return degrees


@dataclass(frozen=True)
class Rotate:
    """Turn the head by an angle from where it looks.

    Attributes:
        dyaw_deg: degrees to the right.
        dpitch_deg: degrees up.

    Raises:
        ActionError: an angle is no finite number or beyond ``LIMIT_DEG``.
    """

    dyaw_deg: float
    dpitch_deg: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "dyaw_deg", _checked("rotate", "dyaw", self.dyaw_deg))
        object.__setattr__(self, "dpitch_deg", _checked("rotate", "dpitch", self.dpitch_deg))

    def __str__(self) -> str:
        return f"rotate({self.dyaw_deg:g},{self.dpitch_deg:g})"


@dataclass(frozen=True)
class Submit:
    """Answer: the target lies in this direction.

    Attributes:
        yaw_deg: degrees to the right of the panorama's centre or the body's forward direction; any turn of it.
        pitch_deg: degrees up.

    Raises:
        ActionError: an angle is no finite number or beyond ``LIMIT_DEG``.
    """

    yaw_deg: float
    pitch_deg: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "yaw_deg", _checked("submit", "yaw", self.yaw_deg))
        object.__setattr__(self, "pitch_deg", _checked("submit", "pitch", self.pitch_deg))

    def __str__(self) -> str:
        return f"submit({self.yaw_deg:g},{self.pitch_deg:g})"


Action = Rotate | Submit
