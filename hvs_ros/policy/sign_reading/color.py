"""A patch of the colour that the target is said to have: when nothing can be read, better than nothing."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from hvs_ros.angles import Direction
from hvs_ros.panorama.inverse import pixel_to_direction
from hvs_ros.policy.sign_reading.looking import camera_of
from hvs_ros.policy.sign_reading.sighting import Sighting, SightingKind
from hvs_ros.search.view import Observation

HUES = {
    "red": ((0, 7), (172, 180)),
    "orange": ((8, 18),),
    "yellow": ((20, 33),),
    "green": ((40, 85),),
    "blue": ((95, 128),),
    "purple": ((130, 155),),
    "pink": ((156, 171),),
}
"""Intervals of OpenCV's hue (half degrees)."""

MOST_SCORE = 0.35
"""A colour alone never counts more."""
_WIDTH = 480
_LARGEST = 0.06
"""Part of the view beyond which a patch is a wall, a lawn or the sky."""


def find_color(observation: Observation, color: str) -> list[Sighting]:
    """Return the patches of a colour in a view, the most striking first, at most three."""
    width = observation.image.shape[1]
    scale = min(1.0, _WIDTH / width)
    small = cv2.resize(observation.image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    hue, saturation, value = cv2.split(cv2.cvtColor(small, cv2.COLOR_BGR2HSV))
    mask = np.zeros(hue.shape, bool)
    for low, high in HUES[color]:
        mask |= (hue >= low) & (hue <= high)
    mask &= (saturation > 110) & (value > 60)
    closed = cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
    count, labels, stats, centers = cv2.connectedComponentsWithStats(closed, connectivity=8)
    camera = camera_of(observation)
    found = []
    for index in range(1, count):
        _, _, w, h, area = (int(number) for number in stats[index])
        share = area / mask.size
        # The mark in the middle of the view is drawn into it, a few pixels of pure green.
        if area < 12 or share > _LARGEST or _is_cross(observation, centers[index], w, h, scale):
            continue
        strength = float(saturation[labels == index].mean()) / 255.0
        compact = area / (w * h)
        score = MOST_SCORE * min(1.0, strength * compact * (0.35 + 1.5 * float(np.sqrt(share / _LARGEST))))
        at = (centers[index] + 0.5) / scale
        yaw, pitch = pixel_to_direction(camera, observation.direction, at[0], at[1])
        direction = Direction(float(yaw), float(pitch))
        size_deg = float(np.degrees(w / scale / camera.fx))
        found.append(
            Sighting(SightingKind.COLOR, direction, color, score, color, size_deg=size_deg, turn=observation.turn)
        )
    return sorted(found, key=lambda item: -item.score)[:3]


def _is_cross(observation: Observation, center: NDArray[np.float64], w: int, h: int, scale: float) -> bool:
    height, width = observation.image.shape[:2]
    middle = np.array([width, height]) * scale / 2
    return max(w, h) < 24 * max(scale, 0.25) + 4 and float(np.abs(center - middle).max()) < 6
