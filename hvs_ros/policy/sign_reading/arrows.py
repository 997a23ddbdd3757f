"""Arrows drawn beside the words of a sign.

Words and arrow of a sign share their colours, so what has the colour of the letters near a line of text is looked at
blob by blob. A blob shaped like an arrow counts, most of all beside the line itself; one above or below it belongs to
several rows at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from hvs_ros.policy.sign_reading.arrow_shapes import ArrowFit, fit_arrow
from hvs_ros.policy.sign_reading.lines import Line
from hvs_ros.search.view import Picture

MIN_OVERLAP = 0.68
MIN_MARGIN = 0.065
_LETTERS = 40.0
"""Height of a line in the straightened neighbourhood that is searched, in pixels."""
_BESIDE, _ABOVE = 4.5, 2.2
"""How far the neighbourhood reaches, in heights of the line."""
_MAX_LENGTH = 40.0


@dataclass(frozen=True)
class Arrow:
    """An arrow that belongs to a line of text.

    Attributes:
        direction: where it points on the sign (see ``arrow_shapes.DIRECTIONS``).
        overlap: how well its shape fits, 0 to 1.
    """

    direction: str
    overlap: float


def find_arrow(image: Picture, line: Line, others: Iterable[Line] = ()) -> Arrow | None:
    """Return the arrow that belongs to a line of text.

    Args:
        image: BGR uint8, the picture that the line was read in.
        line: the text.
        others: further lines in the picture; letters are no arrows, and the arrow beside another line is that line's.
    """
    if line.height < 6 or line.width < 4:
        return None
    to_flat, size = _straighten(line)
    flat: Any = cv2.warpAffine(image, to_flat, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    own = _box(line, to_flat)
    ink = _ink(flat, own)
    if ink is None:
        return None
    boxes = [_box(other, to_flat) for other in others if other is not line]
    return _best(ink, own, boxes)


_Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""


def _straighten(line: Line) -> tuple[NDArray[np.float64], tuple[int, int]]:
    """Return the affine map to the neighbourhood in which the text runs to the right, and that picture's size."""
    scale = _LETTERS / line.height
    along = line.along
    length = min(line.width / line.height, _MAX_LENGTH) * _LETTERS
    size = (round(length + 2 * _BESIDE * _LETTERS), round((1 + 2 * _ABOVE) * _LETTERS))
    turn = scale * np.array([[along[0], along[1]], [-along[1], along[0]]])
    middle = np.array(line.center)
    shift = np.array(size) / 2 - turn @ middle
    return np.hstack([turn, shift[:, None]]), size


def _box(line: Line, to_flat: NDArray[np.float64]) -> _Box:
    points = line.quad @ to_flat[:, :2].T + to_flat[:, 2]
    (left, top), (right, bottom) = points.min(axis=0), points.max(axis=0)
    return float(left), float(top), float(right), float(bottom)


def _ink(flat: Picture, own: _Box) -> NDArray[np.uint8] | None:
    """Return the pixels (255) with the colour of the line's letters."""
    left, top, right, bottom = (max(0, round(value)) for value in own)
    text = flat[top:bottom, left:right]
    if text.shape[0] < 8 or text.shape[1] < 4:
        return None
    grey = cv2.cvtColor(text, cv2.COLOR_BGR2GRAY)
    _, bright = cv2.threshold(grey, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    frame = np.concatenate([bright[:2].ravel(), bright[-2:].ravel()])
    letters = bright == (0 if frame.mean() > 127 else 255)
    if not 0.02 < letters.mean() < 0.8:
        return None
    # The cores of letters and gaps tell the two colours; edges are mixtures.
    core = cv2.erode(letters.astype(np.uint8), np.ones((3, 3), np.uint8)).astype(bool)
    letter_color = np.median(text[core if core.sum() > 20 else letters], axis=0).astype(np.float32)
    back_color = np.median(text[~letters], axis=0).astype(np.float32)
    axis = letter_color - back_color
    contrast = float(axis @ axis)
    if contrast < 30.0**2:
        return None
    offset = flat.astype(np.float32) - back_color
    along = offset @ axis / contrast
    across = np.linalg.norm(offset - along[..., None] * axis, axis=2)
    ink = (along > 0.5) & (along < 1.7) & (across < 0.6 * np.sqrt(contrast))
    mask: NDArray[np.uint8] = ink.astype(np.uint8) * 255
    return mask


def _best(ink: NDArray[np.uint8], own: _Box, boxes: list[_Box]) -> Arrow | None:
    count, labels, stats, _ = cv2.connectedComponentsWithStats(ink, connectivity=8)
    height, width = ink.shape
    best: tuple[float, Arrow] | None = None
    for index in range(1, count):
        x, y, w, h, area = (int(value) for value in stats[index])
        if not (0.3 * _LETTERS < max(w, h) < 3.2 * _LETTERS) or area < 40 or min(w, h) < 0.15 * _LETTERS:
            continue
        if x <= 0 or y <= 0 or x + w >= width or y + h >= height:
            continue
        at = x + w / 2, y + h / 2
        inside = _contains(own, at)
        # Letters in the middle of the line are letters; at its ends the reader may have taken an arrow for one.
        if inside and not (at[0] < own[0] + 1.3 * _LETTERS or at[0] > own[2] - 1.3 * _LETTERS):
            continue
        if any(_contains(box, at) for box in boxes):
            continue
        fit = fit_arrow((labels[y : y + h, x : x + w] == index).astype(np.uint8))
        if fit is None or fit.overlap < MIN_OVERLAP + (0.06 if inside else 0.0) or fit.margin < MIN_MARGIN:
            continue
        if _is_on_another_row(at, own, boxes):
            continue
        rank = fit.overlap - _distance(fit, at, own)
        if best is None or rank > best[0]:
            best = rank, Arrow(fit.direction, fit.overlap)
    return None if best is None else best[1]


def _contains(box: _Box, at: tuple[float, float]) -> bool:
    return box[0] <= at[0] <= box[2] and box[1] <= at[1] <= box[3]


def _is_on_another_row(at: tuple[float, float], own: _Box, boxes: list[_Box]) -> bool:
    """Return whether an arrow stands beside another line and not beside this one."""
    if own[1] <= at[1] <= own[3]:
        return False
    return any(box[1] <= at[1] <= box[3] for box in boxes)


def _distance(fit: ArrowFit, at: tuple[float, float], own: _Box) -> float:
    """Return how far an arrow is from belonging to the line."""
    beside = max(own[0] - at[0], at[0] - own[2], 0.0) / _LETTERS
    level = abs(at[1] - (own[1] + own[3]) / 2) / _LETTERS
    distance = 0.03 * beside + 0.12 * level
    if ("right" in fit.direction and at[0] < own[0]) or ("left" in fit.direction and at[0] > own[2]):
        distance += 0.08  # arrows usually stand on the side to which they point
    return distance
