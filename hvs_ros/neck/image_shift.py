"""How far the surroundings moved between two pictures of a turning camera: phase correlation of their middles.

A shift in space is a phase in frequency, so the inverse transform of the phase alone has a peak at the shift, whatever
the brightness (Kuglin and Hines, 1975). A Hann window keeps the borders, where the surroundings come and go, from being
seen as something that does not move. A sensor's noise has a pattern too, and it does not move with the surroundings; it
lives in the fine detail, where there is little else, so that is smoothed, and frequencies with little in them count
little: the phase is divided by the amplitude only as far as it is above the mean one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from hvs_ros.search.view import Picture

MIDDLE = 0.5
"""Share of a picture's width and height that is compared: towards the borders a turn shifts by more."""
PIXELS = 240
"""At most so wide are the middles compared."""
SMOOTHING = 1.0
"""Pixels of the small picture, standard deviation."""
LEAST_CONTRAST = 1.0
"""Grey levels; below it there is nothing to see."""


@dataclass(frozen=True)
class Middle:
    """The middle of a picture, made small.

    Attributes:
        grey: float32, (height, width).
        scale: pixels of the whole picture for one of these.
    """

    grey: NDArray[np.float32]
    scale: float

    @property
    def blank(self) -> bool:
        """There is nothing in it that a shift could be seen by: a dark room, a white wall, a covered lens."""
        return float(self.grey.std()) < LEAST_CONTRAST


def middle_of(picture: Picture) -> Middle:
    """Return the middle of a picture, BGR uint8 (height, width, 3)."""
    height, width = picture.shape[:2]
    rows, columns = (max(2, round(size * MIDDLE)) for size in (height, width))
    top, left = (height - rows) // 2, (width - columns) // 2
    part = picture[top : top + rows, left : left + columns]
    scale = max(1.0, max(rows, columns) / PIXELS)
    if scale > 1.0:
        size = (max(2, round(columns / scale)), max(2, round(rows / scale)))
        part = np.asarray(cv2.resize(part, size, interpolation=cv2.INTER_AREA), np.uint8)
    return Middle(np.asarray(cv2.cvtColor(part, cv2.COLOR_BGR2GRAY), np.float32), scale)


def image_shift(before: Middle, after: Middle, turned: float = 0.0) -> float | None:
    """Return how far the surroundings moved to the right, in pixels of the whole picture, as an upright camera sees it.

    Args:
        before: earlier picture.
        after: later picture, of the same size.
        turned: rad, by how much the camera is mounted rotated, right side down positive.

    Returns:
        None where one of them is blank or they differ in size.
    """
    if before.blank or after.blank or before.grey.shape != after.grey.shape:
        return None
    first, second = _spectrum(before), _spectrum(after)
    product = np.conj(first) * second
    size = np.abs(product)
    height, width = before.grey.shape
    likeness = np.fft.irfft2(product / (size + size.mean()), s=(height, width))
    row, column = divmod(int(likeness.argmax()), width)
    right = _signed(column + _top(likeness[row].take((column - 1, column, column + 1), mode="wrap")), width)
    down = _signed(row + _top(likeness[:, column].take((row - 1, row, row + 1), mode="wrap")), height)
    # A camera that lies on its right side has its x axis pointing down: the surroundings' right is its -y.
    return (right * math.cos(turned) - down * math.sin(turned)) * before.scale


def _spectrum(middle: Middle) -> NDArray[np.complex128]:
    height, width = middle.grey.shape
    window = cv2.createHanningWindow((width, height), cv2.CV_32F)
    smooth = cv2.GaussianBlur(middle.grey, (0, 0), SMOOTHING)
    return np.asarray(np.fft.rfft2((smooth - smooth.mean()) * window), np.complex128)


def _top(values: NDArray[np.float64]) -> float:
    """Return where, from the middle one of three values, the parabola through them has its top."""
    left, middle, right = map(float, values)
    bend = left - 2 * middle + right
    return 0.0 if bend >= 0.0 else 0.5 * (left - right) / bend


def _signed(shift: float, size: int) -> float:
    """Return a shift in a circle of so many pixels as the shorter of the two ways."""
    return shift - size if shift > size / 2 else shift


def turn_angle(shift: float, focal: float, extent: int) -> float:
    """Return the turn of the camera [rad, left positive] that shifts the surroundings to the right by so much.

    A point at x from the middle moves by (f + x^2 / f) for each rad; the mean over what is compared is taken.

    Args:
        shift: pixels.
        focal: pixels, focal length.
        extent: pixels of the whole picture along the shift.
    """
    half = extent * MIDDLE / 2
    return shift / (focal * (1.0 + (half / focal) ** 2 / 3.0))
