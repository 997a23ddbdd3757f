"""Pictures on surfaces: looked up smoothly at every distance, and the materials of floors and walls."""

from __future__ import annotations

import copy
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Color = tuple[int, int, int]

_LINEAR = np.where(
    np.arange(256) / 255 <= 0.04045, np.arange(256) / 255 / 12.92, ((np.arange(256) / 255 + 0.055) / 1.055) ** 2.4
).astype(np.float32)


def shade(color: Color, factor: float) -> Color:
    """Return a darker or a lighter colour."""
    r, g, b = (min(int(c * factor), 255) for c in color)
    return r, g, b


def sample(image: Array, x: Array, y: Array, border: int) -> Array:
    """Return the image's bilinear values (N, C) at N positions in pixels."""
    columns = 2048
    rows = -(-x.size // columns)
    maps = np.zeros((2, rows * columns), np.float32)
    maps[0, : x.size], maps[1, : x.size] = x, y
    x_map, y_map = maps.reshape(2, rows, columns)
    found: Array = np.asarray(cv2.remap(image, x_map, y_map, cv2.INTER_LINEAR, borderMode=border))
    return found.reshape(rows * columns, -1)[: x.size]


class Texture:
    """An RGB picture of so many pixels a metre, with smaller copies for the distance.

    Args:
        image: (H, W, 3) RGB uint8, or (H, W, 4) where pixels of alpha below 128 are holes.
        per_metre: pixels a metre, along x and y.
        repeat: whether it tiles the surface, or stretches its last row and column beyond its end.
    """

    def __init__(self, image: Array, per_metre: tuple[float, float], repeat: bool = False) -> None:
        self.cut_out = image.shape[2] == 4
        self._alpha = image[:, :, 3] if self.cut_out else None
        self._per_metre = per_metre
        self._shift = (0.0, 0.0)
        self._border = cv2.BORDER_WRAP if repeat else cv2.BORDER_REPLICATE
        self._levels = [np.ascontiguousarray(image[:, :, :3])]
        while min(self._levels[-1].shape[:2]) > 1:
            rows, columns = self._levels[-1].shape[:2]
            half = (max(columns // 2, 1), max(rows // 2, 1))
            self._levels.append(cv2.resize(self._levels[-1], half, interpolation=cv2.INTER_AREA))

    @staticmethod
    def plain(color: Color) -> Texture:
        """Return one colour."""
        return Texture(np.full((1, 1, 3), color, np.uint8), (1.0, 1.0))

    @staticmethod
    def fitted(image: Array, width: float, height: float) -> Texture:
        """Return the picture stretched over a surface of that size [m]."""
        return Texture(image, (image.shape[1] / width, image.shape[0] / height))

    def shifted(self, u: float, v: float) -> Texture:
        """Return the same for a piece of a surface that begins u, v [m] from the whole one's corner."""
        other = copy.copy(self)
        other._shift = (u, v)
        return other

    def opaque(self, u: Array, v: Array) -> Array:
        """Return where the picture has no hole."""
        assert self._alpha is not None
        x = np.clip((u * self._per_metre[0]).astype(np.int32), 0, self._alpha.shape[1] - 1)
        y = np.clip((v * self._per_metre[1]).astype(np.int32), 0, self._alpha.shape[0] - 1)
        return np.asarray(self._alpha[y, x] >= 128)

    def edge(self) -> tuple[Array, Array]:
        """Return points u, v [m] around what is left between the holes."""
        assert self._alpha is not None
        solid = self._alpha >= 128
        rows = np.flatnonzero(solid.any(1))
        first, end = solid[rows].argmax(1), solid.shape[1] - solid[rows, ::-1].argmax(1)
        x, y = np.concatenate((first, first, end, end)), np.concatenate((rows, rows + 1, rows, rows + 1))
        return x / self._per_metre[0], y / self._per_metre[1]

    def look(self, u: Array, v: Array, footprint: Array) -> Array:
        """Return linear colours (N, 3) in 0..1 at u, v [m], each averaged over about ``footprint`` metres."""
        full = self._levels[0]
        if full.shape[:2] == (1, 1):
            return np.broadcast_to(_LINEAR[full[0, 0]], (u.size, 3))
        texels = footprint * np.float32((self._per_metre[0] * self._per_metre[1]) ** 0.5)
        level = np.clip(np.rint(np.log2(np.maximum(texels, 1e-6))), 0, len(self._levels) - 1).astype(np.int8)
        out = np.empty((u.size, 3), np.float32)
        for number in np.unique(level):
            image = self._levels[number]
            here = level == number
            x = (u[here] + self._shift[0]) * (self._per_metre[0] * image.shape[1] / full.shape[1])
            y = (v[here] + self._shift[1]) * (self._per_metre[1] * image.shape[0] / full.shape[0])
            if self._border == cv2.BORDER_WRAP:
                x, y = np.mod(x, image.shape[1]), np.mod(y, image.shape[0])
            out[here] = _LINEAR[sample(image, x - 0.5, y - 0.5, self._border)]
        return out


def noise(rng: np.random.Generator, size: int, cells: int) -> Array:
    """Return smooth noise (size, size) in -1..1 that tiles, with so many bumps across."""
    coarse = rng.uniform(-1, 1, (cells, cells)).astype(np.float32)
    padded = cv2.copyMakeBorder(coarse, 2, 2, 2, 2, cv2.BORDER_WRAP)
    step = size // cells
    fine = cv2.resize(padded, None, fx=step, fy=step, interpolation=cv2.INTER_CUBIC)
    return np.asarray(fine)[2 * step : 2 * step + size, 2 * step : 2 * step + size]


def _tinted(color: Color, value: Array) -> Array:
    tinted: Array = np.clip(np.asarray(color, np.float32) * (1 + value[:, :, None]), 0, 255)
    return tinted.astype(np.uint8)


def plaster(rng: np.random.Generator, color: Color, strength: float = 0.025) -> Texture:
    """Return a painted wall, 4 m to a tile."""
    value = strength * (noise(rng, 256, 4) + 0.5 * noise(rng, 256, 16))
    return Texture(_tinted(color, value), (64, 64), repeat=True)


def tiles(rng: np.random.Generator, color: Color, joint: Color, size: float = 0.6, vary: float = 0.05) -> Texture:
    """Return square tiles of ``size`` metres with joints; a pattern of 8 x 8."""
    per_tile = 64
    value = np.kron(rng.uniform(-vary, vary, (8, 8)), np.ones((per_tile, per_tile))) + 0.02 * noise(rng, 512, 64)
    image = _tinted(color, value)
    for k in range(8):
        image[k * per_tile : k * per_tile + 2] = joint
        image[:, k * per_tile : k * per_tile + 2] = joint
    return Texture(image, (per_tile / size, per_tile / size), repeat=True)


def planks(rng: np.random.Generator, color: Color, width: float = 0.16, vary: float = 0.1) -> Texture:
    """Return wooden boards along v, with a grain; a pattern of 8 boards."""
    board = 32
    image = np.empty((512, 8 * board, 3), np.uint8)
    grain = cv2.resize(rng.uniform(-1, 1, (16, 8 * board)).astype(np.float32), (8 * board, 512))
    for k in range(8):
        columns = slice(k * board, (k + 1) * board)
        shift = int(rng.integers(512))
        value = rng.uniform(-vary, vary) + 0.05 * np.roll(grain[:, columns], shift, 0)
        image[:, columns] = _tinted(color, value)
        image[:, k * board] = image[:, k * board] // 2
        image[shift : shift + 2, columns] = image[shift : shift + 2, columns] // 2
    return Texture(image, (board / width, board / width / 2), repeat=True)


def carpet(rng: np.random.Generator, color: Color) -> Texture:
    """Return a mottled carpet, 2 m to a tile."""
    value = 0.05 * noise(rng, 256, 8) + 0.06 * noise(rng, 256, 128)
    return Texture(_tinted(color, value), (128, 128), repeat=True)


def bricks(rng: np.random.Generator, color: Color, joint: Color) -> Texture:
    """Return a brick wall of 0.24 m x 0.08 m bricks."""
    image = np.empty((256, 384, 3), np.uint8)
    image[:] = joint
    for row in range(16):
        for column in range(9):
            x = column * 48 - (24 if row % 2 else 0)
            value = np.full((1, 1), rng.uniform(-0.14, 0.1))
            image[row * 16 + 2 : row * 16 + 16, max(x + 2, 0) : max(x + 48, 0)] = _tinted(color, value)
        if row % 2:  # the last half brick continues at the left edge
            image[row * 16 + 2 : row * 16 + 16, :24] = image[row * 16 + 2, 380]
    return Texture(image, (200, 200), repeat=True)
