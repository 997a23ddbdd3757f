"""The three-part positions of a prompt's tokens (multimodal rotary embedding, Qwen2-VL report, arXiv 2409.12191)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hvs_ros.policy.qwen.chat import Prompt


def prompt_positions(prompt: Prompt) -> tuple[NDArray[np.int64], int]:
    """Return the positions of all tokens, and that of the token that follows.

    Text counts up in all three parts alike. A picture's tokens share the time at which it begins and have their row and
    column on top of it in the other two; what follows goes on behind the picture's longer side.

    Returns:
        int64, shape (3, length): time, row, column; and the next position, which text has in all three.
    """
    positions = np.empty((3, len(prompt)), np.int64)
    place, now = 0, 0
    for placed in prompt.pictures:
        text = placed.start - place
        positions[:, place : placed.start] = np.arange(now, now + text)
        now += text
        rows, columns = _token_rows_and_columns(placed.size.rows, placed.size.columns, placed.size.tokens)
        inside = slice(placed.start, placed.end)
        positions[0, inside] = now
        positions[1, inside] = now + np.repeat(np.arange(rows), columns)
        positions[2, inside] = now + np.tile(np.arange(columns), rows)
        place, now = placed.end, now + max(rows, columns)
    rest = len(prompt) - place
    positions[:, place:] = np.arange(now, now + rest)
    return positions, now + rest


def _token_rows_and_columns(rows: int, columns: int, tokens: int) -> tuple[int, int]:
    merge = round((rows * columns / tokens) ** 0.5)
    return rows // merge, columns // merge
