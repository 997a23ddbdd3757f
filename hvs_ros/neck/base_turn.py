"""Turning the base where the neck is not enough, so that a neck of +-55 degrees can look all round.

A gaze's yaw then refers to a direction that is fixed in the world: where the base's x pointed when the head started.
gaze yaw = heading of the base + yaw of the neck.
"""

from __future__ import annotations

from dataclasses import dataclass

from hvs_ros.angles import wrap_rad
from hvs_ros.neck.limits import TOLERANCE, TURN, GazeLimits

MARGIN = 0.05
"""rad, so near to its stops the neck does not look by itself."""
RESERVE = 0.35
"""rad, so far inside its stops the neck looks after the base has turned: a little to either side needs no next turn."""


@dataclass(frozen=True)
class TurnShare:
    """A wanted yaw, shared out between base and neck.

    Attributes:
        heading: rad, where the base points then, not wrapped.
        neck_yaw: rad, the neck's yaw then, in the base frame.
        turns: the base has to turn for it.
    """

    heading: float
    neck_yaw: float
    turns: bool


def share_turn(
    yaw: float, heading: float, neck: GazeLimits, *, margin: float = MARGIN, reserve: float = RESERVE
) -> TurnShare:
    """Return how base and neck look at a yaw together.

    Args:
        yaw: rad, wanted, in the world; any turn of it.
        heading: rad, where the base points, not wrapped.
        neck: what the neck reaches in the base frame.
        margin: rad; the base does not turn where the neck reaches the yaw and stays so far inside its stops.
        reserve: rad; where the base does turn, by as little as brings the yaw so far inside the neck's stops, or into
            the middle of a narrower neck's range.
    """
    wanted = wrap_rad(yaw - heading)
    if neck.yaw_continuous:
        return TurnShare(heading, wanted, False)
    turns = [wanted + turn * TURN for turn in (0, -1, 1)]
    low, high = _inside(neck, margin)
    for angle in turns:
        if low - TOLERANCE <= angle <= high + TOLERANCE:
            return TurnShare(heading, angle, False)
    low, high = _inside(neck, max(margin, reserve))
    # The first of equals is taken, so that the same wish always turns the same way.
    ways = [(angle - min(max(angle, low), high), angle) for angle in turns]
    way, angle = min(ways, key=lambda item: round(abs(item[0]), 6))
    return TurnShare(heading + way, angle - way, True)


def _inside(neck: GazeLimits, margin: float) -> tuple[float, float]:
    kept = min(margin, (neck.yaw_max - neck.yaw_min) / 2)
    return neck.yaw_min + kept, neck.yaw_max - kept
