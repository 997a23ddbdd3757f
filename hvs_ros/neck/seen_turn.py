"""How far a camera turned between two pictures, as the pictures themselves tell.

Joint states cannot show that a sign is wrong, for they have the same sign. The pictures can: of all turns of the
camera, the one is looked for that makes the first picture look like the second. A turn about the camera's centre moves
the picture by a homography, whatever the distances (Hartley and Zisserman, Multiple View Geometry, 2nd ed., 8.4.2); a
head also shifts its camera by a few centimetres, which is little at the distances of a room.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from hvs_ros.panorama.reproject import GREY
from hvs_ros.search.view import Picture

WIDTH = 160
"""Pixels of the pictures that are compared."""
MOST = math.radians(18.0)
"""Turns about either axis up to this are looked for."""
STEPS = (math.radians(1.5), math.radians(0.5), math.radians(0.15))
"""Of the search, coarse to fine."""
SURE = 0.5
"""A likeness below this says nothing."""
CLEAR = 0.1
"""So much worse must a picture turned the opposite way be, or the surroundings show too little to tell."""
LEAST_OVERLAP = 0.4
"""Of the second picture: so much must be in the first one too."""
LEAST_PIXELS = 200

Pixels = NDArray[np.float32]


@dataclass(frozen=True)
class SeenTurn:
    """What two pictures tell.

    Attributes:
        yaw: rad, left positive.
        pitch: rad, down positive.
        likeness: of the second picture to the first one turned, -1 to 1.
        clear: the surroundings show enough for this to be believed.
    """

    yaw: float
    pitch: float
    likeness: float
    clear: bool


def seen_turn(before: Picture, after: Picture, hfov_deg: float, pitch: float = 0.0) -> SeenTurn:
    """Return the turn of an upright camera between two pictures of surroundings that did not change.

    Args:
        before: BGR uint8, (height, width, 3), undistorted.
        after: of the same size.
        hfov_deg: horizontal field of view of both, degrees.
        pitch: rad, of the camera in the first picture, down positive.

    Raises:
        ValueError: the pictures differ in size.
    """
    if before.shape != after.shape:
        raise ValueError(f"the pictures are {before.shape} and {after.shape}: one camera makes them of one size")
    comparison = _Comparison(before, after, hfov_deg, pitch)
    best, turn = -1.0, (0.0, 0.0)
    reach = MOST
    for step in STEPS:
        count = round(reach / step)
        offsets = [step * index for index in range(-count, count + 1)]
        centre = turn
        for dyaw in offsets:
            for dpitch in offsets:
                candidate = (centre[0] + dyaw, centre[1] + dpitch)
                likeness = comparison.likeness(*candidate)
                if likeness > best:
                    best, turn = likeness, candidate
        reach = step
    opposite = comparison.likeness(-turn[0], -turn[1])
    # Where hardly anything turned there is no opposite.
    small = math.hypot(*turn) < STEPS[0]
    return SeenTurn(*turn, best, clear=best >= SURE and (small or best - opposite >= CLEAR))


class _Comparison:
    """Two pictures made small, without their slow changes of brightness."""

    def __init__(self, before: Picture, after: Picture, hfov_deg: float, pitch: float) -> None:
        height, width = before.shape[:2]
        self._size = (WIDTH, max(16, round(WIDTH * height / width)))
        self._seen_before, self._seen_after = (_seen(picture, self._size) for picture in (before, after))
        self._before = self._detail(before, self._seen_before)
        self._after = self._detail(after, self._seen_after)
        focal = WIDTH / 2 / math.tan(math.radians(hfov_deg) / 2)
        self._k = np.array([[focal, 0, self._size[0] / 2 - 0.5], [0, focal, self._size[1] / 2 - 0.5], [0, 0, 1]])
        self._k_inverse = np.linalg.inv(self._k)
        self._pitch = pitch
        self._from = _optical(0.0, pitch)

    def likeness(self, yaw: float, pitch: float) -> float:
        """Return the normalised correlation of the second picture with the first one turned [rad]."""
        rotation = _optical(yaw, self._pitch + pitch).T @ self._from
        homography = self._k @ rotation @ self._k_inverse
        turned = cv2.warpPerspective(self._before, homography, self._size, flags=cv2.INTER_LINEAR)
        use = self._seen_after * cv2.warpPerspective(self._seen_before, homography, self._size, flags=cv2.INTER_NEAREST)
        count = float(use.sum())
        if count < max(LEAST_OVERLAP * float(self._seen_after.sum()), LEAST_PIXELS):
            return -1.0
        a, b = (picture[use > 0] for picture in (turned, self._after))
        a, b = a - a.mean(), b - b.mean()
        scale = math.sqrt(float(a @ a) * float(b @ b))
        return float(a @ b) / scale if scale > 0 else -1.0

    def _detail(self, picture: Picture, seen: Pixels) -> Pixels:
        small = cv2.resize(picture, self._size, interpolation=cv2.INTER_AREA)
        grey = cv2.cvtColor(small, cv2.COLOR_BGR2GRAY).astype(np.float32)
        # A turn in fine steps is found on blurred detail; light that changes slowly over the picture says nothing.
        fine, coarse = (_blurred(grey, seen, sigma) for sigma in (1.0, 8.0))
        return np.asarray(fine - coarse, np.float32)


def _blurred(grey: Pixels, seen: Pixels, sigma: float) -> Pixels:
    """Return the picture blurred without what was not seen, or the filling's edge would be a detail of its own."""
    weight = cv2.GaussianBlur(seen, (0, 0), sigma)
    return np.asarray(cv2.GaussianBlur(grey * seen, (0, 0), sigma) / np.maximum(weight, 1e-3), np.float32)


def _optical(yaw: float, pitch: float) -> NDArray[np.float64]:
    """Return the rotation of the optical frame (z forward, x right, y down) of a gaze Rz(yaw) Ry(pitch) (REP-103)."""
    cy, sy, cp, sp = math.cos(yaw), math.sin(yaw), math.cos(pitch), math.sin(pitch)
    gaze = np.array([[cy * cp, -sy, cy * sp], [sy * cp, cy, sy * sp], [-sp, 0.0, cp]])
    return np.asarray(gaze @ np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]]), np.float64)


def _seen(picture: Picture, size: tuple[int, int]) -> Pixels:
    """Return 1 where the camera saw something, 0 where a re-projected picture is filled: that does not turn with it."""
    filled = cv2.resize((picture == GREY).all(axis=2).astype(np.float32), size, interpolation=cv2.INTER_AREA) > 0.99
    # A few pixels of that grey are no filling; the filling's edge does not turn either.
    areas = cv2.morphologyEx(filled.astype(np.uint8), cv2.MORPH_OPEN, np.ones((5, 5), np.uint8))
    return np.asarray(1 - cv2.dilate(areas, np.ones((7, 7), np.uint8)), np.float32)
