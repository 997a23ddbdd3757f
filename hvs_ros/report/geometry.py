"""Where things lie on the flat map of the sphere: x is the yaw, y the pitch, both in degrees, yaw 0 in the middle.

The map ends at yaw ±180, the things on it do not: lines are kept unbroken, at yaws that may lie beyond the edge, and
drawn once more a full turn to the left and to the right; the map's frame cuts off what is outside.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from hvs_ros.angles import Direction, yaw_difference_deg

Point = tuple[float, float]
"""(x, y) in degrees: x right, 0 in the middle; y down, 0 at the top, as SVG wants it."""

WIDTH = 360.0
TURNS = (-360.0, 0.0, 360.0)


def centered(yaw_deg: float) -> float:
    """Return the yaw in [-180, 180), the map's own."""
    return yaw_difference_deg(yaw_deg, 0.0)


def point(direction: Direction) -> Point:
    """Return where a direction lies on the map."""
    return centered(direction.yaw_deg), 90.0 - direction.pitch_deg


def path(directions: Sequence[Direction]) -> list[Point]:
    """Return a line through the directions that takes the short way from each to the next and never jumps."""
    points: list[Point] = []
    x = 0.0
    for number, direction in enumerate(directions):
        x = centered(direction.yaw_deg) if number == 0 else x + yaw_difference_deg(direction.yaw_deg, x)
        points.append((x, 90.0 - direction.pitch_deg))
    return points


def visible_turns(points: Iterable[Point]) -> list[float]:
    """Return by which full turns a line has to be moved so that all that belongs on the map is there."""
    xs = [x for x, _ in points]
    return [turn for turn in TURNS if max(xs) + turn >= -WIDTH / 2 and min(xs) + turn <= WIDTH / 2]


def outline(direction: Direction, hfov_deg: float, aspect: float, steps: int = 12) -> list[Point]:
    """Return the border of a pinhole camera's view, as a closed line that never jumps.

    Args:
        direction: of the line of sight.
        hfov_deg: horizontal field of view, below 180.
        aspect: width by height.
        steps: points per side.
    """
    half_width = math.tan(math.radians(min(hfov_deg, 170.0)) / 2)
    half_height = half_width / aspect
    ramp = [2 * step / steps - 1 for step in range(steps)]
    border = [
        *((t, -1.0) for t in ramp),
        *((1.0, t) for t in ramp),
        *((-t, 1.0) for t in ramp),
        *((-1.0, -t) for t in ramp),
        (-1.0, -1.0),
    ]
    return path([_seen(direction, u * half_width, v * half_height) for u, v in border])


def _seen(view: Direction, right: float, down: float) -> Direction:
    """Return the direction of a camera ray (right, down, 1)."""
    pitch = math.radians(view.pitch_deg)
    forward = math.cos(pitch) + down * math.sin(pitch)
    up = math.sin(pitch) - down * math.cos(pitch)
    yaw = view.yaw_deg + math.degrees(math.atan2(right, forward))
    return Direction(yaw, math.degrees(math.atan2(up, math.hypot(right, forward))))
