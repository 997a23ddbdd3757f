"""What a lens does between the direction of a ray and the image plane, for the models that CameraInfo names.

A lens maps rays (x right, y down, z forward) to the plane at distance 1 and back. Polynomials are only invertible up to
the radius where they turn back; beyond it a calibration says nothing, so both ways answer NaN there instead of the
mirrored point that the bare formula gives.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hvs_ros.panorama.geometry import Floats


class Lens(Protocol):
    """A mapping between rays and the image plane at distance 1; equal lenses must compare and hash equal."""

    @property
    def name(self) -> str:
        """CameraInfo's distortion_model."""
        ...

    @property
    def coefficients(self) -> tuple[float, ...]:
        """CameraInfo's d."""
        ...

    def project(self, rays: Floats) -> tuple[Floats, Floats]:
        """Return plane coordinates of rays (..., 3); NaN for a ray that cannot reach the picture."""
        ...

    def rays(self, x: Floats, y: Floats) -> Floats:
        """Return rays (..., 3), not normalised, of plane coordinates; NaN where the lens has none."""
        ...


def _first_turning_point(slope_coefficients: tuple[float, ...], limit: float) -> float:
    """Return the first r > 0 with 1 + c0 r^2 + c1 r^4 + ... = 0, at most limit."""
    # Coefficients that change nothing within any picture would only overflow.
    telling = [value if abs(value) > 1e-12 else 0.0 for value in slope_coefficients]
    roots = np.roots([*reversed(telling), 1.0])
    real = roots[np.abs(roots.imag) < 1e-9].real
    positive = real[real > 0]
    return min(limit, math.sqrt(positive.min())) if positive.size else limit


def _plane(x: Floats, y: Floats, valid: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    return np.where(valid, x, np.nan), np.where(valid, y, np.nan)


@dataclass(frozen=True)
class Pinhole:
    """No distortion."""

    name = "plumb_bob"
    coefficients = (0.0, 0.0, 0.0, 0.0, 0.0)

    def project(self, rays: Floats) -> tuple[Floats, Floats]:
        """See Lens."""
        z = rays[..., 2]
        with np.errstate(divide="ignore", invalid="ignore"):
            return _plane(rays[..., 0] / z, rays[..., 1] / z, z > 1e-12)

    def rays(self, x: Floats, y: Floats) -> Floats:
        """See Lens."""
        return np.stack(np.broadcast_arrays(x, y, 1.0), axis=-1)


@dataclass(frozen=True)
class PlumbBob:
    """Brown's radial and tangential distortion as in CameraInfo's plumb_bob (k1, k2, p1, p2, k3)."""

    k1: float = 0.0
    k2: float = 0.0
    p1: float = 0.0
    p2: float = 0.0
    k3: float = 0.0

    name = "plumb_bob"

    @property
    def coefficients(self) -> tuple[float, ...]:
        """CameraInfo's d."""
        return self.k1, self.k2, self.p1, self.p2, self.k3

    @property
    def _limit(self) -> float:
        return _first_turning_point((3 * self.k1, 5 * self.k2, 7 * self.k3), 1e3)

    def _radial(self, squared: Floats) -> Floats:
        return 1 + squared * (self.k1 + squared * (self.k2 + squared * self.k3))

    def _slope(self, squared: Floats) -> Floats:
        """Return twice the derivative of the radial factor by the squared radius."""
        return 2 * (self.k1 + squared * (2 * self.k2 + squared * 3 * self.k3))

    def _distort(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        squared = x * x + y * y
        radial = self._radial(squared)
        return (
            x * radial + 2 * self.p1 * x * y + self.p2 * (squared + 2 * x * x),
            y * radial + self.p1 * (squared + 2 * y * y) + 2 * self.p2 * x * y,
        )

    def project(self, rays: Floats) -> tuple[Floats, Floats]:
        """See Lens."""
        x, y = Pinhole().project(rays)
        with np.errstate(over="ignore", invalid="ignore"):
            return _plane(*self._distort(x, y), np.hypot(x, y) <= self._limit)

    def rays(self, x: Floats, y: Floats) -> Floats:
        """See Lens. The radial part is looked up, the rest is Newton's iteration in two dimensions."""
        x, y = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
        limit = self._limit
        distorted = np.hypot(x, y)
        reach, grid = min(limit, 1.0), np.zeros(1)
        while True:
            grid = np.linspace(0.0, reach, 4097)
            if reach >= limit or reach * self._radial(np.asarray(reach**2)) > 2 * np.nanmax(distorted, initial=0.0):
                break
            reach = min(limit, 2 * reach)
        guess = np.interp(distorted, grid * self._radial(grid**2), grid)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            scale = np.where(distorted > 0, guess / distorted, 1.0)
            px, py = x * scale, y * scale
            for _ in range(12):
                ex, ey = self._distort(px, py)
                ex, ey = ex - x, ey - y
                squared = px * px + py * py
                radial = self._radial(squared)
                slope = self._slope(squared)
                a = radial + slope * px * px + 2 * self.p1 * py + 6 * self.p2 * px
                b = slope * px * py + 2 * self.p1 * px + 2 * self.p2 * py
                d = radial + slope * py * py + 6 * self.p1 * py + 2 * self.p2 * px
                determinant = a * d - b * b
                px, py = px - (d * ex - b * ey) / determinant, py - (a * ey - b * ex) / determinant
            ex, ey = self._distort(px, py)
            valid = (np.hypot(ex - x, ey - y) < 1e-9) & (np.hypot(px, py) <= limit)
        return Pinhole().rays(*_plane(px, py, valid))


@dataclass(frozen=True)
class RationalPolynomial(PlumbBob):
    """Brown's distortion with a radial factor that is a fraction, CameraInfo's rational_polynomial.

    radial = (1 + k1 r^2 + k2 r^4 + k3 r^6) / (1 + k4 r^2 + k5 r^4 + k6 r^6); the tangential part is plumb_bob's.
    """

    k4: float = 0.0
    k5: float = 0.0
    k6: float = 0.0

    name = "rational_polynomial"

    @property
    def coefficients(self) -> tuple[float, ...]:
        """CameraInfo's d."""
        return self.k1, self.k2, self.p1, self.p2, self.k3, self.k4, self.k5, self.k6

    @property
    def _limit(self) -> float:
        # With s = r^2 and radial = N / D, r radial turns back where N D + 2 s (N' D - N D') = 0. A pole lies beyond.
        over, under = np.poly1d([self.k3, self.k2, self.k1, 1.0]), np.poly1d([self.k6, self.k5, self.k4, 1.0])
        turning = over * under + np.poly1d([2.0, 0.0]) * (over.deriv() * under - over * under.deriv())
        limits = [
            _first_turning_point(tuple(float(value) for value in polynomial.coeffs[::-1][1:]), 1e3)
            for polynomial in (turning, under)
        ]
        return min(limits)

    def _below(self, squared: Floats) -> Floats:
        return 1 + squared * (self.k4 + squared * (self.k5 + squared * self.k6))

    def _radial(self, squared: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return super()._radial(squared) / self._below(squared)

    def _slope(self, squared: Floats) -> Floats:
        below = self._below(squared)
        below_slope = 2 * (self.k4 + squared * (2 * self.k5 + squared * 3 * self.k6))
        return (super()._slope(squared) - self._radial(squared) * below_slope) / below


@dataclass(frozen=True)
class Equidistant:
    """A fisheye lens: radius = t (1 + k1 t^2 + k2 t^4 + k3 t^6 + k4 t^8) for a ray at angle t from the axis."""

    k1: float = 0.0
    k2: float = 0.0
    k3: float = 0.0
    k4: float = 0.0

    name = "equidistant"

    @property
    def coefficients(self) -> tuple[float, ...]:
        """CameraInfo's d."""
        return self.k1, self.k2, self.k3, self.k4

    @property
    def _limit(self) -> float:
        return _first_turning_point((3 * self.k1, 5 * self.k2, 7 * self.k3, 9 * self.k4), math.pi)

    def _radius(self, angle: Floats) -> Floats:
        s = angle * angle
        return angle * (1 + s * (self.k1 + s * (self.k2 + s * (self.k3 + s * self.k4))))

    def project(self, rays: Floats) -> tuple[Floats, Floats]:
        """See Lens. Rays from behind are seen as far as the polynomial goes."""
        x, y = rays[..., 0], rays[..., 1]
        flat = np.hypot(x, y)
        angle = np.arctan2(flat, rays[..., 2])
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = np.where(flat > 0, self._radius(angle) / flat, 0.0)
        return _plane(x * scale, y * scale, angle <= self._limit)

    def rays(self, x: Floats, y: Floats) -> Floats:
        """See Lens."""
        x, y = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
        limit = self._limit
        radius = np.hypot(x, y)
        grid = np.linspace(0.0, limit, 4097)
        angle = np.interp(radius, self._radius(grid), grid)
        with np.errstate(divide="ignore", invalid="ignore"):
            for _ in range(6):
                s = angle * angle
                slope = 1 + s * (3 * self.k1 + s * (5 * self.k2 + s * (7 * self.k3 + s * 9 * self.k4)))
                angle = angle - (self._radius(angle) - radius) / slope
            valid = (np.abs(self._radius(angle) - radius) < 1e-9) & (angle <= limit) & (angle >= 0)
            scale = np.where(radius > 0, np.sin(angle) / radius, 1.0)
        angle = np.where(valid, angle, np.nan)
        return np.stack(np.broadcast_arrays(x * scale, y * scale, np.cos(angle)), axis=-1)
