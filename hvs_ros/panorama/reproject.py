"""A real camera's picture as another camera at the same place would have taken it: undistorted, level, re-projected.

Both cameras look along the same line of sight; the source may be rotated about it (mounted on its side, or leaning with
the head), the target is level. Every pixel of the target is a ray; where the source's lens projects it into the
source's picture, the picture is sampled there, and everywhere else the target is grey: what the camera did not see is
not made up. Nothing is sampled from beyond the radius up to which a calibration means anything (lens.py).

As in view.py, maps stay floating point up to OpenCV's kernel, on four channels: with OpenCV 5 that is both exact and
twice as fast as fixed-point maps. They are computed in single precision, a few 1e-4 pixel, and kept for the rolls that
were used last.

The default is bilinear, like the benchmark's sampling, which aliases where the source has several pixels for one of the
target. ``prefilter`` averages the picture down by a whole number first, which ``made`` then says.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import cast

import cv2
import numpy as np

from hvs_ros.panorama.camera import Camera, Intrinsics
from hvs_ros.panorama.decode import Pixels
from hvs_ros.panorama.geometry import Floats
from hvs_ros.panorama.tables import Table

GREY = 128
"""What the camera did not see, in all three channels."""

ROLL_STEP_DEG = 0.02
"""Rolls are rounded to a multiple of it, which turns the corners of a 1920x1080 picture by 0.2 pixel at most."""

KEPT_ROLLS = 4
"""Maps of so many rolls are kept, 16 MB each for 1920x1080."""

_BLOCK_ROWS = 64
_OUTSIDE = -16.0


@dataclass(frozen=True)
class Reprojected:
    """A picture of the target camera.

    Attributes:
        image: BGR uint8, (height, width, 3), in memory of its own; grey where the source camera saw nothing.
        covered: fraction of its pixels that the source camera saw, 0 to 1.
        made: how it was made, for the record.
    """

    image: Pixels
    covered: float
    made: str


@dataclass(frozen=True)
class _Maps:
    """Where each pixel of the target lies in the source's picture; whole numbers are the centres of its pixels."""

    x: Table
    y: Table
    covered: float


class Reprojector:
    """Brings pictures of one camera to another one.

    May be called from any number of threads.

    Args:
        source: the camera that takes the pictures.
        target: the camera that they are wanted from.
        prefilter: average source pixels where several fall on one of the target, against moire.
    """

    def __init__(self, source: Camera, target: Camera, *, prefilter: bool = False) -> None:
        self._source, self._target = source, target
        self._shrink = _shrink(source, target) if prefilter else 1
        self._sampled = _shrunk(source, self._shrink)
        self._lock = threading.Lock()
        self._maps: OrderedDict[int, _Maps] = OrderedDict()

    @property
    def source(self) -> Camera:
        """The camera that takes the pictures."""
        return self._source

    @property
    def target(self) -> Camera:
        """The camera that they are wanted from."""
        return self._target

    def view(self, picture: Pixels, roll: float = 0.0) -> Reprojected:
        """Return the target camera's picture.

        Args:
            picture: BGR uint8, (height, width, 3), of the source camera's size.
            roll: rad, by how much the source camera is rotated about its line of sight, right side down positive
                (REP-103): its mount's rotation and the head's roll. The target comes out level.

        Raises:
            ValueError: the picture has another size than its camera, or the roll is not finite.
        """
        source = self._source
        if picture.shape != (source.height, source.width, 3):
            raise ValueError(
                f"the picture has the shape {picture.shape}, but its camera takes {source.width}x{source.height} BGR"
                " pictures: is the calibration one for another resolution?"
            )
        step = _step(roll)
        maps = self._get(step)
        if self._shrink > 1:
            size = self._sampled.width, self._sampled.height
            picture = np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8)
        image = _sample(picture, maps)
        return Reprojected(image, maps.covered, self._made(step * ROLL_STEP_DEG, maps.covered))

    def coordinates(self, roll: float = 0.0) -> tuple[Table, Table]:
        """Return where ``view`` samples: columns and rows of the source's picture, float32 (h, w), NaN for grey.

        Whole numbers are the centres of the source's pixels, of the averaged ones with ``prefilter``.
        """
        maps = self._get(_step(roll))
        grey = maps.x == _OUTSIDE
        return np.where(grey, np.float32(np.nan), maps.x), np.where(grey, np.float32(np.nan), maps.y)

    def _made(self, roll_deg: float, covered: float) -> str:
        source = self._source
        field = f", {source.hfov_deg:.1f}°" if math.isfinite(source.hfov_deg) else ""
        text = f"re-projected from {source.width}x{source.height}{field} ({source.distortion_model})"
        if abs(roll_deg) >= ROLL_STEP_DEG / 2:
            text += f", turned back by {roll_deg:.2f}°"
        if self._shrink > 1:
            text += f", prefilter {self._shrink}"
        if covered < 1.0:
            grey = f"{100 * (1 - covered):.0f} %" if covered <= 0.995 else "less than 1 %"
            text += f"; {grey} of it is grey: beyond the camera's field of view"
        return text

    def _get(self, step: int) -> _Maps:
        """Return the maps of a roll of so many ROLL_STEP_DEG, made if they are not held."""
        with self._lock:
            held = self._maps.get(step)
            if held is not None:
                self._maps.move_to_end(step)
                return held
        made = _make_maps(self._sampled, self._target, math.radians(step * ROLL_STEP_DEG))
        with self._lock:
            self._maps[step] = made
            if len(self._maps) > KEPT_ROLLS:
                self._maps.popitem(last=False)
        return made


def _step(roll: float) -> int:
    """Return a roll [rad] in whole ROLL_STEP_DEG."""
    if not math.isfinite(roll):
        raise ValueError(f"roll is {roll}: a picture can be turned by a finite angle only")
    return round(math.degrees(math.remainder(roll, 2 * math.pi)) / ROLL_STEP_DEG)


def _make_maps(source: Camera, target: Camera, roll: float) -> _Maps:
    """Return the maps for a source camera rolled by so much [rad], in blocks of rows that stay in the cache."""
    height, width = target.height, target.width
    x, y = np.empty((2, height, width), np.float32)
    sin, cos = math.sin(roll), math.cos(roll)
    # Level rays as rows, times this, are rays in the rolled camera's axes.
    level_to_source = np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]], np.float32)
    u = np.arange(width) + 0.5
    seen = 0
    for top in range(0, height, _BLOCK_ROWS):
        rows = slice(top, min(top + _BLOCK_ROWS, height))
        v = np.arange(rows.start, rows.stop)[:, None] + 0.5
        rays = target.rays(*np.broadcast_arrays(u, v)).astype(np.float32) @ level_to_source
        columns, lines = source.project(cast(Floats, rays))  # single precision all through
        inside = source.contains(columns, lines)
        seen += int(np.count_nonzero(inside))
        # The outer half of a border pixel is that pixel's own colour; it is not blended with the grey.
        x[rows] = np.where(inside, np.clip(columns - 0.5, 0.0, source.width - 1.0), _OUTSIDE)
        y[rows] = np.where(inside, np.clip(lines - 0.5, 0.0, source.height - 1.0), _OUTSIDE)
    for part in (x, y):
        part.flags.writeable = False
    return _Maps(x, y, seen / (height * width))


def _sample(picture: Pixels, maps: _Maps) -> Pixels:
    """Return the pixels at the maps' coordinates, grey outside."""
    four = cv2.cvtColor(picture, cv2.COLOR_BGR2BGRA)
    grey = (GREY,) * 4
    view = cv2.remap(four, maps.x, maps.y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=grey)
    return np.asarray(cv2.cvtColor(view, cv2.COLOR_BGRA2BGR), np.uint8)


def _shrink(source: Camera, target: Camera) -> int:
    """Return how many source pixels, along a side, fall on one of the target in the middle of the picture."""
    return max(1, int(min(source.fx / target.fx, source.fy / target.fy)))


def _shrunk(camera: Camera, factor: int) -> Camera:
    """Return the camera with so many times fewer pixels on each side and the same view."""
    if factor == 1:
        return camera
    width, height = max(1, round(camera.width / factor)), max(1, round(camera.height / factor))
    across, down = width / camera.width, height / camera.height
    intrinsics = Intrinsics(camera.fx * across, camera.fy * down, camera.cx * across, camera.cy * down)
    return Camera(width, height, camera.hfov_deg, intrinsics, camera.lens)
