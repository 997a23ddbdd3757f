"""Where a head turns to, back and forth, so that its pictures tell by how much their stamps are late."""

from __future__ import annotations

import math

from hvs_ros.neck.limits import GazeLimits

AMPLITUDE = math.radians(15.0)
"""rad to each side."""
VELOCITY = 0.5
"""rad/s: pictures stay sharp and move by a few pixels from one to the next."""
SHARES = (1.0, 0.7, 0.85)
"""Of the amplitude, sweep by sweep: what repeats exactly could be taken for what was a sweep earlier."""
INSIDE = math.radians(2.0)
"""rad, distance kept from the stops."""


def plan_sweeps(limits: GazeLimits, count: int) -> list[tuple[float, float]]:
    """Return directions (yaw, pitch) [rad] to turn to one after the other: left and right of ahead, and ahead.

    Where the head cannot look that far ahead of it, the sweeps are around the nearest direction where it can, or
    smaller.

    Args:
        limits: what the head reaches.
        count: of sweeps, each to the left and to the right.
    """
    room = limits.yaw_max - limits.yaw_min - 2 * INSIDE
    amplitude = max(0.0, min(AMPLITUDE, room / 2))
    edge = INSIDE + amplitude
    middle = min(max(0.0, limits.yaw_min + edge), limits.yaw_max - edge)
    pitch = min(max(0.0, limits.pitch_min), limits.pitch_max)
    turns = [side * amplitude * SHARES[sweep % len(SHARES)] for sweep in range(count) for side in (1, -1)]
    return [(middle + turn, pitch) for turn in (*turns, 0.0)]
