"""A neck that exists only as two motion profiles: exact, repeatable, and as slow as a real one if it is told to be."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hvs_ros.neck.joints import NS
from hvs_ros.neck.motion import AxisMotion, plan, plan_stop
from hvs_ros.neck.state import GazeState

_SAME_RAD = 1e-9


@dataclass(frozen=True)
class MotionLimits:
    """How fast a head may turn, for each axis.

    Attributes:
        max_velocity: rad/s; ``math.inf``: moves are instantaneous if the acceleration is not limited either.
        max_acceleration: rad/s^2; ``math.inf``: not limited.
    """

    max_velocity: float = math.inf
    max_acceleration: float = math.inf


class SimulatedNeck:
    """Two joints, yaw and pitch. Times are nanoseconds of whatever clock the caller uses. Not thread-safe.

    Args:
        yaw: rad, where it looks first.
        pitch: rad.
        limits: of every motion.
    """

    def __init__(self, yaw: float, pitch: float, limits: MotionLimits | None = None) -> None:
        self._limits = limits or MotionLimits()
        self._start_ns = 0
        self._yaw, self._pitch = AxisMotion(yaw), AxisMotion(pitch)

    def state(self, now_ns: int) -> GazeState:
        """Return where it is and how fast it turns."""
        time = self._time(now_ns)
        yaw, yaw_velocity = self._yaw.at(time)
        pitch, pitch_velocity = self._pitch.at(time)
        return GazeState(yaw, pitch, yaw_velocity, pitch_velocity)

    def rest_ns(self) -> int:
        """Return since when, or from when on, it is at rest."""
        return self._start_ns + math.ceil(max(self._yaw.duration, self._pitch.duration) * NS)

    def move(self, now_ns: int, yaw: float, pitch: float, max_velocity: float = math.inf) -> None:
        """Turn to these joint angles from the present state; one that rests there already has rested all the while.

        Args:
            now_ns: present time.
            yaw: rad, the joint's angle, not wrapped.
            pitch: rad.
            max_velocity: rad/s, slows this move down.
        """
        state = self.state(now_ns)
        resting = state.yaw_velocity == state.pitch_velocity == 0.0
        if resting and max(abs(yaw - state.yaw), abs(pitch - state.pitch)) <= _SAME_RAD:
            return
        velocity = min(max_velocity, self._limits.max_velocity)
        acceleration = self._limits.max_acceleration
        self._yaw = plan(state.yaw, state.yaw_velocity, yaw, max_velocity=velocity, max_acceleration=acceleration)
        self._pitch = plan(
            state.pitch, state.pitch_velocity, pitch, max_velocity=velocity, max_acceleration=acceleration
        )
        self._start_ns = now_ns

    def stop(self, now_ns: int) -> None:
        """Brake to rest."""
        state = self.state(now_ns)
        acceleration = self._limits.max_acceleration
        self._yaw = plan_stop(state.yaw, state.yaw_velocity, max_acceleration=acceleration)
        self._pitch = plan_stop(state.pitch, state.pitch_velocity, max_acceleration=acceleration)
        self._start_ns = now_ns

    def place(self, now_ns: int, yaw: float, pitch: float) -> None:
        """Be there at once, at rest: only what is simulated can do that."""
        self._yaw, self._pitch = AxisMotion(yaw), AxisMotion(pitch)
        self._start_ns = now_ns

    def _time(self, now_ns: int) -> float:
        # A simulation that was set back to its beginning restarts the motion rather than to wait for the old time.
        self._start_ns = min(self._start_ns, now_ns)
        return (now_ns - self._start_ns) / NS
