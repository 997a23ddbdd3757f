"""Matrices in 8 or 4 bits, laid out as ONNX Runtime's MatMulNBits reads them.

Each output's row is cut into blocks along the inputs. A block has one scale, chosen such that its value of the largest
magnitude is met exactly by the number range's longer, negative end; zero stays zero.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hvs_ros.policy.onnx_model.precision import BLOCK


def block_count(inputs: int) -> int:
    """Return how many blocks a row of that length is cut into; the last one may be filled up with zeros."""
    return -(-inputs // BLOCK)


def packed_shape(outputs: int, inputs: int, bits: int) -> tuple[int, int, int]:
    """Return the shape of the packed matrix: outputs, blocks, bytes of a block."""
    return outputs, block_count(inputs), BLOCK * bits // 8


def block_scales(weights: NDArray[np.float32], bits: int) -> NDArray[np.float32]:
    """Return the scales of a matrix of shape (outputs, inputs): shape (outputs, blocks)."""
    blocks = _blocks(weights)
    largest = np.take_along_axis(blocks, np.abs(blocks).argmax(-1, keepdims=True), -1)[..., 0]
    return np.asarray(largest / np.float32(-(1 << bits - 1)), np.float32)


def pack(weights: NDArray[np.float32], scales: NDArray[np.float32], bits: int) -> NDArray[np.uint8]:
    """Return the matrix in whole numbers, uint8 of shape ``packed_shape``.

    Args:
        weights: shape (outputs, inputs).
        scales: of its blocks, as they are stored: rounding to float16 is then part of what is evened out here.
        bits: 8 or 4; two numbers of 4 bits share a byte, the earlier one in its lower half.
    """
    half = 1 << bits - 1
    safe = np.where(scales == 0, np.float32(1), scales)[..., None]
    numbers = np.rint(_blocks(weights) / safe)
    numbers += half
    packed = np.clip(numbers, 0, 2 * half - 1, out=numbers).astype(np.uint8)
    if bits == 8:
        return packed
    return np.asarray(packed[..., 0::2] | packed[..., 1::2] << 4, np.uint8)


def unpack(packed: NDArray[np.uint8], scales: NDArray[np.float32], bits: int, inputs: int) -> NDArray[np.float32]:
    """Return what a packed matrix stands for, shape (outputs, inputs)."""
    numbers = packed if bits == 8 else np.stack([packed & 15, packed >> 4], -1).reshape(*packed.shape[:2], -1)
    values = (numbers.astype(np.float32) - np.float32(1 << bits - 1)) * scales[..., None]
    return np.asarray(values.reshape(len(packed), -1)[:, :inputs])


def _blocks(weights: NDArray[np.float32]) -> NDArray[np.float32]:
    outputs, inputs = weights.shape
    count = block_count(inputs)
    if inputs != count * BLOCK:
        weights = np.pad(weights, ((0, 0), (0, count * BLOCK - inputs)))
    return weights.reshape(outputs, count, BLOCK)
