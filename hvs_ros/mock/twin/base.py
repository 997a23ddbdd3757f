"""A base that turns on the spot as it is told: within an acceleration, and not for longer than it is told."""

from __future__ import annotations

import math

from hvs_ros.neck.joints import NS

COMMAND_TIMEOUT_NS = NS // 2
"""Without a command for so long it stops, as drivers of bases do."""


class TurningBase:
    """Not thread-safe.

    Args:
        max_velocity: rad/s.
        max_acceleration: rad/s^2.

    Attributes:
        heading: rad, left positive, not wrapped.
        velocity: rad/s.
    """

    def __init__(self, max_velocity: float, max_acceleration: float) -> None:
        self.heading = self.velocity = 0.0
        self._max_velocity, self._max_acceleration = max_velocity, max_acceleration
        self._told, self._until_ns = 0.0, 0

    def command(self, now_ns: int, velocity: float) -> None:
        """Turn so fast [rad/s] until told otherwise, or not told for ``COMMAND_TIMEOUT_NS``."""
        self._told = min(max(velocity, -self._max_velocity), self._max_velocity)
        self._until_ns = now_ns + COMMAND_TIMEOUT_NS

    @property
    def resting(self) -> bool:
        """It does not turn and is not told to."""
        return self.velocity == 0.0 and self._told == 0.0

    def step(self, now_ns: int, length_ns: int) -> None:
        """Go on from a moment for so long."""
        if now_ns >= self._until_ns:
            self._told = 0.0
        if self.resting:
            return
        change = self._max_acceleration * length_ns / NS
        self.velocity += math.copysign(min(change, abs(self._told - self.velocity)), self._told - self.velocity)
        self.heading += self.velocity * length_ns / NS
