"""Sampling tables: where in the panorama each pixel of a view lies, fast to make and exact to a few 1e-5 degrees.

The yaw of a view is a shift in longitude, so a table is made for a pitch (and roll) at yaw 0 and serves every yaw and
every panorama of that size. Evaluating two arc tangents for two million pixels would take several times as long as
sampling the picture. But away from the poles longitude and latitude are smooth: on a tile of 240x108 pixels, 8x8 values
at Chebyshev points fix them to float32's own precision, and spreading those to the pixels is a small matrix product.
Near a pole they are not smooth, so nothing is assumed: every tile is checked against the formula at points between its
nodes, and one that misses ``TOLERANCE_DEG`` is quartered, down to tiles where every pixel is computed.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hvs_ros.panorama.camera import Camera
from hvs_ros.panorama.geometry import Floats, direction_of, rotation

Table = NDArray[np.float32]

TOLERANCE_DEG = 5e-5
"""Largest disagreement with the formula that a tile is accepted with, at its check points."""

DEFAULT_CACHE_BYTES = 384 * 1024 * 1024

_NODES = 8
_TILE = (240, 108)
_LAST_TILE = 15


class TableKey(NamedTuple):
    """All that a table depends on.

    Attributes:
        camera: the camera.
        width: the panorama's columns.
        height: the panorama's rows.
        pitch_deg: degrees, up positive.
        roll_deg: degrees, right side down positive.
        exact: pixel centres at half pixels, and rows counted in ``Panorama.padded``; otherwise the published
            environment's geometry, where pixel corners pass for centres, and rows counted in ``Panorama.image``.
    """

    camera: Camera
    width: int
    height: int
    pitch_deg: float
    roll_deg: float
    exact: bool


@dataclass(frozen=True)
class Tables:
    """Panorama coordinates of a view's pixels at yaw 0; whole numbers are the centres of panorama pixels.

    Attributes:
        x: (h, w) columns relative to the panorama's centre column's left edge: add the yaw's shift, then wrap.
        y: (h, w) rows: from 0.5 to height + 0.5 in Panorama.padded if exact, else from 0 to height in Panorama.image.
        x_range: smallest and largest x.
        blind: (h, w) pixels where the lens has no ray, or None.
    """

    x: Table
    y: Table
    x_range: tuple[float, float]
    blind: NDArray[np.bool_] | None

    @property
    def nbytes(self) -> int:
        """Memory held."""
        return self.x.nbytes + self.y.nbytes + (0 if self.blind is None else self.blind.nbytes)


class TableCache:
    """Tables by key, least recently used out first, for any number of threads.

    A table larger than the budget is made and handed out, but not kept. Two threads that miss the same key at once may
    both make it: that costs a few milliseconds, a lock held meanwhile would stall every other view.
    """

    def __init__(self, budget_bytes: int = DEFAULT_CACHE_BYTES) -> None:
        self._budget = budget_bytes
        self._lock = threading.Lock()
        self._tables: OrderedDict[TableKey, Tables] = OrderedDict()
        self._held = 0

    @property
    def nbytes(self) -> int:
        """Memory held."""
        return self._held

    def __len__(self) -> int:
        return len(self._tables)

    def clear(self) -> None:
        """Forget every table."""
        with self._lock:
            self._tables.clear()
            self._held = 0

    def get(self, key: TableKey) -> Tables:
        """Return the tables for key, made if they are not held."""
        with self._lock:
            held = self._tables.get(key)
            if held is not None:
                self._tables.move_to_end(key)
                return held
        made = make_tables(key)
        with self._lock:
            if key not in self._tables and made.nbytes <= self._budget:
                self._tables[key] = made
                self._held += made.nbytes
                while self._held > self._budget:
                    _, dropped = self._tables.popitem(last=False)
                    self._held -= dropped.nbytes
        return made


def make_tables(key: TableKey) -> Tables:
    """Return the tables of a key, computed."""
    return _Builder(key).build()


@lru_cache(maxsize=256)
def _spread(pixels: int) -> Table:
    """Return the (pixels, nodes) matrix from values at Chebyshev points to values at 0, 1, ... pixels - 1."""
    return _lagrange(_nodes(pixels), np.arange(pixels, dtype=float)).astype(np.float32)


@lru_cache(maxsize=256)
def _spread_to_checks(pixels: int) -> Floats:
    """Return the (checks, nodes) matrix to values at the check points."""
    return _lagrange(_nodes(pixels), _checks(pixels))


@lru_cache(maxsize=256)
def _nodes(pixels: int) -> Floats:
    """Return the Chebyshev points of the interval [0, pixels - 1]."""
    half = (pixels - 1) / 2
    points: Floats = half - half * np.cos(np.pi * (np.arange(_NODES) + 0.5) / _NODES)
    return points


def _checks(pixels: int) -> Floats:
    """Return points where the interpolation is worst: between the outermost nodes, and in the middle."""
    half = (pixels - 1) / 2
    points: Floats = half - half * np.cos(np.pi * np.array([0.0, 1.0, _NODES / 2, _NODES - 1.0, _NODES]) / _NODES)
    return points


def _lagrange(nodes: Floats, points: Floats) -> Floats:
    """Return the matrix (points, nodes) of the Lagrange basis."""
    columns = []
    for j, node in enumerate(nodes):
        others = np.delete(nodes, j)
        columns.append(np.prod((points[:, None] - others) / (node - others), axis=1))
    return np.stack(columns, axis=1)


def _pieces(pixels: int, most: int) -> int:
    """Return into how many tiles of at most so many pixels a side is cut, without a rest where that takes few more.

    A rest makes the last tile overhang, and cutting that off again copies the whole table.
    """
    least = -(-pixels // most)
    return next((n for n in range(least, 2 * least + 1) if pixels % n == 0), least)


@lru_cache(maxsize=256)
def _parts(rows: int, values: int) -> int:
    """Return into how many equal parts a product of that many rows is cut.

    Small enough for BLAS to stay on the calling thread: on a busy machine its threads spin longer than they help.
    """
    fitting = (n for n in range(1, rows + 1) if rows % n == 0 and values // n * _TILE[0] <= 2**18)
    return next(fitting, rows)


class _Builder:
    def __init__(self, key: TableKey) -> None:
        self._key = key
        self._turn = rotation(0.0, key.pitch_deg, key.roll_deg).T
        self._offset = 0.5 if key.exact else 0.0
        self._tolerance = TOLERANCE_DEG / 360.0 * key.width
        camera = key.camera
        self._columns = _pieces(camera.width, _TILE[0])
        self._rows = _pieces(camera.height, _TILE[1])
        self._tile_width = -(-camera.width // self._columns)
        self._tile_height = -(-camera.height // self._rows)

    def build(self) -> Tables:
        camera = self._key.camera
        tall, wide = self._tile_height, self._tile_width
        lefts = np.arange(self._columns) * wide
        tops = np.arange(self._rows) * tall
        u = (lefts[:, None] + _nodes(wide)).ravel()
        v = (tops[:, None] + _nodes(tall)).ravel()
        tiles = (self._rows, self._columns)
        x, y = (
            self._smooth_tiles(part)
            for part in self._exact(np.broadcast_to(u, (v.size, u.size)), np.broadcast_to(v[:, None], (v.size, u.size)))
        )
        x = self._unwrapped(x)
        failed = self._failed(x, y, np.tile(lefts, self._rows), np.repeat(tops, self._columns), wide, tall)
        x_map, y_map = (self._spread_grid(part.reshape(*tiles, _NODES, _NODES)) for part in (x, y))
        self._refine(
            x_map, y_map, np.tile(lefts, self._rows)[failed], np.repeat(tops, self._columns)[failed], wide, tall
        )
        x_map, y_map = (np.ascontiguousarray(part[: camera.height, : camera.width]) for part in (x_map, y_map))
        x_range = float(x_map.min()), float(x_map.max())
        blind = None
        if not (np.isfinite(x_range[0]) and np.isfinite(x_range[1])):
            blind = ~(np.isfinite(x_map) & np.isfinite(y_map))
            x_map[blind] = 0.0
            y_map[blind] = 0.0
            x_range = float(x_map.min()), float(x_map.max())
        for part in (x_map, y_map):
            part.flags.writeable = False
        return Tables(x_map, y_map, x_range, blind)

    def _exact(self, i: Floats, j: Floats) -> tuple[Floats, Floats]:
        """Return panorama coordinates of view pixels (column i, row j), x in [-width / 2, width / 2]."""
        key = self._key
        yaw, pitch = direction_of(key.camera.rays(i + self._offset, j + self._offset) @ self._turn)
        return yaw * (key.width / 360.0), (90.0 - pitch) * (key.height / 180.0) + self._offset

    def _smooth_tiles(self, nodes: Floats) -> Floats:
        """Return the grid of nodes (rows x 8, columns x 8) as (tiles, 8, 8)."""
        cut = nodes.reshape(self._rows, _NODES, self._columns, _NODES)
        tiles: Floats = cut.transpose(0, 2, 1, 3).reshape(-1, _NODES, _NODES)
        return tiles

    def _unwrapped(self, x: Floats) -> Floats:
        """Return x (tiles, ...) free of jumps between the panorama's edges within a tile."""
        first = x[:, :1, :1]
        width = self._key.width
        unwrapped: Floats = x - width * np.round((x - first) / width)
        return unwrapped

    def _failed(
        self, x: Floats, y: Floats, lefts: NDArray[np.int_], tops: NDArray[np.int_], wide: int, tall: int
    ) -> NDArray[np.bool_]:
        """Return which tiles, given by their node values (tiles, 8, 8), miss the tolerance at the check points."""
        u, v = _checks(wide), _checks(tall)
        across, down = _spread_to_checks(wide).T, _spread_to_checks(tall)
        true_x, true_y = self._exact(
            np.broadcast_to(lefts[:, None, None] + u, (lefts.size, v.size, u.size)),
            np.broadcast_to(tops[:, None, None] + v[:, None], (lefts.size, v.size, u.size)),
        )
        error_x = np.abs(down @ x @ across - true_x)
        error_x = np.minimum(error_x, np.abs(error_x - self._key.width))
        # Near a pole a column is narrow; what counts is the angle on the sphere.
        error_x = error_x * np.abs(np.sin(np.pi * (true_y - self._offset) / self._key.height))
        error = np.maximum(error_x, np.abs(down @ y @ across - true_y)).max(axis=(1, 2))
        failed: NDArray[np.bool_] = ~(error <= self._tolerance)
        return failed

    def _spread_grid(self, nodes: Floats) -> Table:
        """Return the whole map of tiles (rows, columns, 8, 8), tile by tile, as two matrix products."""
        by_rows = nodes.transpose(0, 2, 1, 3).reshape(self._rows, _NODES, -1).astype(np.float32)
        tall = _spread(self._tile_height) @ by_rows
        rows = self._rows * self._tile_height
        whole: Table = tall.reshape(_parts(rows, tall.size), -1, _NODES) @ _spread(self._tile_width).T
        return whole.reshape(rows, -1)

    def _refine(
        self, x_map: Table, y_map: Table, lefts: NDArray[np.int_], tops: NDArray[np.int_], wide: int, tall: int
    ) -> None:
        """Write the given tiles of the maps again, quartered until they are smooth or small."""
        while lefts.size:
            wide, tall = -(-wide // 2), -(-tall // 2)
            lefts, tops = (
                np.concatenate([lefts, lefts + wide] * 2),
                np.concatenate([tops, tops, tops + tall, tops + tall]),
            )
            # Halves of an odd number of pixels overhang the map; moving them in makes them overlap instead.
            lefts, tops = np.minimum(lefts, x_map.shape[1] - wide), np.minimum(tops, x_map.shape[0] - tall)
            if max(wide, tall) <= _LAST_TILE:
                i = lefts[:, None, None] + np.arange(wide)
                j = tops[:, None, None] + np.arange(tall)[:, None]
                x_map[j, i], y_map[j, i] = self._exact(*np.broadcast_arrays(i, j))
                return
            u = np.broadcast_to((lefts[:, None] + _nodes(wide))[:, None, :], (lefts.size, _NODES, _NODES))
            v = np.broadcast_to((tops[:, None] + _nodes(tall))[:, :, None], (lefts.size, _NODES, _NODES))
            x, y = self._exact(u, v)
            x = self._unwrapped(x)
            failed = self._failed(x, y, lefts, tops, wide, tall)
            for nodes, target in ((x, x_map), (y, y_map)):
                kept: Table = nodes[~failed].astype(np.float32)
                tiles = _spread(tall) @ kept @ _spread(wide).T
                for left, top, tile in zip(lefts[~failed], tops[~failed], tiles, strict=True):
                    target[top : top + tall, left : left + wide] = tile
            lefts, tops = lefts[failed], tops[failed]
