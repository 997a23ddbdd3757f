"""Motion of several joints from any state to rest, together: all arrive at the same time, none beyond its limits.

Each joint's fastest profile (``motion.plan``) says how long it needs; the slowest sets the pace, and the others are
slowed down to it, so that the line of sight goes a straight way. A motion begins with the joints' present velocity, so
that a newer goal takes over without a jump.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hvs_ros.neck.joints import Joints
from hvs_ros.neck.motion import AxisMotion, plan, plan_stop

_PACE_STEPS = 40
"""Halvings in the search for the velocity at which a joint arrives with the slowest one."""


@dataclass(frozen=True)
class Point:
    """A trajectory at one moment: seconds from its start, rad, rad/s."""

    time: float
    position: Joints
    velocity: Joints


@dataclass(frozen=True)
class Trajectory:
    """Motions of joints that begin at the same time.

    Attributes:
        axes: one for each joint.
    """

    axes: tuple[AxisMotion, ...]

    @property
    def target(self) -> Joints:
        """Where it ends [rad]."""
        return tuple(axis.target for axis in self.axes)

    @property
    def duration(self) -> float:
        """Seconds until every joint is at rest."""
        return max((axis.duration for axis in self.axes), default=0.0)

    def at(self, time: float) -> Point:
        """Return the point so many seconds after its start."""
        states = [axis.at(time) for axis in self.axes]
        return Point(time, tuple(state[0] for state in states), tuple(state[1] for state in states))

    def only(self, indices: Sequence[int]) -> Trajectory:
        """Return it for some of the joints."""
        return Trajectory(tuple(self.axes[index] for index in indices))

    def points(self, period: float) -> list[Point]:
        """Return points for a controller that interpolates: one each period and the end; the start is left out.

        Args:
            period: s.
        """
        count = max(1, math.ceil(self.duration / period - 1e-9))
        step = self.duration / count
        inner = [self.at(index * step) for index in range(1, count)]
        return [*inner, Point(max(self.duration, 1e-3), self.target, (0.0,) * len(self.axes))]


def plan_together(
    position: Sequence[float],
    velocity: Sequence[float],
    target: Sequence[float],
    *,
    max_velocity: Sequence[float],
    max_acceleration: Sequence[float],
) -> Trajectory:
    """Return the fastest motion from a state to rest at the target in which all joints arrive together.

    A joint that moves at the start may, rarely, have no profile of exactly the wanted length; it then arrives earlier.

    Args:
        position: rad, present.
        velocity: rad/s, present.
        target: rad.
        max_velocity: rad/s, above 0.
        max_acceleration: rad/s^2, above 0.
    """
    limits = list(zip(position, velocity, target, max_velocity, max_acceleration, strict=True))
    fastest = [plan(x, v, goal, max_velocity=top, max_acceleration=a) for x, v, goal, top, a in limits]
    pace = max((axis.duration for axis in fastest), default=0.0)
    return Trajectory(
        tuple(
            axis if axis.duration >= pace - 1e-6 else _paced(axis, x, v, top, a, pace)
            for axis, (x, v, _, top, a) in zip(fastest, limits, strict=True)
        )
    )


def plan_stop_together(
    position: Sequence[float], velocity: Sequence[float], *, max_acceleration: Sequence[float]
) -> Trajectory:
    """Return the motion that brakes every joint to rest as soon as its limit allows."""
    axes = zip(position, velocity, max_acceleration, strict=True)
    return Trajectory(tuple(plan_stop(x, v, max_acceleration=limit) for x, v, limit in axes))


def _paced(fastest: AxisMotion, position: float, velocity: float, top: float, limit: float, pace: float) -> AxisMotion:
    """Return the motion of this joint that takes as long as the slowest: duration falls with the cruise velocity."""
    low, high = 0.0, top
    best = fastest
    for _ in range(_PACE_STEPS):
        middle = (low + high) / 2
        axis = plan(position, velocity, fastest.target, max_velocity=max(middle, 1e-9), max_acceleration=limit)
        if axis.duration > pace:
            low = middle
        else:
            high, best = middle, axis
    return best
