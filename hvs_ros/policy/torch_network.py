"""Qwen2.5-VL's network computed by torch, with transformers' layers."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hvs_ros.policy.engine import Canceled, Description
from hvs_ros.policy.qwen.network import SeenPiece
from hvs_ros.policy.qwen.preprocess import Pixels

CHUNK_CPU = 256
CHUNK_CUDA = 2048
"""Tokens of a prompt read at once: small enough that a cancellation is soon noticed, large enough to lose no speed."""


class TorchNetwork:
    """A network (see ``hvs_ros.policy.qwen.network``).

    Args:
        model: transformers' Qwen2_5_VLForConditionalGeneration, in evaluation mode, where it is to run.
        description: of runtime, device and precision.

    Attributes:
        chunk: at most so many tokens are given to ``extend`` at once.
    """

    def __init__(self, model: Any, description: Description) -> None:
        self._torch: Any = importlib.import_module("torch")
        self._new_cache: Callable[[], Any] = importlib.import_module("transformers").DynamicCache
        self._model: Any = model
        self._description = dict(description)
        self._device = model.device
        self.chunk = CHUNK_CUDA if self._device.type == "cuda" else CHUNK_CPU
        self._cache: Any = self._new_cache()
        self._last: Any = None
        self._length = 0
        self._stopped: Callable[[], bool] = lambda: False
        decoder = model.model.language_model
        # Newer versions of transformers have a shorter name for it.
        parameters = inspect.signature(decoder.forward).parameters
        self._cache_name = "cache" if "cache" in parameters else "past_key_values"
        # A layer of the real model takes long on a processor, so every one asks whether it is still wanted.
        for layer in (*model.model.visual.blocks, *decoder.layers):
            layer.register_forward_pre_hook(self._check)

    def describe(self) -> Description:
        """Return the runtime, the device and the precision."""
        return self._description

    def see(self, pixels: Pixels, stopped: Callable[[], bool]) -> Any:
        """Return what the vision tower makes of a picture, shape (tokens, width)."""
        torch, visual = self._torch, self._model.model.visual
        self._stopped = stopped
        with torch.inference_mode():
            values = torch.from_numpy(pixels.values).to(self._device, visual.dtype)
            grid = torch.tensor([[1, pixels.size.rows, pixels.size.columns]], device=self._device)
            seen = visual(values, grid_thw=grid)
            return getattr(seen, "pooler_output", seen)  # version 4 returns them bare

    def cut(self, length: int) -> None:
        """Forget all tokens but the first ones, also where a call that was broken off has left layers uneven."""
        self._last, self._length = None, length
        if length == 0:
            self._cache = self._new_cache()
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
        torch = self._torch
        self._stopped = stopped
        # The places in the sequence come first: without them FlashAttention takes a picture's positions, which do not
        # count up, for the beginnings of other sequences.
        end = self._length + len(ids)
        places = np.concatenate([np.arange(self._length, end)[None], positions])
        with torch.inference_mode():
            embedded = self._model.get_input_embeddings()(torch.from_numpy(ids)[None].to(self._device))
            for piece in pieces:
                rows = piece.features[piece.first : piece.first + piece.count]
                embedded[0, piece.place : piece.place + piece.count] = rows.to(embedded.dtype)
            hidden = self._model.model.language_model(
                inputs_embeds=embedded,
                position_ids=torch.from_numpy(places)[:, None].to(self._device),
                use_cache=True,
                **{self._cache_name: self._cache},
            )
            self._last, self._length = hidden.last_hidden_state[:, -1], end

    def logits(self) -> NDArray[np.float32]:
        """Return the logits of what follows the last token, float32, shape (vocabulary,)."""
        with self._torch.inference_mode():
            logits: NDArray[np.float32] = self._model.lm_head(self._last)[0].float().cpu().numpy()
            return logits

    def close(self) -> None:
        """Release the memory."""
        self._model = self._cache = self._last = None
        if self._device.type == "cuda":
            self._torch.cuda.empty_cache()

    def _check(self, *_: Any) -> None:
        if self._stopped():
            raise Canceled("canceled while the model was answering")
