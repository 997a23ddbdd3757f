"""The green cross that the published model was trained with. It marks the centre of the picture given to a policy.

It never belongs to ``image_raw``: recorded views and everything measured on them stay free of it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ARM_PIXELS = 10
COLOUR_BGR = (0, 255, 0)


def draw_cross(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return a copy of a (H, W, 3) BGR view with the cross: arms of 10 pixels, 1 wide, through (W // 2, H // 2)."""
    marked = np.array(image, np.uint8)
    mark_cross(marked)
    return marked


def mark_cross(image: NDArray[np.uint8]) -> None:
    """Draw the cross of ``draw_cross`` into the view itself, for whoever has it to himself."""
    row, column = image.shape[0] // 2, image.shape[1] // 2
    image[row, max(0, column - ARM_PIXELS) : column + ARM_PIXELS + 1] = COLOUR_BGR
    image[max(0, row - ARM_PIXELS) : row + ARM_PIXELS + 1, column] = COLOUR_BGR
