"""Qwen2.5-VL's network computed by torch, with transformers' layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hvs_ros.policy.engine import Description
from hvs_ros.policy.qwen.network import SeenPiece
from hvs_ros.policy.qwen.preprocess import Pixels
from hvs_ros.policy.torch_weights import Tensor, TorchWeights

CHUNK_CPU = 256
CHUNK_CUDA = 2048
"""Tokens of a prompt read at once: small enough that a cancellation is soon noticed, large enough to lose no speed."""


class TorchNetwork:
    """A network (see ``hvs_ros.policy.qwen.network``).

    Args:
        weights: transformers' model, or those of another network, which are then common to both: one thread at a time
            may call either.
        description: of runtime, device and precision.

    Attributes:
        chunk: at most so many tokens are given to ``extend`` at once.
        weights: of the model.
    """

    def __init__(self, weights: Any, description: Description) -> None:
        self.weights = weights if isinstance(weights, TorchWeights) else TorchWeights(weights)
        self._description = dict(description)
        self.chunk = CHUNK_CUDA if self.weights.device.type == "cuda" else CHUNK_CPU
        self._cache: Any = self.weights.new_cache()
        self._last: Tensor = None
        self._length = 0

    def another(self) -> TorchNetwork:
        """Return one with the same weights and with nothing in its sequence."""
        return TorchNetwork(self.weights, self._description)

    def describe(self) -> Description:
        """Return the runtime, the device and the precision."""
        return self._description

    def see(self, pixels: Pixels, stopped: Callable[[], bool]) -> Tensor:
        """Return what the vision tower makes of a picture, shape (tokens, width)."""
        return self.weights.see(pixels, stopped)

    def cut(self, length: int) -> None:
        """Forget all tokens but the first ones, also where a call that was broken off has left layers uneven."""
        self._last, self._length = None, length
        if length == 0:
            self._cache = self.weights.new_cache()
            return
        for layer in self._cache.layers:
            if layer.keys is not None:
                layer.keys, layer.values = layer.keys[..., :length, :], layer.values[..., :length, :]

    def extend(
        self,
        ids: NDArray[np.int64],
        positions: NDArray[np.int64],
        pieces: Sequence[SeenPiece],
        stopped: Callable[[], bool],
    ) -> None:
        """Add tokens to the sequence."""
        weights, torch = self.weights, self.weights.torch
        end = self._length + len(ids)
        places = np.concatenate([np.arange(self._length, end)[None], positions])
        with torch.inference_mode():
            embedded = weights.embed(torch.from_numpy(ids)[None].to(weights.device))
            for piece in pieces:
                rows = piece.features[piece.first : piece.first + piece.count]
                embedded[0, piece.place : piece.place + piece.count] = rows.to(embedded.dtype)
            at = torch.from_numpy(places)[:, None].to(weights.device)
            self._last, self._length = weights.read(embedded, at, self._cache, stopped), end

    def logits(self) -> NDArray[np.float32]:
        """Return the logits of what follows the last token, float32, shape (vocabulary,)."""
        with self.weights.torch.inference_mode():
            logits: NDArray[np.float32] = self.weights.logits(self._last)[0].cpu().numpy()
            return logits

    def lend(self) -> list[tuple[Tensor, Tensor]]:
        """Hand over the keys and values of each layer, shape (1, heads, tokens, width); ``cut`` or ``give_back`` next.

        They are continued somewhere else (``TorchBatch``), and would take the memory twice.
        """
        layers = [(layer.keys, layer.values) for layer in self._cache.layers]
        self.cut(0)
        return layers

    def give_back(self, layers: Sequence[tuple[Tensor, Tensor]]) -> None:
        """Take over a copy of the keys and values of a sequence."""
        self._cache = self.weights.new_cache()
        with self.weights.torch.inference_mode():
            for place, (keys, values) in enumerate(layers):
                self._cache.update(keys, values, place)
        self._last, self._length = None, layers[0][0].shape[-2]

    def close(self) -> None:
        """Release the memory."""
        self._cache = self._last = None
        self.weights.close()
