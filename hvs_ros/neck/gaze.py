"""A simulated neck with a clock and a lock: what it does now, and whether it rests long enough for a sharp view."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable

from hvs_ros.neck.description import PITCH_JOINT, YAW_JOINT
from hvs_ros.neck.joints import NS, JointSample
from hvs_ros.neck.limits import GazeLimits
from hvs_ros.neck.neck import Moment, Progress, Reach
from hvs_ros.neck.simulated import SimulatedNeck


class Gaze:
    """Implements ``hvs_ros.neck.neck.Neck``. Thread-safe.

    Args:
        neck: moves.
        limits: reachable directions.
        clock: returns nanoseconds.
        settle_s: how long it must be at rest before it counts as settled.
    """

    joint_names = (YAW_JOINT, PITCH_JOINT)

    def __init__(
        self, neck: SimulatedNeck, limits: GazeLimits, clock: Callable[[], int], settle_s: float = 0.0
    ) -> None:
        self._neck = neck
        self._limits = limits
        self._clock = clock
        self._settle_ns = round(settle_s * NS)
        self._lock = threading.Lock()

    def now(self) -> Moment:
        """Return the present."""
        with self._lock:
            stamp = self._clock()
            state = self._neck.state(stamp)
            settled = stamp >= self._neck.rest_ns() + self._settle_ns
        joints = JointSample(stamp, (state.yaw, state.pitch), (state.yaw_velocity, state.pitch_velocity))
        return Moment(stamp, state, settled, joints)

    def reach(self, yaw: float, pitch: float, *, relative: bool) -> Reach:
        """See Neck."""
        state = self.now().state
        if relative:
            return self._limits.turn(yaw, pitch, now=(state.yaw, state.pitch))
        return self._limits.direction(yaw, pitch, now=state.yaw)

    def progress(self) -> Progress:
        """Tell how the last move gets on: a simulated neck always arrives."""
        left = self._settles_in()
        return Progress(settled=left <= 0.0, wait_s=left)

    def move(self, reach: Reach, max_velocity: float = math.inf) -> None:
        """Begin to turn there, at most so fast [rad/s]."""
        with self._lock:
            self._neck.move(self._clock(), reach.yaw, reach.pitch, max_velocity)

    def stop(self) -> None:
        """Begin to brake."""
        with self._lock:
            self._neck.stop(self._clock())

    def stopped(self) -> bool:
        """It is at rest."""
        return self._settles_in() <= 0.0

    def stop_problem(self) -> str:
        """See Neck: what is simulated stops."""
        return ""

    def place(self, yaw: float, pitch: float) -> None:
        """Be there at once, and settled."""
        with self._lock:
            self._neck.place(self._clock() - self._settle_ns, yaw, pitch)

    def _settles_in(self) -> float:
        """Return the seconds until it is settled if nothing intervenes; 0 when it is."""
        with self._lock:
            stamp = self._clock()
            self._neck.state(stamp)
            return max(0.0, (self._neck.rest_ns() + self._settle_ns - stamp) / NS)
