"""The language model as one graph: some tokens on top of a KV cache, logits of the last one.

Attention is ``com.microsoft::GroupQueryAttention``, which appends keys and values to the cache in place: past and
present are bound to one buffer, of which the first ``total`` tokens count, so that going back to an earlier token is a
smaller number and no copy. Rotary positions come in as cosines and sines (``rotary.py``).

In float16 the residual stream is float32.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from hvs_ros.policy.onnx_model.layers import Dense, PackedDense, RmsNorm, rotate
from hvs_ros.policy.onnx_model.precision import Precision
from hvs_ros.policy.onnx_model.weights import HEAD, Weights
from hvs_ros.policy.qwen.checkpoint import DecoderShape


class DecoderGraph(nn.Module):
    """The decoder.

    Args:
        weights: of the checkpoint.
        shape: of the decoder.
        precision: of its matrices.
    """

    def __init__(self, weights: Weights, shape: DecoderShape, precision: Precision) -> None:
        super().__init__()
        dtype = torch.float16 if precision.half else torch.float32
        self.layers = nn.ModuleList(
            DecoderLayer(weights, f"model.layers.{i}", shape, precision, dtype) for i in range(shape.layers)
        )
        self.norm = RmsNorm(weights, "model.norm", shape.hidden, shape.norm_epsilon, dtype)
        name = HEAD.removesuffix(".weight")
        self.head = _matrix(weights, name, shape.hidden, shape.vocabulary, precision, dtype, bias=False)

    def forward(
        self,
        embeddings: torch.Tensor,
        cosines: torch.Tensor,
        sines: torch.Tensor,
        last: torch.Tensor,
        total: torch.Tensor,
        past: list[torch.Tensor],
    ) -> tuple[torch.Tensor, ...]:
        """Return the logits of the last token, float32 of shape (1, vocabulary), and the cache.

        Args:
            embeddings: shape (1, tokens, width).
            cosines: float32, shape (tokens, head width).
            sines: as ``cosines``.
            last: int32, shape (1,): number of tokens in the cache with these, less one.
            total: int32, no dimensions: ``last`` and one.
            past: keys and values by layer, shape (1, key heads, room, head width) each.
        """
        x = embeddings.float()
        present: list[torch.Tensor] = []
        for number, layer in enumerate(self.layers):
            x, key, value = layer(x, cosines[:, None], sines[:, None], last, total, *past[2 * number : 2 * number + 2])
            present += [key, value]
        return self.head(self.norm(x[:, -1])).float(), *present


class DecoderLayer(nn.Module):
    """One layer of the decoder; see ``DecoderGraph``."""

    def __init__(
        self, weights: Weights, name: str, shape: DecoderShape, precision: Precision, dtype: torch.dtype
    ) -> None:
        super().__init__()
        self._shape = shape
        width, kv, inner = shape.hidden, shape.kv_heads * shape.head_width, shape.inner

        def matrix(part: str, inputs: int, outputs: int, *, bias: bool = False) -> nn.Module:
            return _matrix(weights, f"{name}.{part}", inputs, outputs, precision, dtype, bias=bias)

        self.before_attention = RmsNorm(weights, f"{name}.input_layernorm", width, shape.norm_epsilon, dtype)
        self.before_mlp = RmsNorm(weights, f"{name}.post_attention_layernorm", width, shape.norm_epsilon, dtype)
        self.q = matrix("self_attn.q_proj", width, width, bias=True)
        self.k = matrix("self_attn.k_proj", width, kv, bias=True)
        self.v = matrix("self_attn.v_proj", width, kv, bias=True)
        self.out = matrix("self_attn.o_proj", width, width)
        self.gate = matrix("mlp.gate_proj", width, inner)
        self.up = matrix("mlp.up_proj", width, inner)
        self.down = matrix("mlp.down_proj", inner, width)

    def forward(
        self,
        x: torch.Tensor,
        cosines: torch.Tensor,
        sines: torch.Tensor,
        last: torch.Tensor,
        total: torch.Tensor,
        past_key: torch.Tensor,
        past_value: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the stream after the layer, float32 of shape (1, tokens, width), and the layer's cache."""
        shape = self._shape
        h = self.before_attention(x)
        q, k = (
            rotate(part.reshape(*h.shape[:2], -1, shape.head_width), cosines, sines).flatten(2)
            for part in (self.q(h), self.k(h))
        )
        attended, key, value = torch.onnx.ops.symbolic_multi_out(
            "com.microsoft::GroupQueryAttention",
            [q, k, self.v(h), past_key, past_value, last, total],
            {
                "num_heads": shape.heads,
                "kv_num_heads": shape.kv_heads,
                "scale": shape.head_width**-0.5,
                "do_rotary": 0,
            },
            dtypes=(q.dtype, q.dtype, q.dtype),
            # With one buffer for both, the cache does not change its shape.
            shapes=(q.shape, past_key.shape, past_value.shape),
            version=1,
        )
        x = x + self.out(attended).float()
        h = self.before_mlp(x)
        return x + self.down(functional.silu(self.gate(h)) * self.up(h)).float(), key, value


def _matrix(
    weights: Weights,
    name: str,
    inputs: int,
    outputs: int,
    precision: Precision,
    dtype: torch.dtype,
    *,
    bias: bool,
) -> nn.Module:
    if precision.quantised:
        return PackedDense(weights, name, inputs, outputs, dtype, bits=precision.bits, bias=bias)
    return Dense(weights, name, inputs, outputs, dtype, bias=bias)
