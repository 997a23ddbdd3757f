"""What directions a head can reach, and where it goes when told to look beyond them.

A joint without a stop takes the short way. A joint with stops never wraps: among the turns of a wanted yaw the one
inside the stops is taken, whatever the way, and where none is inside, the nearest stop.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from hvs_ros.angles import wrap_rad
from hvs_ros.neck.neck import Reach

TURN = 2 * math.pi
TOLERANCE = 1e-6
"""rad; a goal so little beyond a limit is at the limit: -90 degrees are not exactly -pi/2."""


@dataclass(frozen=True)
class GazeLimits:
    """Reachable directions, REP-103 radians.

    Attributes:
        yaw_min: rightmost.
        yaw_max: leftmost; a range of a whole turn or more means a joint without a stop.
        pitch_min: highest.
        pitch_max: lowest.

    Raises:
        ValueError: a minimum is not below its maximum, or the pitch goes beyond straight up or down.
    """

    yaw_min: float = -math.pi
    yaw_max: float = math.pi
    pitch_min: float = -math.pi / 2
    pitch_max: float = math.pi / 2

    def __post_init__(self) -> None:
        for name, low, high in (("yaw", self.yaw_min, self.yaw_max), ("pitch", self.pitch_min, self.pitch_max)):
            if not low <= high:
                raise ValueError(f"{name}_min is {low:g}, which is not below {name}_max, {high:g}")
        if self.pitch_min < -math.pi / 2 - TOLERANCE or self.pitch_max > math.pi / 2 + TOLERANCE:
            raise ValueError("pitch_min and pitch_max lie within -pi/2 and pi/2: beyond them, up is down")

    @property
    def yaw_continuous(self) -> bool:
        """The yaw has no stop."""
        return self.yaw_max - self.yaw_min >= TURN - TOLERANCE

    def within(self, other: GazeLimits) -> GazeLimits:
        """Return what lies within both; of yaws only those that both write alike.

        Raises:
            ValueError: nothing does.
        """
        whole = other.yaw_continuous
        return GazeLimits(
            self.yaw_min if whole else other.yaw_min if self.yaw_continuous else max(self.yaw_min, other.yaw_min),
            self.yaw_max if whole else other.yaw_max if self.yaw_continuous else min(self.yaw_max, other.yaw_max),
            max(self.pitch_min, other.pitch_min),
            min(self.pitch_max, other.pitch_max),
        )

    def direction(self, yaw: float, pitch: float, *, now: float) -> Reach:
        """Return where the joints go to look in a direction.

        Args:
            yaw: rad, any turn of it.
            pitch: rad.
            now: rad, the yaw joint's present angle.
        """
        if self.yaw_continuous:
            return self._with_pitch(now + wrap_rad(yaw - now), pitch)
        first = math.ceil((self.yaw_min - TOLERANCE - yaw) / TURN)
        last = math.floor((self.yaw_max + TOLERANCE - yaw) / TURN)
        inside = [yaw + turn * TURN for turn in range(first, last + 1)]
        if inside:
            nearest = min(inside, key=lambda angle: abs(angle - now))
            return self._with_pitch(min(max(nearest, self.yaw_min), self.yaw_max), pitch)
        stop = min((self.yaw_min, self.yaw_max), key=lambda limit: abs(wrap_rad(yaw - limit)))
        return self._with_pitch(stop, pitch, f"yaw {wrap_rad(yaw):.3f} rad {self._range('yaw')}")

    def turn(self, dyaw: float, dpitch: float, *, now: tuple[float, float]) -> Reach:
        """Return where the joints go to turn by an angle; more than half a turn is turned as told.

        Args:
            dyaw: rad.
            dpitch: rad.
            now: rad, the joints' present angles (yaw, pitch).
        """
        yaw, pitch = now[0] + dyaw, now[1] + dpitch
        if self.yaw_continuous:
            return self._with_pitch(yaw, pitch)
        return self.direction(yaw, pitch, now=now[0])

    def _with_pitch(self, yaw: float, pitch: float, beyond: str = "") -> Reach:
        reached = min(max(pitch, self.pitch_min), self.pitch_max)
        if abs(pitch - reached) > TOLERANCE:
            beyond = " and ".join(filter(None, (beyond, f"pitch {pitch:.3f} rad {self._range('pitch')}")))
        return Reach(yaw, reached, beyond)

    def _range(self, axis: str) -> str:
        low, high = (self.yaw_min, self.yaw_max) if axis == "yaw" else (self.pitch_min, self.pitch_max)
        return f"is outside {low:.3f} to {high:.3f}"
