"""The vision tower as one graph, for one picture of any size.

Which patches form a window comes in as arrays (``qwen/vision_layout.py``), so that the graph has no loops: a layer with
windows is a dense batch, a layer that looks at the whole picture one fused attention, which needs no memory for the
square of the number of patches where the provider has such a kernel.

In float16 the residual stream stays float32, and so does the last layer's MLP, whose products exceed float16's range in
the published weights.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from hvs_ros.policy.onnx_model.layers import Dense, RmsNorm, rotate
from hvs_ros.policy.onnx_model.weights import Weights
from hvs_ros.policy.qwen.checkpoint import VisionShape

EPSILON = 1e-6
COLOURS = 3
MASKED = -3e4
"""Added to scores of places where no patch is; float16 holds it, and its exponential is 0."""


class VisionGraph(nn.Module):
    """The tower.

    Args:
        weights: of the checkpoint.
        shape: of the tower.
        dtype: of its matrices.
    """

    def __init__(self, weights: Weights, shape: VisionShape, dtype: torch.dtype) -> None:
        super().__init__()
        self._shape, self._dtype = shape, dtype
        source = (shape.hidden, COLOURS, shape.temporal_patch, shape.patch, shape.patch)
        pixels = COLOURS * shape.temporal_patch * shape.patch**2
        # A convolution whose stride is its size is a product.
        name = "visual.patch_embed.proj"
        self.patches = Dense(weights, name, pixels, shape.hidden, dtype, bias=False, source=source)
        self.layers = nn.ModuleList(
            VisionLayer(weights, f"visual.blocks.{i}", shape, dtype, torch.float32 if i == shape.depth - 1 else dtype)
            for i in range(shape.depth)
        )
        merged = shape.hidden * shape.merge**2
        self.norm = RmsNorm(weights, "visual.merger.ln_q", shape.hidden, EPSILON, dtype)
        self.merge_in = Dense(weights, "visual.merger.mlp.0", merged, merged, dtype, bias=True)
        self.merge_out = Dense(weights, "visual.merger.mlp.2", merged, shape.out, dtype, bias=True)

    def forward(
        self,
        pixels: torch.Tensor,
        cosines: torch.Tensor,
        sines: torch.Tensor,
        slots: torch.Tensor,
        filled: torch.Tensor,
        back: torch.Tensor,
    ) -> torch.Tensor:
        """Return what the decoder is given for a picture, shape (tokens, decoder's width).

        Args:
            pixels: float32, shape (patches, numbers of a patch).
            cosines: float32, shape (patches, head width).
            sines: as ``cosines``.
            slots: int64, shape (windows, places).
            filled: bool, shape (windows, places).
            back: int64, shape (patches,).
        """
        windows, places = slots.shape
        chosen = slots.reshape(-1)
        mask = ((1 - filled.to(self._dtype)) * MASKED)[:, None, None, :]
        whole = cosines[None, :, None], sines[None, :, None]
        cut = tuple(turn[chosen].reshape(windows, places, 1, -1) for turn in (cosines, sines))
        x = self.patches(pixels.to(self._dtype)).float()
        in_windows = False
        for number, layer in enumerate(self.layers):
            everywhere = number in self._shape.full_attention
            if everywhere and in_windows:
                x = x.reshape(windows * places, -1)[back]
            elif not everywhere and not in_windows:
                x = x[chosen].reshape(windows, places, -1)
            in_windows = not everywhere
            x = layer(x[None], *whole, None)[0] if everywhere else layer(x, cut[0], cut[1], mask)
        if in_windows:
            x = x.reshape(windows * places, -1)[back]
        x = self.norm(x).reshape(-1, self._shape.hidden * self._shape.merge**2)
        return self.merge_out(functional.gelu(self.merge_in(x)))


class VisionLayer(nn.Module):
    """One layer of the tower.

    Args:
        weights: of the checkpoint.
        name: of the layer in it.
        shape: of the tower.
        dtype: of its matrices.
        inner: of its MLP.
    """

    def __init__(self, weights: Weights, name: str, shape: VisionShape, dtype: torch.dtype, inner: torch.dtype) -> None:
        super().__init__()
        width = shape.hidden
        self._heads, self._head_width = shape.heads, shape.head_width
        self.before_attention = RmsNorm(weights, f"{name}.norm1", width, EPSILON, dtype)
        self.before_mlp = RmsNorm(weights, f"{name}.norm2", width, EPSILON, inner)
        self.qkv = Dense(weights, f"{name}.attn.qkv", width, 3 * width, dtype, bias=True)
        self.out = Dense(weights, f"{name}.attn.proj", width, width, dtype, bias=True)
        self.gate = Dense(weights, f"{name}.mlp.gate_proj", width, shape.inner, inner, bias=True)
        self.up = Dense(weights, f"{name}.mlp.up_proj", width, shape.inner, inner, bias=True)
        self.down = Dense(weights, f"{name}.mlp.down_proj", shape.inner, width, inner, bias=True)

    def forward(
        self, x: torch.Tensor, cosines: torch.Tensor, sines: torch.Tensor, mask: torch.Tensor | None
    ) -> torch.Tensor:
        """Return the stream after the layer, float32 of shape (batch, places, width); without a mask all attend."""
        batch, places, width = x.shape
        qkv = self.qkv(self.before_attention(x)).reshape(batch, places, 3, self._heads, self._head_width)
        q, k, v = qkv.unbind(2)
        q, k = rotate(q, cosines, sines), rotate(k, cosines, sines)
        attended = self._fused(q, k, v) if mask is None else self._windowed(q, k, v, mask)
        x = x + self.out(attended.reshape(batch, places, width)).float()
        h = self.before_mlp(x)
        return x + self.down(functional.silu(self.gate(h)) * self.up(h)).float()

    def _fused(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        flat = tuple(part.flatten(2) for part in (q, k, v))
        attributes = {"num_heads": self._heads, "scale": self._head_width**-0.5}
        return torch.onnx.ops.symbolic(
            "com.microsoft::MultiHeadAttention", flat, attributes, dtype=q.dtype, shape=flat[0].shape, version=1
        )

    def _windowed(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        q, k, v = (part.transpose(1, 2) for part in (q, k, v))
        scores = torch.matmul(q, k.transpose(-1, -2)) * self._head_width**-0.5 + mask
        return torch.matmul(torch.softmax(scores.float(), -1).to(q.dtype), v).transpose(1, 2)
