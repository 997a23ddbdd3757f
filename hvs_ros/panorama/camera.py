"""The camera that looks into a panorama: its size, focal lengths, centre and lens.

Pixel coordinates (u, v) here are continuous, with the origin at the top-left corner of the top-left pixel: the centre
of pixel (0, 0) is at (0.5, 0.5) and the centre of a 1920 pixel wide picture is at u = 960. CameraInfo counts from the
centre of the top-left pixel instead; only ``k``, ``p`` and ``from_camera_info`` speak that language.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hvs_ros.panorama.geometry import Floats
from hvs_ros.panorama.lens import Equidistant, Lens, Pinhole, PlumbBob, RationalPolynomial

MAX_SIDE = 16384
"""Widest or highest view in pixels."""


class CameraError(ValueError):
    """A camera that cannot exist; the message says which number is wrong."""


@dataclass(frozen=True)
class Intrinsics:
    """Focal lengths and principal point in pixels, the latter continuous (0.5 is a pixel's centre)."""

    fx: float
    fy: float
    cx: float
    cy: float


@dataclass(frozen=True)
class Camera:
    """A camera at the panorama's centre.

    Attributes:
        width: pixels.
        height: pixels.
        hfov_deg: degrees between the middles of the left and the right edge of the picture; square pixels and a centred
            axis follow from it unless intrinsics are given.
        intrinsics: focal lengths and principal point of a calibrated camera.
        lens: distortion; a pinhole by default.

    Raises:
        CameraError: a size below 1 or above MAX_SIDE, or an hfov_deg outside (0, 180) for a bare pinhole.
    """

    width: int
    height: int
    hfov_deg: float
    intrinsics: Intrinsics | None = None
    lens: Lens = field(default_factory=Pinhole)

    def __post_init__(self) -> None:
        for name, size in (("width", self.width), ("height", self.height)):
            if not 1 <= size <= MAX_SIDE:
                raise CameraError(f"camera {name} is {size}: give 1 to {MAX_SIDE} pixels")
        if self.intrinsics is None and not 0.0 < self.hfov_deg < 180.0:
            raise CameraError(
                f"camera hfov_deg is {self.hfov_deg}: a pinhole sees more than 0 and less than 180 degrees"
            )

    @classmethod
    def from_camera_info(
        cls, width: int, height: int, k: Sequence[float], d: Sequence[float] = (), model: str = "plumb_bob"
    ) -> Camera:
        """Return the camera that a CameraInfo describes.

        Args:
            width: pixels.
            height: pixels.
            k: the 3x3 intrinsic matrix, row by row, pixel centres at whole numbers.
            d: distortion: 0, 4 or 5 numbers for plumb_bob, 0 or 8 for rational_polynomial, 0 or 4 for equidistant.
            model: plumb_bob, rational_polynomial or equidistant; empty counts as plumb_bob.

        Raises:
            CameraError: an unknown model, a wrong number of values, or an uncalibrated camera (k all zero).
        """
        values, coefficients = [float(value) for value in k], [float(value) for value in d]
        if len(values) != 9:
            raise CameraError(f"camera k has {len(values)} values: give the 9 of a 3x3 matrix, row by row")
        if not all(math.isfinite(value) for value in (*values, *coefficients)):
            raise CameraError("camera k or d holds NaN or infinity: calibrate the camera again")
        fx, skew, cx, _, fy, cy = values[:6]
        if fx <= 0 or fy <= 0:
            raise CameraError(f"camera focal lengths are ({fx}, {fy}): the camera is not calibrated")
        if abs(skew) > 1e-6 * fx:
            raise CameraError(f"camera k has the skew {skew}: only pixels without skew are supported")
        lens = _lens(model, coefficients)
        intrinsics = Intrinsics(fx, fy, cx + 0.5, cy + 0.5)
        bare = cls(width, height, math.nan, intrinsics, lens)
        left, right = bare.rays(np.array([0.0, float(width)]), np.full(2, intrinsics.cy))
        hfov = math.degrees(math.atan2(right[0], right[2]) - math.atan2(left[0], left[2]))
        return cls(width, height, hfov, intrinsics, lens)

    @property
    def fx(self) -> float:
        """Horizontal focal length in pixels."""
        return self.intrinsics.fx if self.intrinsics else self.width / 2 / math.tan(math.radians(self.hfov_deg) / 2)

    @property
    def fy(self) -> float:
        """Vertical focal length in pixels."""
        return self.intrinsics.fy if self.intrinsics else self.fx

    @property
    def cx(self) -> float:
        """Continuous u of the optical axis."""
        return self.intrinsics.cx if self.intrinsics else self.width / 2

    @property
    def cy(self) -> float:
        """Continuous v of the optical axis."""
        return self.intrinsics.cy if self.intrinsics else self.height / 2

    @property
    def k(self) -> tuple[float, ...]:
        """CameraInfo's k: 3x3, row by row, pixel centres at whole numbers."""
        return (self.fx, 0.0, self.cx - 0.5, 0.0, self.fy, self.cy - 0.5, 0.0, 0.0, 1.0)

    @property
    def p(self) -> tuple[float, ...]:
        """CameraInfo's p: 3x4, row by row, for a picture that is not rectified."""
        k = self.k
        return (*k[:3], 0.0, *k[3:6], 0.0, *k[6:], 0.0)

    @property
    def d(self) -> tuple[float, ...]:
        """CameraInfo's d."""
        return self.lens.coefficients

    @property
    def distortion_model(self) -> str:
        """CameraInfo's distortion_model."""
        return self.lens.name

    def scaled(self, factor: int) -> Camera:
        """Return the camera with factor times as many pixels on each side and the same view."""
        intrinsics = Intrinsics(self.fx * factor, self.fy * factor, self.cx * factor, self.cy * factor)
        return Camera(self.width * factor, self.height * factor, self.hfov_deg, intrinsics, self.lens)

    def rays(self, u: ArrayLike, v: ArrayLike) -> Floats:
        """Return rays (..., 3) in optical axes, not normalised, of continuous pixel coordinates; NaN for none."""
        x = (np.asarray(u, float) - self.cx) / self.fx
        y = (np.asarray(v, float) - self.cy) / self.fy
        return self.lens.rays(x, y)

    def project(self, rays: Floats) -> tuple[Floats, Floats]:
        """Return continuous pixel coordinates of rays (..., 3), also outside the picture; NaN for rays from behind."""
        x, y = self.lens.project(rays)
        return x * self.fx + self.cx, y * self.fy + self.cy

    def contains(self, u: ArrayLike, v: ArrayLike) -> NDArray[np.bool_]:
        """Return whether continuous pixel coordinates lie in the picture; NaN does not."""
        u, v = np.asarray(u, float), np.asarray(v, float)
        inside: NDArray[np.bool_] = (u >= 0) & (u <= self.width) & (v >= 0) & (v <= self.height)
        return inside


def _lens(model: str, d: Sequence[float]) -> Lens:
    if model in ("", "plumb_bob"):
        if len(d) not in (0, 4, 5):
            raise CameraError(f"plumb_bob has {len(d)} coefficients: give k1, k2, p1, p2 and k3")
        return PlumbBob(*d) if any(d) else Pinhole()
    if model == "rational_polynomial":
        if len(d) not in (0, 8):
            raise CameraError(
                f"rational_polynomial has {len(d)} coefficients: give k1, k2, p1, p2, k3, k4, k5 and k6"
            )
        return RationalPolynomial(*d)
    if model == "equidistant":
        if len(d) not in (0, 4):
            raise CameraError(f"equidistant has {len(d)} coefficients: give k1, k2, k3 and k4")
        return Equidistant(*d)
    raise CameraError(
        f"distortion model '{model}' is not known: use plumb_bob, rational_polynomial or equidistant"
    )


EVALUATION = Camera(1920, 1080, 100.0)
"""The benchmark's camera."""

TRAINING = Camera(1280, 720, 100.0)
"""The camera of the published reinforcement learning."""
