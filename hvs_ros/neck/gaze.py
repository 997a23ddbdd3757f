"""A neck with a clock and a lock: what it does now, and whether it is at rest long enough for a sharp view."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass

from hvs_ros.neck.simulated import NS, SimulatedNeck
from hvs_ros.neck.state import GazeState


@dataclass(frozen=True)
class Moment:
    """A head at one moment.

    Attributes:
        stamp_ns: when, in nanoseconds of the head's clock.
        state: where it looked and how fast it turned.
        settled: it had been at rest for the settling time.
    """

    stamp_ns: int
    state: GazeState
    settled: bool


class Gaze:
    """Thread-safe.

    Args:
        neck: moves.
        clock: returns nanoseconds.
        settle_s: how long it must be at rest before it counts as settled.
    """

    def __init__(self, neck: SimulatedNeck, clock: Callable[[], int], settle_s: float = 0.0) -> None:
        self._neck = neck
        self._clock = clock
        self._settle_ns = round(settle_s * NS)
        self._lock = threading.Lock()

    def now(self) -> Moment:
        """Return the present."""
        with self._lock:
            stamp = self._clock()
            state = self._neck.state(stamp)
            return Moment(stamp, state, stamp >= self._neck.rest_ns() + self._settle_ns)

    def settles_in(self) -> float:
        """Return the seconds until it is settled if nothing intervenes; 0 when it is."""
        with self._lock:
            stamp = self._clock()
            self._neck.state(stamp)
            return max(0.0, (self._neck.rest_ns() + self._settle_ns - stamp) / NS)

    def move(self, yaw: float, pitch: float, max_velocity: float = math.inf) -> None:
        """Begin to turn to joint angles [rad], at most so fast [rad/s]."""
        with self._lock:
            self._neck.move(self._clock(), yaw, pitch, max_velocity)

    def stop(self) -> None:
        """Begin to brake."""
        with self._lock:
            self._neck.stop(self._clock())

    def place(self, yaw: float, pitch: float) -> None:
        """Be there at once, and settled."""
        with self._lock:
            self._neck.place(self._clock() - self._settle_ns, yaw, pitch)
