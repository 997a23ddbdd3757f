"""How the decoder's queries and keys are turned by their three-part positions (Qwen2-VL report, arXiv 2409.12191)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hvs_ros.policy.qwen.checkpoint import DecoderShape


class DecoderRotation:
    """Turns positions into cosines and sines.

    Args:
        shape: of the decoder.
    """

    def __init__(self, shape: DecoderShape) -> None:
        half = shape.head_width // 2
        exponents = np.arange(half, dtype=np.float32) * np.float32(2 / shape.head_width)
        self._frequencies = (1.0 / np.float32(shape.rope_theta) ** exponents).astype(np.float32)
        # Which of time, row and column each frequency turns with.
        self._parts = np.repeat(np.arange(3), shape.mrope_sections)
        if len(self._parts) != half:
            raise ValueError(f"mrope_section {shape.mrope_sections} does not fill half a head, {half}")

    def __call__(self, positions: NDArray[np.int64]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return cosines and sines, float32 of shape (n, head width) each, for positions of shape (3, n)."""
        angles = positions[self._parts].T.astype(np.float32) * self._frequencies
        angles = np.concatenate([angles, angles], axis=-1)
        return np.cos(angles), np.sin(angles)
