"""Qwen2.5-VL's layers as torch and transformers compute them: loaded once, for any number of sequences.

What belongs to a sequence is elsewhere: ``TorchNetwork`` has one, ``TorchBatch`` several that are continued together.
Only one thread at a time may call.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

from hvs_ros.policy.engine import Canceled
from hvs_ros.policy.qwen.preprocess import Pixels

Tensor = Any
"""torch is imported when a model is loaded."""


class TorchWeights:
    """A model.

    Args:
        model: transformers' Qwen2_5_VLForConditionalGeneration, in evaluation mode, where it is to run.

    Attributes:
        torch: the module.
        device: where the weights are.
        new_cache: returns transformers' cache of keys and values, empty.
    """

    def __init__(self, model: Any) -> None:
        self.torch: Any = importlib.import_module("torch")
        self.device: Any = model.device
        self.new_cache: Callable[[], Any] = importlib.import_module("transformers").DynamicCache
        self._model: Any = model
        self._stopped: Callable[[], bool] = lambda: False
        decoder = model.model.language_model
        # Newer versions of transformers have a shorter name for it.
        parameters = inspect.signature(decoder.forward).parameters
        self._cache_name = "cache" if "cache" in parameters else "past_key_values"
        # A layer of the real model takes long on a processor, so every one asks whether it is still wanted.
        for layer in (*model.model.visual.blocks, *decoder.layers):
            layer.register_forward_pre_hook(self._check)

    def see(self, pixels: Pixels, stopped: Callable[[], bool]) -> Tensor:
        """Return what the vision tower makes of a picture, shape (tokens, width)."""
        torch, visual = self.torch, self._model.model.visual
        self._stopped = stopped
        with torch.inference_mode():
            values = torch.from_numpy(pixels.values).to(self.device, visual.dtype)
            grid = torch.tensor([[1, pixels.size.rows, pixels.size.columns]], device=self.device)
            seen = visual(values, grid_thw=grid)
            return getattr(seen, "pooler_output", seen)  # version 4 returns them bare

    def embed(self, ids: Tensor) -> Tensor:
        """Return the embeddings of tokens, shape (sequences, tokens, width), given ids of (sequences, tokens)."""
        return self._model.get_input_embeddings()(ids)

    def read(
        self, embedded: Tensor, places: Tensor, cache: Any, stopped: Callable[[], bool], mask: Tensor = None
    ) -> Tensor:
        """Return the last token's hidden state of each sequence, shape (sequences, width).

        Args:
            embedded: tokens that follow what is in the cache, shape (sequences, tokens, width).
            places: int64, shape (4, sequences, tokens): the places in the cache, and the three parts of the positions.
                Without the first, FlashAttention takes a picture's positions, which do not count up, for the
                beginnings of other sequences.
            cache: is extended.
            stopped: raises Canceled between layers when it returns true.
            mask: shape (sequences, all tokens), 0 where a sequence has none; None: none is missing.
        """
        self._stopped = stopped
        hidden = self._model.model.language_model(
            inputs_embeds=embedded,
            position_ids=places,
            attention_mask=mask,
            use_cache=True,
            **{self._cache_name: cache},
        )
        return hidden.last_hidden_state[:, -1]

    def logits(self, last: Tensor) -> Tensor:
        """Return the logits of what follows, float32, shape (sequences, vocabulary)."""
        return self._model.lm_head(last).float()

    def close(self) -> None:
        """Release the memory."""
        self._model = None
        if self.device.type == "cuda":
            self.torch.cuda.empty_cache()

    def _check(self, *_: Any) -> None:
        if self._stopped():
            raise Canceled("canceled while the model was answering")
