"""Where a picture's patches are, and which of them attend to one another, as arrays.

Patches come as ``preprocess`` returns them. The vision tower's windows are squares of patches; those at the right and
the lower edge may be smaller. A layer with windows is a dense batch over windows of equal size with a mask, which every
runtime can compute, instead of a list of lengths.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hvs_ros.policy.qwen.checkpoint import VisionShape
from hvs_ros.policy.qwen.preprocess import PictureSize

ROTARY_BASE = 10000.0


@dataclass(frozen=True)
class VisionLayout:
    """A picture's patches.

    Attributes:
        positions: int64, shape (patches, 2): row and column of each patch.
        slots: int64, shape (windows, places): which patch is in each place of a window; 0 where none is.
        filled: bool, shape (windows, places): there is one.
        back: int64, shape (patches,): each patch's place among windows * places.
    """

    positions: NDArray[np.int64]
    slots: NDArray[np.int64]
    filled: NDArray[np.bool_]
    back: NDArray[np.int64]


def vision_layout(size: PictureSize, vision: VisionShape) -> VisionLayout:
    """Return the layout of a picture."""
    merge = vision.merge
    square_rows, square_columns = size.rows // merge, size.columns // merge
    positions = np.stack(
        [
            _by_square(np.broadcast_to(np.arange(size.rows)[:, None], (size.rows, size.columns)), merge),
            _by_square(np.broadcast_to(np.arange(size.columns), (size.rows, size.columns)), merge),
        ],
        axis=-1,
    )
    side = vision.window // vision.patch // merge
    down, across = -(-square_rows // side), -(-square_columns // side)
    squares = np.full((down * side, across * side), -1, np.int64)
    numbers = np.arange(square_rows * square_columns).reshape(square_rows, square_columns)
    squares[:square_rows, :square_columns] = numbers
    windows = squares.reshape(down, side, across, side).transpose(0, 2, 1, 3).reshape(down * across, side * side)
    in_square = np.arange(merge * merge)
    slots = np.where(windows[..., None] < 0, -1, windows[..., None] * merge * merge + in_square)
    slots = slots.reshape(len(windows), -1)
    filled = slots >= 0
    back = np.empty(size.rows * size.columns, np.int64)
    back[slots[filled]] = np.flatnonzero(filled)
    return VisionLayout(positions, np.where(filled, slots, 0), filled, back)


def vision_rotation(layout: VisionLayout, vision: VisionShape) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the cosines and sines by which queries and keys are rotated, float32, shape (patches, head width) each.

    The first half of a head's frequencies turns with the row, the second with the column; the second half of a head
    repeats the first.
    """
    quarter = np.arange(0, vision.head_width // 2, 2, dtype=np.float32) / np.float32(vision.head_width // 2)
    frequencies = (1.0 / ROTARY_BASE**quarter).astype(np.float32)
    angles = (layout.positions[..., None].astype(np.float32) * frequencies).reshape(len(layout.positions), -1)
    angles = np.concatenate([angles, angles], axis=-1)
    return np.cos(angles), np.sin(angles)


def _by_square(grid: NDArray[np.int64], merge: int) -> NDArray[np.int64]:
    """Return a grid over patches, (rows, columns), in the order in which patches come."""
    rows, columns = grid.shape
    squares = grid.reshape(rows // merge, merge, columns // merge, merge)
    return np.ravel(squares.transpose(0, 2, 1, 3))
