"""By how much a camera's stamps are late, from how its pictures moved while the head turned.

A picture stamped t was exposed at t - latency. Between two pictures the surroundings have moved by the angle that the
gaze turned between their exposures, so the latency is that with which the gaze's own angles explain the pictures best:
least squares over a grid of latencies, refined by a parabola. Angles between pictures are compared, not velocities, so
that dropped pictures and uneven periods do no harm, and the result is much finer than a picture's period. The
uncertainty comes from leaving out one part of the recording after the other (jackknife).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

EARLIEST, LATEST, STEP = -0.1, 0.6, 0.005
"""s, the grid. Stamps that are early are found too: clocks differ."""
FINE_STEP = 0.001
LONGEST_S = 0.25
"""Pictures further apart are not compared: they may show different surroundings."""
LEAST_PICTURES = 40
LEAST_TURN = 0.08
"""rad, so far the head has to turn for a measurement."""
LEAST_CORRELATION = 0.8
LARGEST_UNCERTAINTY_S = 0.02
SCALES = (0.5, 2.0)
"""Of the turn seen to the turn made: near things and a rough focal length change it a little, not by more than this."""
_LARGEST_TURN = 4.0
"""Of a turn seen to the fastest turn made."""
_PARTS = 8
_OUTLIER = 5.0
"""In standard deviations, as the median tells them."""

Values = NDArray[np.float64]


class LatencyError(ValueError):
    """The recording does not tell the latency; the message says why and what to do."""


@dataclass(frozen=True)
class SeenStep:
    """What two pictures in a row show.

    Attributes:
        start: s, stamp of the first.
        end: s, stamp of the second.
        angle: rad, by how much the camera turned, left positive, as the pictures tell.
    """

    start: float
    end: float
    angle: float


@dataclass(frozen=True)
class GazeYaw:
    """Where the head looked: s on the clock of the pictures, and rad, wrapped or not."""

    time: float
    yaw: float


@dataclass(frozen=True)
class LatencyEstimate:
    """A camera's latency.

    Attributes:
        latency: s, by how much stamps are later than the exposure.
        uncertainty: s, two standard deviations.
        correlation: of the turns seen to the turns made at that latency, up to 1.
        scale: turn seen for each rad made; 1 when everything is far away and the focal length is right.
        pictures: how many pairs of pictures were used.
    """

    latency: float
    uncertainty: float
    correlation: float
    scale: float
    pictures: int


def estimate_latency(seen: Sequence[SeenStep], gaze: Sequence[GazeYaw]) -> LatencyEstimate:
    """Return the latency.

    Args:
        seen: in order; steps between pictures, those that were dropped left out.
        gaze: in order, for the same time and a second around it, 20 a second or more.

    Raises:
        LatencyError: the recording does not tell it.
    """
    recording = _Recording.of(seen, gaze)
    grid = np.arange(EARLIEST, LATEST + STEP / 2, STEP)
    correlations = recording.correlations(grid)
    best, worst = int(correlations.argmax()), int(correlations.argmin())
    if -correlations[worst] > max(correlations[best], LEAST_CORRELATION):
        raise LatencyError(
            f"the pictures move the other way than the head (correlation {correlations[worst]:.2f}): a sign in the"
            " robot's YAML is wrong, or the camera is upside down; hvs check-signs finds out which"
        )
    if correlations[best] >= LEAST_CORRELATION / 2:
        recording = recording.without_outliers(float(grid[best]))
        correlations = recording.correlations(grid)
        best = int(correlations.argmax())
    if correlations[best] < LEAST_CORRELATION:
        raise LatencyError(
            f"the pictures do not move as the head does (correlation {correlations[best]:.2f} at best,"
            f" {LEAST_CORRELATION:g} is needed): is this the camera on the head, is it light enough, and does anything"
            " large move in front of it?"
        )
    if best in (0, len(grid) - 1):
        raise LatencyError(
            f"the latency lies outside {EARLIEST:g} to {LATEST:g} s: do the camera and the head use the same clock?"
        )
    latency = recording.refined(float(grid[best]))
    correlation, scale = recording.fit(latency)
    if not SCALES[0] <= scale <= SCALES[1]:
        raise LatencyError(
            f"the pictures turn by {scale:.2f} rad for each rad of the head: the focal length in camera_info is wrong,"
            " or the camera is not on the head's last joint"
        )
    uncertainty = math.hypot(2 * recording.deviation(latency), recording.resolution)
    if uncertainty > LARGEST_UNCERTAINTY_S:
        raise LatencyError(
            f"{latency:.3f} s, but only to {uncertainty:.3f} s: more sweeps, or more light, would tell it better"
        )
    return LatencyEstimate(latency, uncertainty, correlation, scale, len(recording.angle))


@dataclass(frozen=True)
class _Recording:
    """Arrays of one length each: steps between pictures (start, end, angle); the gaze (time, yaw)."""

    start: Values
    end: Values
    angle: Values
    time: Values
    yaw: Values

    @staticmethod
    def of(seen: Sequence[SeenStep], gaze: Sequence[GazeYaw]) -> _Recording:
        if len(gaze) < 2:
            raise LatencyError("the head told nothing of where it looked: does it publish its pose?")
        time = np.array([sample.time for sample in gaze])
        yaw = np.unwrap(np.array([sample.yaw for sample in gaze]))
        # Only what the gaze is known for, whatever the latency.
        first, last = time[0] + LATEST, time[-1] + EARLIEST
        used = [
            step
            for step in seen
            if first <= step.start and step.end <= last and 0.0 < step.end - step.start <= LONGEST_S
        ]
        if len(used) < LEAST_PICTURES:
            raise LatencyError(
                f"{len(used)} pairs of pictures could be compared, {LEAST_PICTURES} are needed: is the camera fast"
                f" enough ({1 / LONGEST_S:g} pictures a second at least), and does it see anything but darkness?"
            )
        during = yaw[(time >= used[0].start - LATEST) & (time <= used[-1].end - EARLIEST)]
        turned = float(np.ptp(during)) if during.size else 0.0
        if turned < LEAST_TURN:
            raise LatencyError(
                f"the head turned by {turned:.3f} rad only, {LEAST_TURN:g} are needed: does it move at all?"
            )
        # A picture of nothing in particular can seem to turn by anything; no head turns like that.
        fastest = _LARGEST_TURN * float(np.max(np.abs(np.diff(yaw)) / np.maximum(np.diff(time), 1e-3)))
        used = [step for step in used if abs(step.angle) <= fastest * (step.end - step.start)]
        start, end, angle = np.array([(step.start, step.end, step.angle) for step in used]).T
        return _Recording(start, end, angle, time, yaw)

    @property
    def resolution(self) -> float:
        """What interpolation between samples of the gaze may be off by [s]."""
        return float(np.median(np.diff(self.time))) / 10

    def correlations(self, latencies: Values) -> Values:
        """Return the normalised correlation of the turns seen and made for each latency [s]."""
        return np.array([self.fit(float(latency))[0] for latency in latencies])

    def made(self, latency: float) -> Values:
        """Return the turns that the gaze made between exposures [rad]."""
        ends = np.interp(self.end - latency, self.time, self.yaw)
        return np.asarray(ends - np.interp(self.start - latency, self.time, self.yaw), np.float64)

    def fit(self, latency: float) -> tuple[float, float]:
        """Return correlation and scale at a latency [s]."""
        made = self.made(latency)
        made, angle = made - made.mean(), self.angle - self.angle.mean()
        size = math.sqrt(float(made @ made) * float(angle @ angle))
        if size <= 0.0:
            return 0.0, 0.0
        return float(made @ angle) / size, float(made @ angle) / float(made @ made)

    def refined(self, latency: float) -> float:
        """Return the best latency [s] around one of the coarse grid."""
        grid = latency + np.arange(-2 * STEP, 2 * STEP + FINE_STEP / 2, FINE_STEP)
        correlations = self.correlations(grid)
        # The parabola through the top of the curve: linear interpolation of the gaze makes it a little angular.
        near = np.abs(grid - grid[int(correlations.argmax())]) <= STEP + FINE_STEP / 2
        a, b, _ = np.polyfit(grid[near] - latency, correlations[near], 2)
        top = -b / (2 * a) if a < 0.0 else 0.0
        return latency + float(np.clip(top, -2 * STEP, 2 * STEP))

    def without_outliers(self, latency: float) -> _Recording:
        """Leave out steps that the gaze cannot explain: a picture of the wrong moment, somebody walking by."""
        _, scale = self.fit(latency)
        residual = self.angle - scale * self.made(latency)
        residual = np.abs(residual - np.median(residual))
        return self.only(residual <= _OUTLIER * max(1.4826 * float(np.median(residual)), 1e-6))

    def only(self, used: NDArray[np.bool_]) -> _Recording:
        """Return it with some of the steps."""
        return _Recording(self.start[used], self.end[used], self.angle[used], self.time, self.yaw)

    def deviation(self, latency: float) -> float:
        """Return the standard deviation of the latency [s] found with one part of the steps left out."""
        parts = np.arange(len(self.angle)) * _PARTS // len(self.angle)
        found = np.array([self.only(parts != part).refined(latency) for part in range(_PARTS)])
        return math.sqrt((_PARTS - 1) * float(found.var()))
