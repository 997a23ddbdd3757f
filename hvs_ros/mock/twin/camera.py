"""The twin's camera: what a real one does to a picture between the light and the topic.

A panorama is seen from where the camera really is: on a sphere around its place at the start, so that there it shows
what a panorama head shows, and that near things shift when it moves. While it turns, a picture is the mean over the
exposure; a sensor's noise is laid over it. A camera that rests costs nothing: its picture is kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np

from hvs_ros.mock.twin.lookup import Lookup
from hvs_ros.mock.twin.physics import CameraPlace
from hvs_ros.neck.joints import NS
from hvs_ros.panorama import Camera, Panorama
from hvs_ros.panorama.geometry import Floats
from hvs_ros.search.view import Picture

BLUR_PX = 0.5
"""Motion within the exposure that shows."""
MOST_RENDERS = 5
_SAME_RAD = 1e-5
_SAME_M = 1e-5
_NOISE_MARGIN = 64


@dataclass(frozen=True)
class Sensor:
    """How a camera takes pictures.

    Attributes:
        camera: its size, focal lengths and lens.
        exposure: s.
        noise: standard deviation of each value, of 255.
        scene_radius: m, distance of what the panorama shows; 0: infinite.
        seed: of the noise.
    """

    camera: Camera
    exposure: float = 0.008
    noise: float = 0.0
    scene_radius: float = 5.0
    seed: int = 0


class TwinCamera:
    """Takes pictures. Not thread-safe.

    Args:
        sensor: how.
        origin: (3,) m, where the panorama's centre is.
    """

    def __init__(self, sensor: Sensor, origin: Floats) -> None:
        self._sensor, self._origin = sensor, origin
        self._lookup = Lookup(sensor.camera, sensor.scene_radius)
        self._random = np.random.default_rng(sensor.seed)
        self._grain = self._make_grain()
        self._kept: tuple[Panorama, CameraPlace, Picture] | None = None
        self.renders = 0

    def expose(self, panorama: Panorama, place_at: Callable[[int], CameraPlace], middle_ns: int) -> Picture:
        """Return the picture whose exposure has its middle at a moment.

        Args:
            panorama: what is around the camera.
            place_at: where the camera was at a moment, of nanoseconds.
            middle_ns: the moment.
        """
        half = round(self._sensor.exposure * NS / 2)
        first, last = place_at(middle_ns - half), place_at(middle_ns + half)
        moved = self._moved_px(first, last)
        if moved <= BLUR_PX:
            return self._noisy(self._still(panorama, place_at(middle_ns)))
        count = min(MOST_RENDERS, 2 + int(moved))
        moments = (middle_ns + round(half * (2 * (index + 0.5) / count - 1)) for index in range(count))
        total = np.zeros((self._sensor.camera.height, self._sensor.camera.width, 3), np.float32)
        for moment in moments:
            cv2.accumulate(self._render(panorama, self._shifted(place_at(moment))), total)
        return self._noisy(np.asarray(cv2.convertScaleAbs(total, alpha=1.0 / count), np.uint8))

    def _still(self, panorama: Panorama, place: CameraPlace) -> Picture:
        if self._kept is None or self._kept[0] is not panorama or not _same(self._kept[1], place):
            self._kept = panorama, place, self._render(panorama, self._shifted(place))
        return self._kept[2]

    def _render(self, panorama: Panorama, place: CameraPlace) -> Picture:
        self.renders += 1
        return self._lookup.picture(panorama, place)

    def _shifted(self, place: CameraPlace) -> CameraPlace:
        return CameraPlace(place.position - self._origin, place.rotation)

    def _moved_px(self, first: CameraPlace, last: CameraPlace) -> float:
        """Return by how much the picture moves, at its middle or its edge, whichever is more."""
        camera, radius = self._sensor.camera, self._sensor.scene_radius
        turn = _angle(first, last) * camera.fx
        shift = float(np.linalg.norm(last.position - first.position)) / radius * camera.fx if radius > 0.0 else 0.0
        return turn + shift

    def _make_grain(self) -> np.ndarray | None:
        """Return noise for a picture and some more, so that each picture can have another piece of it."""
        sensor = self._sensor
        if sensor.noise <= 0.0:
            return None
        size = (sensor.camera.height + _NOISE_MARGIN, sensor.camera.width + _NOISE_MARGIN, 3)
        return np.rint(self._random.normal(0.0, sensor.noise, size)).astype(np.int16)

    def _noisy(self, picture: Picture) -> Picture:
        if self._grain is None:
            return picture
        top, left = self._random.integers(0, _NOISE_MARGIN, 2)
        height, width = picture.shape[:2]
        piece = self._grain[top : top + height, left : left + width]
        return np.asarray(cv2.add(picture, piece, dtype=cv2.CV_8U), np.uint8)


def _angle(a: CameraPlace, b: CameraPlace) -> float:
    """Return the angle between two attitudes [rad]."""
    # From the chord, which is exact for small angles: |A - B|^2 = 8 sin^2(angle / 2).
    chord = float(np.linalg.norm(a.rotation - b.rotation))
    return 2 * math.asin(min(1.0, chord / math.sqrt(8.0)))


def _same(a: CameraPlace, b: CameraPlace) -> bool:
    return _angle(a, b) < _SAME_RAD and float(np.abs(a.position - b.position).max()) < _SAME_M
