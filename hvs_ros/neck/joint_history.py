"""Where the joints were at the moment a picture was taken.

A picture's stamp falls between two joint states. Between them the joints are interpolated: by the cubic that has both
positions and both velocities (Hermite's), where the velocities can be believed, else by a straight line. Some drivers
fill in zeros for velocities that they do not measure; those cannot belong to positions that differ.
"""

from __future__ import annotations

import math
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from operator import attrgetter

from hvs_ros.neck.joints import NS, JointSample

EXTRAPOLATION_S = 0.02
"""So long after the last sample the joints are still said to go on as they did; beyond it nothing is known."""

MAX_GAP_S = 0.5
"""Between samples further apart than this a head can turn and come back: nothing is said of the time between."""

CLOCK_JUMP_S = 1.0
"""A sample so much older than the last one comes from a clock that was set back, and all before it is forgotten."""

_DISBELIEF = 0.5
"""Velocities whose mean is off the way between two samples by this part of the larger are not used."""

_stamp = attrgetter("stamp_ns")


class JointHistory:
    """Joint samples of the last seconds, in the order of their stamps. Thread-safe.

    Samples may come out of order; of those with equal stamps the one that came last counts.

    Args:
        keep_s: how long they are kept, by their stamps.
        continuous: indices of joints without limits, whose angles a driver may wrap: they are interpolated the short
            way.
    """

    def __init__(self, keep_s: float = 5.0, continuous: Sequence[int] = ()) -> None:
        self._keep_ns = round(keep_s * NS)
        self._continuous = frozenset(continuous)
        self._lock = threading.Lock()
        self._samples: list[JointSample] = []

    def __len__(self) -> int:
        return len(self._samples)

    @property
    def last(self) -> JointSample | None:
        """The sample with the latest stamp; None: there is none yet."""
        with self._lock:
            return self._samples[-1] if self._samples else None

    def clear(self) -> None:
        """Forget every sample."""
        with self._lock:
            self._samples.clear()

    def add(self, sample: JointSample) -> None:
        """Keep a sample."""
        with self._lock:
            samples = self._samples
            if samples and (
                sample.stamp_ns < samples[-1].stamp_ns - CLOCK_JUMP_S * NS
                or len(sample.position) != len(samples[-1].position)
            ):
                samples.clear()
            place = bisect_left(samples, sample.stamp_ns, key=_stamp)
            if place < len(samples) and samples[place].stamp_ns == sample.stamp_ns:
                samples[place] = sample
            else:
                samples.insert(place, sample)
            old = bisect_left(samples, samples[-1].stamp_ns - self._keep_ns, key=_stamp)
            del samples[:old]

    def at(self, stamp_ns: int) -> JointSample | None:
        """Return where the joints were at a moment; None where that is not known.

        Known is what lies between two samples not more than ``MAX_GAP_S`` apart, or at most ``EXTRAPOLATION_S`` after
        the last one.

        Args:
            stamp_ns: ns of the clock that the samples are stamped with.
        """
        with self._lock:
            after = bisect_right(self._samples, stamp_ns, key=_stamp)
            if after == 0:
                return None
            first = self._samples[after - 1]
            second = self._samples[after] if after < len(self._samples) else None
        since = (stamp_ns - first.stamp_ns) / NS
        if second is None:
            return _extrapolated(first, stamp_ns, since) if since <= EXTRAPOLATION_S else None
        if since == 0.0:
            return first
        span = (second.stamp_ns - first.stamp_ns) / NS
        return self._between(first, second, stamp_ns, since, span) if span <= MAX_GAP_S else None

    def _between(
        self, first: JointSample, second: JointSample, stamp_ns: int, since: float, span: float
    ) -> JointSample:
        told = _velocities(first) and _velocities(second)
        values = []
        for index, (start, end) in enumerate(zip(first.position, second.position, strict=True)):
            way = end - start
            if index in self._continuous:
                way = math.remainder(way, 2 * math.pi)
            mean = way / span
            ends = (first.velocity[index], second.velocity[index]) if told else (mean, mean)
            if not _belong(mean, *ends):
                ends = mean, mean
            offset, velocity = _hermite(way, ends[0] * span, ends[1] * span, since / span)
            values.append((start + offset, velocity / span))
        return JointSample(stamp_ns, tuple(value[0] for value in values), tuple(value[1] for value in values))


def _extrapolated(sample: JointSample, stamp_ns: int, since: float) -> JointSample:
    velocity = sample.velocity if _velocities(sample) else (0.0,) * len(sample.position)
    position = tuple(x + v * since for x, v in zip(sample.position, velocity, strict=True))
    return JointSample(stamp_ns, position, velocity)


def _velocities(sample: JointSample) -> bool:
    """Return whether it has a velocity for each position."""
    return len(sample.velocity) == len(sample.position) and all(map(math.isfinite, sample.velocity))


def _belong(mean: float, first: float, second: float) -> bool:
    """Return whether velocities at both ends can belong to a way with that mean velocity."""
    return abs((first + second) / 2 - mean) <= _DISBELIEF * max(abs(first), abs(second), abs(mean))


def _hermite(way: float, first: float, second: float, s: float) -> tuple[float, float]:
    """Return value and slope at s in [0, 1] of the cubic from 0 to ``way`` with these slopes at its ends."""
    bend, twist = 3 * way - 2 * first - second, first + second - 2 * way
    return s * (first + s * (bend + s * twist)), first + s * (2 * bend + 3 * s * twist)
