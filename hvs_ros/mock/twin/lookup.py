"""Where in a panorama each pixel of a camera looks that may stand anywhere inside it, turned in any way.

``hvs_ros.panorama.view`` knows cameras at the centre, whose tables serve every yaw. A camera on a neck shifts and
rolls, so each of its pictures needs coordinates of its own. They are exact on a grid and linear between, which errs by
less than 0.01 degrees; where that would not hold, around a pole or at the rim of a lens, every pixel is computed.
"""

from __future__ import annotations

import math
from typing import cast

import cv2
import numpy as np
from numpy.typing import NDArray

from hvs_ros.mock.twin.physics import CameraPlace
from hvs_ros.panorama import Camera, Panorama
from hvs_ros.panorama.decode import Pixels
from hvs_ros.panorama.geometry import Floats, rotation

SPACING_RAD = 0.0175
"""Between points of the grid, at most."""
_POLAR = math.sin(math.radians(80.0))
"""Beyond this height over the horizon longitudes are too uneven for the grid."""

PANORAMA_FROM_BASE: Floats = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]])
"""The base frame's x forward, y left, z up in a panorama's axes: x right, y down, z forward."""


class Lookup:
    """Takes the pictures of one camera.

    Args:
        camera: what it sees with.
        radius: m, the panorama is on a sphere so large; 0: infinitely large.
    """

    def __init__(self, camera: Camera, radius: float) -> None:
        self._camera, self._radius = camera, radius
        self._spacing = max(1, int(SPACING_RAD * min(camera.fx, camera.fy)))
        self._rows, self._columns = (-(-size // self._spacing) for size in (camera.height, camera.width))
        v, u = ((np.arange(-1, count + 1) + 0.5) * self._spacing for count in (self._rows, self._columns))
        self._coarse = _unit(camera.rays(*np.broadcast_arrays(u, v[:, None])))
        self._fine: Floats | None = None
        self._partial = not np.isfinite(self._coarse).all()

    def picture(self, panorama: Panorama, place: CameraPlace) -> Pixels:
        """Return what the camera sees: (height, width, 3) BGR uint8, black where the lens has no ray.

        Args:
            panorama: around the origin that ``place`` counts from.
            place: of the optical frame, x forward, y left, z up [m].
        """
        x, y = self._coordinates(panorama, place)
        blind = None
        if self._partial:
            blind = ~np.isfinite(x)
            x, y = np.nan_to_num(x), np.nan_to_num(y)
        x -= np.float32(math.floor(float(x.min()) / panorama.width) * panorama.width)
        np.subtract(x, np.float32(panorama.width), out=x, where=x >= panorama.width)
        four = cv2.remap(panorama.padded, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_WRAP)
        picture = cast(Pixels, cv2.cvtColor(four, cv2.COLOR_BGRA2BGR))
        if blind is not None:
            picture[blind] = 0
        return picture

    def _coordinates(self, panorama: Panorama, place: CameraPlace) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return columns, not wrapped, and rows of ``panorama.padded`` for each pixel."""
        if not self._partial:
            directions = self._directions(self._coarse, panorama, place)
            if np.abs(directions[..., 1]).max() < _POLAR:
                x, y = _columns_and_rows(directions, panorama)
                return self._spread(x), self._spread(y)
        if self._fine is None:
            camera = self._camera
            u, v = np.arange(camera.width) + 0.5, np.arange(camera.height) + 0.5
            self._fine = _unit(camera.rays(*np.broadcast_arrays(u, v[:, None])))
        x, y = _columns_and_rows(self._directions(self._fine, panorama, place), panorama)
        return x.astype(np.float32), y.astype(np.float32)

    def _directions(self, rays: Floats, panorama: Panorama, place: CameraPlace) -> Floats:
        """Return unit vectors in the panorama's own axes of what rays (..., 3) meet."""
        tilt = panorama.offset
        to_picture = rotation(0.0, tilt.pitch_deg, tilt.roll_deg).T @ PANORAMA_FROM_BASE
        directions: Floats = rays @ (to_picture @ place.rotation).T
        if self._radius <= 0.0:
            return directions
        shift = to_picture @ (place.position / self._radius)
        # On the unit sphere: |shift + t d| = 1. A camera outside would see nothing; it stays just inside.
        distance = float(np.linalg.norm(shift))
        shift = shift * min(1.0, 0.95 / max(distance, 1e-9))
        along = directions @ shift
        t = np.sqrt(along**2 + 1.0 - float(shift @ shift)) - along
        met: Floats = shift + t[..., None] * directions
        return met

    def _spread(self, nodes: Floats) -> NDArray[np.float32]:
        """Return the grid's values at every pixel."""
        spacing, height, width = self._spacing, self._camera.height, self._camera.width
        size = (self._columns + 2) * spacing, (self._rows + 2) * spacing
        whole = cv2.resize(nodes.astype(np.float32), size, interpolation=cv2.INTER_LINEAR)
        return np.ascontiguousarray(whole[spacing : spacing + height, spacing : spacing + width], np.float32)


def _columns_and_rows(directions: Floats, panorama: Panorama) -> tuple[Floats, Floats]:
    """Return columns, free of a jump around the middle direction, and rows of ``panorama.padded``."""
    x, y, z = directions[..., 0], directions[..., 1], directions[..., 2]
    middle = directions[directions.shape[0] // 2, directions.shape[1] // 2]
    flat = math.hypot(float(middle[0]), float(middle[2]))
    sine, cosine = (float(middle[0]) / flat, float(middle[2]) / flat) if flat > 1e-9 else (0.0, 1.0)
    yaw = np.arctan2(x * cosine - z * sine, z * cosine + x * sine) + math.atan2(sine, cosine)
    pitch = np.arcsin(np.clip(-y, -1.0, 1.0))
    columns = (yaw / (2 * math.pi) + 0.5) * panorama.width - 0.5
    rows = (0.5 - pitch / math.pi) * panorama.height + 0.5
    return columns, rows


def _unit(rays: Floats) -> Floats:
    unit: Floats = rays / np.linalg.norm(rays, axis=-1, keepdims=True)
    return unit
