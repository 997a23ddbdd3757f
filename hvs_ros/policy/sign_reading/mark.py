"""Takes the green cross out of the middle of a view, where it would cross out the letters that are looked at."""

from __future__ import annotations

import numpy as np

from hvs_ros.panorama.cross import ARM_PIXELS
from hvs_ros.search.view import Picture


def without_cross(image: Picture) -> Picture:
    """Return the view with its cross replaced by what is beside it; the view itself where it has none."""
    height, width = image.shape[:2]
    row, column = height // 2, width // 2
    if not (2 <= row < height - 2 and 2 <= column < width - 2) or not _green(image[row, column]):
        return image
    clean: Picture = image.copy()
    left, right = max(0, column - ARM_PIXELS), column + ARM_PIXELS + 1
    top, bottom = max(0, row - ARM_PIXELS), row + ARM_PIXELS + 1
    # Each arm takes its new pixels from both sides; the crossing has an arm on every side, so it takes its diagonals.
    clean[row, left:right] = _mean(image[row - 1, left:right], image[row + 1, left:right])
    clean[top:bottom, column] = _mean(image[top:bottom, column - 1], image[top:bottom, column + 1])
    clean[row, column] = _mean(image[row - 1, column - 1], image[row + 1, column + 1])
    return clean


def _green(pixel: Picture) -> bool:
    blue, green, red = (int(value) for value in pixel)
    return green > 150 and green - max(blue, red) > 60


def _mean(a: Picture, b: Picture) -> Picture:
    mean: Picture = ((a.astype(np.uint16) + b) // 2).astype(np.uint8)
    return mean
