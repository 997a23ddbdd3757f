"""What a camera at the panorama's centre sees: views, exact or as the published environment makes them.

``exact`` is pinhole geometry with pixel centres at half pixels, bilinear, without a seam at +-180 degrees or a patch at
the poles. ``hstar`` reproduces the published environment, which takes pixel corners for centres on both sides (the
picture moves by half a pixel of the view and half a pixel of the panorama) and continues beyond a pole with the
opposite pole's row; it exists so that published numbers can be reproduced.

A render is: look up the table of this pitch (tables.py), add the yaw's shift, sample. Coordinates stay floating point
up to OpenCV's kernel. OpenCV 5 blends with exact weights; OpenCV 4 rounds coordinates to 1/32 pixel inside
``cv2.remap`` (0.0007 degrees at most on a 7680 pixel wide panorama, 0.0014 on 4096), which is what ``ViewInfo.weights``
says. Fixed-point maps would save a tenth of the time with OpenCV 5, nothing with OpenCV 4, and that exactness.

Samplers hold no state but their tables' cache, which has its own lock, so one may be called from any number of threads.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np

from hvs_ros.panorama.camera import Camera
from hvs_ros.panorama.decode import Pixels
from hvs_ros.panorama.geometry import view_in_picture
from hvs_ros.panorama.picture import Panorama
from hvs_ros.panorama.tables import Table, TableCache, TableKey, Tables

Sampling = Literal["exact", "hstar"]

SAMPLINGS: tuple[Sampling, ...] = ("exact", "hstar")
MAX_SUPERSAMPLE = 4

_BLOCK_ROWS = 270
_SHARED_TABLES = TableCache()


@dataclass(frozen=True)
class ViewInfo:
    """How views were made, to be recorded with them.

    Attributes:
        sampling: exact or hstar.
        supersample: how many samples a pixel averages along each side; 1 is plain bilinear.
        interpolation: how a sample is taken from the panorama.
        weights: "float" or "1/32 pixel": how finely the kernel in use places a sample.
        library: the kernel's library and version.
    """

    sampling: str
    supersample: int
    interpolation: str
    weights: str
    library: str

    @property
    def made(self) -> str:
        """What a view's record says: what was chosen."""
        return view_name(self.sampling, self.supersample)


def view_name(sampling: str, supersample: int) -> str:
    """Return how views are made in a few words, e.g. ``exact, supersample 2``."""
    return sampling if supersample == 1 else f"{sampling}, supersample {supersample}"


class ViewSampler:
    """Renders views of one panorama with one camera.

    Args:
        panorama: the picture, with its tilt.
        camera: size, field of view and lens of the views.
        sampling: exact or hstar.
        supersample: 2 to 4 render with that many times the pixels on each side and average them, against moire.
        tables: cache of tables; one for the whole process by default.

    Raises:
        ValueError: an unknown sampling, or a supersample that is out of range or combined with hstar.
    """

    def __init__(
        self,
        panorama: Panorama,
        camera: Camera,
        *,
        sampling: Sampling = "exact",
        supersample: int = 1,
        tables: TableCache | None = None,
    ) -> None:
        if sampling not in SAMPLINGS:
            raise ValueError(f"sampling '{sampling}' is not known: use one of {', '.join(SAMPLINGS)}")
        if not 1 <= supersample <= MAX_SUPERSAMPLE:
            raise ValueError(f"supersample is {supersample}: use 1 (none) to {MAX_SUPERSAMPLE}")
        if sampling == "hstar" and supersample != 1:
            raise ValueError("hstar sampling reproduces published pixels: use it with supersample 1")
        self._panorama = panorama
        self._camera = camera
        self._fine_camera = camera if supersample == 1 else camera.scaled(supersample)
        self._sampling = sampling
        self._supersample = supersample
        self._tables = _SHARED_TABLES if tables is None else tables

    @property
    def panorama(self) -> Panorama:
        """The picture that is looked at."""
        return self._panorama

    @property
    def camera(self) -> Camera:
        """The camera of the views."""
        return self._camera

    @property
    def info(self) -> ViewInfo:
        """How the views are made."""
        exact_weights = int(cv2.__version__.split(".", 1)[0]) >= 5
        return ViewInfo(
            self._sampling,
            self._supersample,
            "bilinear",
            "float" if exact_weights else "1/32 pixel",
            f"OpenCV {cv2.__version__}",
        )

    def render(self, yaw_deg: float, pitch_deg: float, roll_deg: float = 0.0) -> Pixels:
        """Return the view in a direction: a new (height, width, 3) BGR uint8 array.

        Pixels for which the lens has no ray are black.

        Args:
            yaw_deg: degrees, right positive, any number of turns.
            pitch_deg: degrees, up positive.
            roll_deg: degrees, the camera's right side down positive.

        Raises:
            ValueError: an angle is not finite.
        """
        tables, shift = self._look_up(yaw_deg, pitch_deg, roll_deg)
        source = self._panorama.padded if self._sampling == "exact" else self._panorama.padded[1:-1]
        view = _sample(source, tables, shift)
        if tables.blind is not None:
            view[tables.blind] = 0
        if self._supersample > 1:
            size = self._camera.width, self._camera.height
            return np.asarray(cv2.resize(view, size, interpolation=cv2.INTER_AREA), np.uint8)
        return view

    def coordinates(self, yaw_deg: float, pitch_deg: float, roll_deg: float = 0.0) -> tuple[Table, Table]:
        """Return where ``render`` samples: panorama columns in [0, W) and rows, float32 (h, w), NaN where it is blind.

        Whole numbers are the centres of panorama pixels. With supersample the arrays are that many times larger.
        """
        tables, shift = self._look_up(yaw_deg, pitch_deg, roll_deg)
        x = np.mod(tables.x + np.float32(shift), np.float32(self._panorama.width))
        y = tables.y - np.float32(1.0 if self._sampling == "exact" else 0.0)
        if tables.blind is not None:
            x[tables.blind] = y[tables.blind] = np.nan
        return x, y

    def _look_up(self, yaw_deg: float, pitch_deg: float, roll_deg: float) -> tuple[Tables, float]:
        """Return the tables of a direction and the shift of their columns that brings them to its yaw."""
        for name, angle in (("yaw_deg", yaw_deg), ("pitch_deg", pitch_deg), ("roll_deg", roll_deg)):
            if not math.isfinite(angle):
                raise ValueError(f"{name} is {angle}: a view needs finite angles")
        panorama = self._panorama
        yaw, pitch, roll = view_in_picture(yaw_deg, pitch_deg, roll_deg, panorama.offset)
        exact = self._sampling == "exact"
        key = TableKey(self._fine_camera, panorama.width, panorama.height, pitch, roll, exact)
        tables = self._tables.get(key)
        shift = (yaw / 360.0 + 0.5) * panorama.width - (0.5 if exact else 0.0)
        # The smallest shift that leaves no column negative, so that wrapping means subtracting one width at most once.
        low = tables.x_range[0]
        return tables, (shift + low) % panorama.width - low


def _sample(source: Pixels, tables: Tables, shift: float) -> Pixels:
    """Return the (h, w, 3) pixels of source at the tables' coordinates: the kernel, behind this one function.

    Args:
        source: (H, W, 4) BGRX uint8, circular along its rows.
        tables: columns and rows, see Tables.
        shift: added to the columns; no column is negative then.

    Done in blocks of rows, so that the shifted columns are still in the processor's cache when they are used. Columns
    beyond the right edge are wrapped here, since OpenCV's own wrapping is several times slower and then only needed for
    the one column that straddles the edge.
    """
    height, width = tables.x.shape
    columns = source.shape[1]
    view = np.empty((height, width, 3), np.uint8)
    x, wrapped = np.empty((2, min(_BLOCK_ROWS, height), width), np.float32)
    four = np.empty((*x.shape, 4), np.uint8)
    crosses = tables.x_range[1] + shift >= columns
    for top in range(0, height, _BLOCK_ROWS):
        rows = slice(top, min(top + _BLOCK_ROWS, height))
        count = rows.stop - top
        np.add(tables.x[rows], np.float32(shift), out=x[:count])
        if crosses:
            cv2.threshold(x[:count], columns - 1 / 256, columns, cv2.THRESH_BINARY, dst=wrapped[:count])
            np.subtract(x[:count], wrapped[:count], out=x[:count])
        cv2.remap(source, x[:count], tables.y[rows], cv2.INTER_LINEAR, dst=four[:count], borderMode=cv2.BORDER_WRAP)
        cv2.cvtColor(four[:count], cv2.COLOR_BGRA2BGR, dst=view[rows])
    return view
