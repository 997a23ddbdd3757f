"""Shapes of arrows as they are drawn on signs, and the test whether a blob is one.

Every shape is stretched to a square before it is compared, as is the blob: seen from the side, a sign is squeezed, and
its arrows with it. A blob is an arrow when it covers the same part of the square as one of the drawn shapes; its
direction is that shape's.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

DIRECTIONS = ("right", "up right", "up", "up left", "left", "down left", "down", "down right")
"""Where arrows point, in steps of 45 degrees anticlockwise from the right."""

_SIDE = 32
_CANVAS = 192
Mask = NDArray[np.uint8]


@dataclass(frozen=True)
class ArrowFit:
    """How well a blob fits an arrow.

    Attributes:
        direction: one of DIRECTIONS.
        overlap: common area by united area with the best shape, 0 to 1.
        margin: how much better than the best shape that points elsewhere.
    """

    direction: str
    overlap: float
    margin: float


def fit_arrow(blob: Mask) -> ArrowFit | None:
    """Return the best fit of a blob (non-zero pixels of its bounding box); None when it is too long and thin."""
    height, width = blob.shape
    if min(height, width) < 5 or not 0.22 <= width / height <= 4.5:
        return None
    shapes, directions = _shapes()
    square = _square(blob)
    common = shapes @ square
    overlap = common / (shapes.sum(axis=1) + square.sum() - common)
    best = int(np.argmax(overlap))
    elsewhere = overlap[directions != directions[best]]
    return ArrowFit(DIRECTIONS[directions[best]], float(overlap[best]), float(overlap[best] - elsewhere.max()))


def _square(blob: Mask) -> NDArray[np.float32]:
    """Return the blob stretched to the square, as coverage 0 to 1, flat."""
    stretched = cv2.resize((blob > 0).astype(np.float32), (_SIDE, _SIDE), interpolation=cv2.INTER_AREA)
    return (stretched.ravel() > 0.5).astype(np.float32)


@lru_cache(maxsize=1)
def _shapes() -> tuple[NDArray[np.float32], NDArray[np.intp]]:
    drawn, directions = [], []
    for index in range(len(DIRECTIONS)):
        for polygons, thickness in _outlines():
            canvas = np.zeros((_CANVAS, _CANVAS), np.uint8)
            angle = math.radians(45 * index)
            c, s = math.cos(angle), math.sin(angle)
            for points in polygons:
                x, y = np.array(points).T
                turned = np.stack([x * c - y * s, -(x * s + y * c)], axis=1) * _CANVAS * 0.42 + _CANVAS / 2
                if thickness is None:
                    cv2.fillPoly(canvas, [turned.round().astype(np.int32)], 255)
                else:
                    wide = max(1, round(thickness * _CANVAS * 0.42))
                    cv2.polylines(canvas, [turned.round().astype(np.int32)], False, 255, wide)
            left, top, width, height = cv2.boundingRect(canvas)
            drawn.append(_square(canvas[top : top + height, left : left + width]))
            directions.append(index)
    return np.array(drawn, np.float32), np.array(directions)


_Points = list[tuple[float, float]]


def _outlines() -> list[tuple[list[_Points], float | None]]:
    """Return arrows that point right: filled polygons (thickness None) or strokes, about 2 wide."""
    outlines: list[tuple[list[_Points], float | None]] = []
    # A shaft with a filled head; the last number sweeps the head's barbs back.
    for shaft, head, half, sweep in itertools.product((0.08, 0.16, 0.26), (0.6, 0.9), (0.45, 0.7), (0.0, 0.2)):
        neck = 1 - head
        upper: _Points = [(neck - sweep, half), (neck, shaft), (-1, shaft)]
        lower: _Points = [(x, -y) for x, y in reversed(upper)]
        outlines.append(([[(1, 0), *upper, *lower]], None))
    # Strokes: a shaft and an open head.
    for thickness, head, half in itertools.product((0.14, 0.24, 0.36), (0.5, 0.8), (0.5, 0.8)):
        outlines.append(([[(-1, 0), (1, 0)], [(1 - head, half), (1, 0), (1 - head, -half)]], thickness))
    return outlines
