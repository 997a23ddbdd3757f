"""Pictures small enough to lie inside a page: JPEG, as ``data:`` addresses."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from hvs_ros.image_encodings import ImageError, decompress, encode_jpeg
from hvs_ros.panorama import Panorama, Tilt, open_panorama
from hvs_ros.panorama.geometry import direction_of, rotation, vector_of
from hvs_ros.recording.episode import RecordedView
from hvs_ros.search.view import Picture

VIEW_WIDTH = 800
MAP_WIDTH = 1800
LEAST_WIDTH = 96
"""Below it nothing is seen any more."""


@dataclass(frozen=True)
class Inline:
    """A picture in a page.

    Attributes:
        address: ``data:`` address.
        width: pixels.
        height: pixels.
    """

    address: str
    width: int
    height: int


def inline(picture: Picture, width: int, quality: int) -> Inline:
    """Return the picture, BGR uint8 (height, width, 3), made at most so wide."""
    height, full = picture.shape[:2]
    if full > width:
        height = max(1, round(height * width / full))
        picture = np.asarray(cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA), np.uint8)
    data = base64.b64encode(encode_jpeg(np.ascontiguousarray(picture), quality)).decode()
    return Inline(f"data:image/jpeg;base64,{data}", picture.shape[1], height)


def view(recorded: RecordedView) -> Inline | None:
    """Return a view; None where it does not decode."""
    try:
        return inline(decompress(recorded.jpeg), VIEW_WIDTH, 78)
    except ImageError:
        return None


def panorama(path: Path, tilt: Tilt | None) -> Inline:
    """Return the panorama for the map: level, yaw 0 in the middle.

    Raises:
        PictureError: it is none.
    """
    return inline(level_map(open_panorama(path), tilt, MAP_WIDTH), MAP_WIDTH, 74)


def level_map(opened: Panorama, tilt: Tilt | None, width: int) -> Picture:
    """Return an open panorama as a map so wide and half as high: level, yaw 0 in the middle."""
    small = np.asarray(cv2.resize(opened.image, (width, width // 2), interpolation=cv2.INTER_AREA), np.uint8)
    return _leveled(small, tilt) if tilt else small


def inline_within(picture: Picture, limit: int) -> Inline:
    """Return the picture in a JPEG of at most so many bytes: at a lower quality, then smaller, where it takes more."""
    width = picture.shape[1]
    while True:
        for quality in (84, 72, 58, 44):
            made = inline(picture, width, quality)
            if len(made.address) * 3 // 4 <= limit or width <= LEAST_WIDTH:
                return made
        width = max(LEAST_WIDTH, width * 3 // 4)


def _leveled(picture: Picture, tilt: Tilt) -> Picture:
    height, width = picture.shape[:2]
    yaw = ((np.arange(width) + 0.5) / width - 0.5) * 360.0
    pitch = (0.5 - (np.arange(height) + 0.5) / height) * 180.0
    level = vector_of(yaw[None, :], pitch[:, None])
    yaw_there, pitch_there = direction_of(level @ rotation(0.0, tilt.pitch_deg, tilt.roll_deg))
    columns = ((yaw_there / 360.0 + 0.5) * width - 0.5).astype(np.float32)
    rows = ((0.5 - pitch_there / 180.0) * height - 0.5).astype(np.float32)
    return np.asarray(cv2.remap(picture, columns, rows, cv2.INTER_LINEAR, borderMode=cv2.BORDER_WRAP), np.uint8)
