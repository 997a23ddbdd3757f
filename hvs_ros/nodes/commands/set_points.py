"""Whole motions as a stream of set-points, for drivers that want one each cycle.

A set-point never jumps. Two things could make it: a newer motion begins where the joints *are*, a little behind the
last set-point, so the rest between the two is faded out over a moment; and a program that was kept from running for a
while would find the motion far ahead, so its time goes on by a few periods at most, and the motion ends later instead.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from hvs_ros.neck.joints import Joints
from hvs_ros.neck.motion import AxisMotion
from hvs_ros.neck.robot import NeckJoint
from hvs_ros.neck.trajectory import Trajectory

MAX_PERIODS = 3.0
"""By so many periods a motion goes on between two set-points at most."""
FADE_S = 0.3
FADE_LIMIT_RAD = 0.3
"""Further away the last set-point is not where the joints lag behind: somebody else has moved them since."""


class SetPoints:
    """Thread-safe.

    Args:
        joints: give the range of set-points.
        period: s, between two set-points.
        hold_time: s, for how long the last one is repeated.
        clock: returns seconds; may stand still or jump (a simulation's).
    """

    def __init__(
        self, joints: Sequence[NeckJoint], period: float, hold_time: float, clock: Callable[[], float]
    ) -> None:
        self._joints = tuple(joints)
        self._period = period
        self._hold_time = hold_time
        self._clock = clock
        self._lock = threading.Lock()
        self._trajectory: Trajectory | None = None
        self._time = 0.0
        self._read: float | None = None
        self._rest: Joints = ()
        self._last: Joints | None = None

    def execute(self, trajectory: Trajectory) -> None:
        """Begin a motion in place of the one under way."""
        start = trajectory.at(0.0).position
        with self._lock:
            rest = (0.0,) * len(start)
            if self._last is not None:
                rest = tuple(last - value for last, value in zip(self._last, start, strict=True))
            far = max(map(abs, rest), default=0.0) > FADE_LIMIT_RAD
            self._begin(trajectory, (0.0,) * len(start) if far else rest)

    def hold(self, position: Joints) -> None:
        """Be at a position from the next set-point on."""
        with self._lock:
            self._begin(Trajectory(tuple(AxisMotion(value) for value in position)), (0.0,) * len(position))

    def clear(self) -> None:
        """Forget the motion under way, and where the last set-point was."""
        with self._lock:
            self._trajectory = self._last = None

    def next(self) -> Joints | None:
        """Return the set-point of this period [rad, the URDF's]; None: there is nothing to do any more."""
        with self._lock:
            trajectory = self._trajectory
            if trajectory is None:
                return None
            end = max(trajectory.duration, FADE_S if any(self._rest) else 0.0) + self._hold_time
            if self._time >= end and self._read is not None:
                self._trajectory = None
                return None
            now = self._clock()
            passed = self._period if self._read is None else now - self._read
            self._time += min(max(0.0, passed), MAX_PERIODS * self._period)
            self._read = now
            share = min(1.0, self._time / FADE_S)
            left = 1.0 - share * share * (3.0 - 2.0 * share)
            self._last = tuple(
                min(max(value + left * rest, min(joint.lower, value)), max(joint.upper, value))
                for joint, value, rest in zip(
                    self._joints, trajectory.at(self._time).position, self._rest, strict=True
                )
            )
            return self._last

    def _begin(self, trajectory: Trajectory, rest: Joints) -> None:
        self._trajectory, self._rest = trajectory, rest
        # The first set-point lies one period ahead, like every other.
        self._time, self._read = 0.0, None
