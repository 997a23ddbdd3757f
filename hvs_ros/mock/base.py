"""A base that turns by velocity commands, as badly as real ones do: late, slipping, deaf to small commands."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass


@dataclass(frozen=True)
class BaseFaults:
    """What is not ideal.

    Attributes:
        delay: s, from a command to its effect, and from a heading to the odometry that tells it, half each.
        lag: s, time constant with which the velocity follows.
        slip: share of the commanded velocity that is turned.
        dead_zone: rad/s, smaller commands do not move it.
        timeout: s; without commands for so long it stops by itself, as drivers do.
        stuck: rad, it does not turn beyond so much to either side.
    """

    delay: float = 0.0
    lag: float = 0.0
    slip: float = 1.0
    dead_zone: float = 0.0
    timeout: float = 0.5
    stuck: float = math.inf


class SimulatedBase:
    """A base in simulated time.

    Args:
        faults: what is not ideal.

    Attributes:
        heading: rad, not wrapped, where it really points.
        rate: rad/s, how fast it really turns.
    """

    STEP_S = 0.005

    def __init__(self, faults: BaseFaults | None = None) -> None:
        self._faults = faults or BaseFaults()
        self.heading = self.rate = 0.0
        self._time = 0.0
        self._commands: deque[tuple[float, float]] = deque()
        self._command = (-math.inf, 0.0)
        self._past: deque[tuple[float, float]] = deque([(0.0, 0.0)])

    def command(self, velocity: float) -> None:
        """Take a velocity command [rad/s] now."""
        self._commands.append((self._time + self._faults.delay / 2, velocity))

    def advance(self, seconds: float) -> None:
        """Let time go on."""
        for _ in range(max(1, round(seconds / self.STEP_S))):
            self._step(self.STEP_S)

    def odometry(self) -> float:
        """Return the heading [rad] that its odometry tells now."""
        return self._past[0][1]

    def _step(self, step: float) -> None:
        self._time += step
        while self._commands and self._commands[0][0] <= self._time:
            self._command = (self._time, self._commands.popleft()[1])
        since, velocity = self._command
        if self._time - since > self._faults.timeout or abs(velocity) < self._faults.dead_zone:
            velocity = 0.0
        wanted = velocity * self._faults.slip
        self.rate += (wanted - self.rate) * (1.0 if self._faults.lag <= 0.0 else -math.expm1(-step / self._faults.lag))
        heading = self.heading + self.rate * step
        self.heading = min(max(heading, -self._faults.stuck), self._faults.stuck)
        self._past.append((self._time, self.heading))
        while len(self._past) > 1 and self._past[1][0] <= self._time - self._faults.delay / 2:
            self._past.popleft()
