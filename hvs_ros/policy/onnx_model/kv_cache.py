"""The keys and values of the tokens so far, in the memory of whatever runs the decoder.

Each layer's keys are one buffer that is the decoder's input and output at once. Only its first tokens count, so that
to forget the later ones changes a number.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from hvs_ros.policy.qwen.checkpoint import DecoderShape

STEP = 4096
"""Tokens by which there is more room. A turn with five views of 1280x720 needs 7500, of 1920x1080 15000."""


class KvCache:
    """Room for tokens.

    Args:
        runtime: the module onnxruntime.
        shape: of the decoder.
        dtype: of keys and values.
        device: "cpu" or "cuda".

    Attributes:
        length: tokens that count.
        buffers: onnxruntime.OrtValue, keys and values by layer, shape (1, key heads, room, head width) each.
        room: tokens.
    """

    def __init__(self, runtime: Any, shape: DecoderShape, dtype: DTypeLike, device: str) -> None:
        self._runtime, self._shape, self._dtype, self._device = runtime, shape, np.dtype(dtype), device
        self.length = 0
        self.room = 0
        self.buffers: list[Any] = []

    @property
    def bytes_a_token(self) -> int:
        """Of all layers together."""
        shape = self._shape
        return 2 * shape.layers * shape.kv_heads * shape.head_width * self._dtype.itemsize

    def make_room(self, length: int) -> bool:
        """See to it that so many tokens fit, and return whether the buffers are others now."""
        if length <= self.room:
            return False
        room = -(-length // STEP) * STEP
        shape = (1, self._shape.kv_heads, room, self._shape.head_width)
        older, self.buffers = self.buffers, []
        for number in range(2 * self._shape.layers):
            content = np.zeros(shape, self._dtype)
            if older and self.length:
                content[:, :, : self.length] = older[number].numpy()[:, :, : self.length]
                older[number] = None  # before the next one is made
            self.buffers.append(self._runtime.OrtValue.ortvalue_from_numpy(content, self._device, 0))
        self.room = room
        return True

    def forget(self) -> None:
        """Give the memory back."""
        self.length = self.room = 0
        self.buffers = []
