"""Where a robot's base points, by its odometry, counted from where it pointed at first.

The heading is not wrapped: a base that has turned round once is at 2 pi. Angles are REP-103 radians, left positive.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import deque
from dataclasses import dataclass

from hvs_ros.angles import wrap_rad
from hvs_ros.neck.joints import NS

_KEPT_NS = 10 * NS
_RATE_NS = 150_000_000
"""The rate is that over so long: odometry is published in small, uneven steps."""
_AHEAD_NS = 200_000_000
"""So far beyond the newest sample the base is taken to go on turning as it did."""
_JUMP = 0.5
_JUMP_NS = NS // 5
"""No base turns by so much in so short a time: its odometry was reset."""


@dataclass(frozen=True)
class HeadingSample:
    """A heading at one moment: nanoseconds of the ROS clock, rad."""

    stamp_ns: int
    heading: float


class HeadingHistory:
    """The headings of the last ten seconds. Not thread-safe.

    Attributes:
        resets: how often the odometry has jumped; the heading goes on from where it was.
    """

    def __init__(self) -> None:
        self.resets = 0
        self._samples: deque[HeadingSample] = deque()
        self._yaw = 0.0

    def add(self, stamp_ns: int, yaw: float) -> None:
        """Take a yaw [rad, wrapped or not] as odometry tells it; the first one is heading 0.

        A stamp that is not newer than the last is dropped, unless the clock was set back by more than a second.
        """
        if not self._samples:
            self._yaw = yaw
            self._samples.append(HeadingSample(stamp_ns, 0.0))
            return
        last = self._samples[-1]
        age = stamp_ns - last.stamp_ns
        if -NS <= age <= 0:
            return
        turned = wrap_rad(yaw - self._yaw)
        self._yaw = yaw
        if age < 0:
            self._samples.clear()
        elif abs(turned) > _JUMP and age < _JUMP_NS:
            self.resets += 1
            turned = 0.0
        self._samples.append(HeadingSample(stamp_ns, last.heading + turned))
        while stamp_ns - self._samples[0].stamp_ns > _KEPT_NS:
            self._samples.popleft()

    def latest(self) -> HeadingSample | None:
        """Return the newest sample; None before the first."""
        return self._samples[-1] if self._samples else None

    def rate(self) -> float:
        """Return how fast the base turns [rad/s]; 0 while that is not known."""
        if len(self._samples) < 2:
            return 0.0
        last = self._samples[-1]
        first = self._samples[-2]
        for sample in reversed(self._samples):
            if last.stamp_ns - sample.stamp_ns > _RATE_NS:
                break
            first = sample if sample is not last else first
        return (last.heading - first.heading) / ((last.stamp_ns - first.stamp_ns) / NS)

    def at(self, stamp_ns: int) -> float | None:
        """Return the heading [rad] at a moment; None before the first sample that is kept.

        Between samples it is interpolated; a little beyond the newest the base goes on turning as it did.
        """
        if not self._samples or stamp_ns < self._samples[0].stamp_ns:
            return None
        last = self._samples[-1]
        if stamp_ns >= last.stamp_ns:
            return last.heading + self.rate() * min(stamp_ns - last.stamp_ns, _AHEAD_NS) / NS
        samples = list(self._samples)
        index = bisect_right([sample.stamp_ns for sample in samples], stamp_ns)
        before, after = samples[index - 1], samples[index]
        share = (stamp_ns - before.stamp_ns) / (after.stamp_ns - before.stamp_ns)
        return before.heading + share * (after.heading - before.heading)


def yaw_of(x: float, y: float, z: float, w: float) -> float | None:
    """Return the yaw [rad] of a rotation; None where the quaternion is none: some drivers send zeros at first."""
    norm = x * x + y * y + z * z + w * w
    if not math.isfinite(norm) or norm < 0.25:
        return None
    return math.atan2(2 * (w * z + x * y), norm - 2 * (y * y + z * z))
