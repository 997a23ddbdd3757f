"""The parts that both graphs are built of: modules without weights, that know how each weight is made.

Their parameters are made ``placeholders()`` and hold nothing. A graph is traced with them as they are; each weight is
read, converted and written when the graph is saved, so that the memory holds one at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

from hvs_ros.policy.onnx_model.precision import BLOCK
from hvs_ros.policy.onnx_model.quantise import block_scales, pack, packed_shape
from hvs_ros.policy.onnx_model.weights import Weights

Maker = Callable[[], NDArray[np.generic]]
"""Makes the value of a parameter."""


ROWS = 4096
"""Of a matrix, quantised at once."""


def placeholders() -> FakeTensorMode:
    """Return the context in which new tensors have a shape and no content."""
    return FakeTensorMode(allow_non_fake_inputs=True)


class Deferred(nn.Module):
    """A module whose weights are made later. To be built ``with placeholders()``.

    Attributes:
        makers: by parameter.
    """

    def __init__(self) -> None:
        super().__init__()
        self.makers: dict[str, Maker] = {}

    def defer(self, name: str, shape: tuple[int, ...], dtype: torch.dtype, make: Maker) -> None:
        """Declare a parameter."""
        self.register_parameter(name, nn.Parameter(torch.empty(shape, dtype=dtype), requires_grad=False))
        self.makers[name] = make

    def defer_bias(self, weights: Weights, name: str, width: int, dtype: torch.dtype) -> None:
        """Declare the parameter ``bias``, which is None for a width of 0."""
        self.register_parameter("bias", None)
        if width:
            weights.require(f"{name}.bias", (width,))
            self.defer("bias", (width,), dtype, lambda: _numpy(weights.read(f"{name}.bias").to(dtype)))


class Dense(Deferred):
    """A matrix, and perhaps a bias. The matrix is stored as (inputs, outputs), so that nothing is left to transpose.

    Args:
        weights: of the checkpoint.
        name: of the layer in it.
        inputs: width.
        outputs: width.
        dtype: of the weights, the input and the output.
        bias: it has one.
        source: shape of the stored matrix, where it is not (outputs, inputs).
    """

    def __init__(
        self,
        weights: Weights,
        name: str,
        inputs: int,
        outputs: int,
        dtype: torch.dtype,
        *,
        bias: bool,
        source: tuple[int, ...] = (),
    ) -> None:
        super().__init__()
        weights.require(f"{name}.weight", source or (outputs, inputs))
        self.defer(
            "weight",
            (inputs, outputs),
            dtype,
            lambda: _numpy(weights.read(f"{name}.weight").reshape(outputs, inputs).t().to(dtype)),
        )
        self.defer_bias(weights, name, outputs if bias else 0, dtype)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the product, shape (..., outputs)."""
        y = torch.matmul(x, self.weight)
        return y if self.bias is None else y + self.bias


class PackedDense(Deferred):
    """A matrix in 8 or 4 bits (``com.microsoft::MatMulNBits``), and perhaps a bias; see ``Dense``."""

    def __init__(
        self, weights: Weights, name: str, inputs: int, outputs: int, dtype: torch.dtype, *, bits: int, bias: bool
    ) -> None:
        super().__init__()
        self._inputs, self._outputs, self._bits = inputs, outputs, bits
        stored = f"{name}.weight"
        weights.require(stored, (outputs, inputs))
        packed = packed_shape(outputs, inputs, bits)

        # In pieces: what is computed on the way is several times the size of what comes out.
        pieces = [slice(row, row + ROWS) for row in range(0, outputs, ROWS)]

        def scales() -> NDArray[np.generic]:
            matrix = weights.read(stored)
            found = [block_scales(_numpy(matrix[piece].float()), bits) for piece in pieces]
            return _numpy(torch.from_numpy(np.concatenate(found)).to(dtype))

        def numbers() -> NDArray[np.generic]:
            matrix, stored_scales = weights.read(stored), scales().astype(np.float32)
            return np.concatenate([pack(_numpy(matrix[piece].float()), stored_scales[piece], bits) for piece in pieces])

        self.defer("packed", packed, torch.uint8, numbers)
        self.defer("scales", (outputs * packed[1],), dtype, lambda: scales().reshape(-1))
        self.defer_bias(weights, name, outputs if bias else 0, dtype)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the product, shape (..., outputs)."""
        # Computed in the precision of the input: faster kernels of the CPU round that to 8 bits, those of a GPU do not,
        # and what is verified on one has to hold on the other.
        y = torch.onnx.ops.symbolic(
            "com.microsoft::MatMulNBits",
            [x, self.packed, self.scales],
            {"K": self._inputs, "N": self._outputs, "bits": self._bits, "block_size": BLOCK},
            dtype=x.dtype,
            shape=(*x.shape[:-1], self._outputs),
            version=1,
        )
        return y if self.bias is None else y + self.bias


class RmsNorm(Deferred):
    """Root mean square norm: float32 in, ``dtype`` out."""

    def __init__(self, weights: Weights, name: str, width: int, epsilon: float, dtype: torch.dtype) -> None:
        super().__init__()
        self._epsilon, self._dtype = epsilon, dtype
        weights.require(f"{name}.weight", (width,))
        self.defer("weight", (width,), torch.float32, lambda: _numpy(weights.read(f"{name}.weight").float()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the normalised values, of the same shape."""
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self._epsilon)
        return (self.weight * x).to(self._dtype)


def rotate(x: torch.Tensor, cosines: torch.Tensor, sines: torch.Tensor) -> torch.Tensor:
    """Turn queries or keys by their positions, in float32; the second half of a head pairs with the first."""
    wide = x.float()
    first, second = wide.chunk(2, -1)
    return (wide * cosines + torch.cat((-second, first), -1) * sines).to(x.dtype)


def _numpy(tensor: torch.Tensor) -> NDArray[Any]:
    array: NDArray[Any] = tensor.contiguous().numpy()
    return array
