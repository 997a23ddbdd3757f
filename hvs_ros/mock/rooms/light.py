"""What light falls on every surface: lamps with soft shadows, and the darkness of corners.

Computed once on a coarse grid over each surface and looked up between, as in a computer game's light maps. What casts
shadows are plain boxes, axis-aligned: furniture, walls, floor and ceiling; signs and other thin things cast none.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import cv2
import numpy as np

from hvs_ros.mock.rooms.geometry import Array, Shape, Vector

_REACH = 2.5  # [m] beyond which a neighbour no longer darkens a corner
_DIM = 0.008  # light too weak to look for what hides it
_TILE = 12  # points
_AT_ONCE = 16384  # rays times boxes


@dataclass(frozen=True)
class Lamp:
    """A point that shines downwards (and a little to the sides); strong lamps are several of them."""

    position: Vector
    color: tuple[float, float, float]
    power: float


@dataclass(frozen=True)
class Block:
    """An axis-aligned box that casts shadows."""

    low: Vector
    high: Vector


def bake(
    shapes: Sequence[Shape],
    lamps: Sequence[Lamp],
    blocks: Sequence[Block],
    ambient: tuple[float, float, float],
    spacing: float,
    rays: int,
    threads: int = 2,
) -> None:
    """Fill in every shape's ``light``; ``spacing`` [m] between the points, ``rays`` into the open at each."""
    low = np.array([block.low for block in blocks], np.float32).reshape(-1, 3)
    high = np.array([block.high for block in blocks], np.float32).reshape(-1, 3)
    directions = _hemisphere(rays)

    def fill(shape: Shape) -> None:
        # The floor shows where things stand on it: finer, and not smoothed.
        points, normals = shape.patches(spacing / 2 if shape.gloss else spacing)
        light = np.empty(points.shape, np.float32)
        # In tiles, so that each looks only at the boxes and lamps around it.
        for row in range(0, points.shape[0], _TILE):
            for column in range(0, points.shape[1], _TILE):
                tile = slice(row, row + _TILE), slice(column, column + _TILE)
                facing = normals[tile].reshape(-1, 3).astype(np.float32)
                starts = points[tile].reshape(-1, 3).astype(np.float32) + 0.02 * facing
                # What looks down is lit by the floor: more than what looks up is by the ceiling. Corners are darker for
                # the lamps' light too, since half of it comes by way of the walls.
                indirect = (1.0 - 0.3 * facing[:, 2:]) * np.asarray(ambient, np.float32)
                direct = _shine(lamps, starts, facing, low, high)
                found = _openness(starts, facing, directions, low, high)[:, None] * (1.15 * direct + indirect)
                light[tile] = found.reshape(light[tile].shape)
        smooth = min(points.shape[:2]) > 3 and not shape.gloss
        shape.light = cv2.blur(light, (3, 3), borderType=cv2.BORDER_REPLICATE) if smooth else light

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(fill, shapes))


def _hemisphere(count: int) -> Array:
    """Return directions about +z, denser where they count more (cosine), by a golden-angle spiral."""
    k = np.arange(count) + 0.5
    radius, angle = np.sqrt(k / count), k * np.pi * (3 - np.sqrt(5))
    return np.stack((radius * np.cos(angle), radius * np.sin(angle), np.sqrt(1 - k / count)), -1).astype(np.float32)


def _openness(starts: Array, normals: Array, directions: Array, low: Array, high: Array) -> Array:
    """Return how open the space before each point is, 0 to 1."""
    near = _between(starts.min(0) - _REACH, starts.max(0) + _REACH, low, high)
    helper = np.where(
        np.abs(normals[:, 2:]) < 0.9, np.array([[0, 0, 1]], np.float32), np.array([[1, 0, 0]], np.float32)
    )
    a = np.cross(helper, normals)
    a /= np.linalg.norm(a, axis=1, keepdims=True)
    b = np.cross(normals, a)
    basis = np.stack((a, b, normals), 1)
    rays = (directions @ basis).reshape(-1, 3)  # (P * R, 3), each point's rays together
    far = _distance(np.repeat(starts, len(directions), 0), rays, low[near], high[near])
    openness: Array = np.minimum(far / _REACH, 1.0).reshape(len(starts), -1).mean(1)
    return openness


def _shine(lamps: Sequence[Lamp], starts: Array, normals: Array, low: Array, high: Array) -> Array:
    """Return the light (P, 3) that comes straight from the lamps."""
    if not lamps:
        return np.zeros_like(starts)
    places = np.array([lamp.position for lamp in lamps], np.float32)
    power = np.array([lamp.power for lamp in lamps], np.float32)
    to_lamp = places[None] - starts[:, None]
    far = np.linalg.norm(to_lamp, axis=2) + np.float32(1e-6)
    ray = to_lamp / far[:, :, None]
    strength = np.maximum(np.einsum("plk,pk->pl", ray, normals), 0.0)
    strength *= (0.25 + 0.75 * np.maximum(ray[:, :, 2], 0.0)) * power / (far**2 + 0.4)
    point, lamp = np.nonzero(strength > _DIM)
    if point.size:
        lit = places[np.unique(lamp)]
        corner, other = np.minimum(starts.min(0), lit.min(0)), np.maximum(starts.max(0), lit.max(0))
        near = _between(corner, other, low, high)
        hidden = _distance(starts[point], ray[point, lamp], low[near], high[near]) < far[point, lamp] - 0.05
        strength[point[hidden], lamp[hidden]] = 0.0
    return np.asarray(strength @ np.array([lamp.color for lamp in lamps], np.float32))


def _between(corner: Array, other: Array, low: Array, high: Array) -> Array:
    """Return which boxes reach into the space between two corners."""
    return np.asarray(((low <= other) & (high >= corner)).all(1))


def _distance(starts: Array, ray: Array, low: Array, high: Array) -> Array:
    """Return the distance to the first box along each ray, inf where it meets none (slab test)."""
    inverse = 1.0 / np.where(np.abs(ray) < 1e-6, np.float32(1e-6), ray)
    if not len(low):
        return np.full(len(starts), np.inf, np.float32)
    # All boxes at once where that is little to hold, else one after the other; the numbers are the same.
    if len(starts) * len(low) <= _AT_ONCE:
        return np.asarray(_enter(starts.T, inverse.T, low.T[:, :, None], high.T[:, :, None]).min(0))
    first = np.full(len(starts), np.inf, np.float32)
    places, inverses = starts.T, np.ascontiguousarray(inverse.T)
    for one_low, one_high in zip(low, high, strict=True):
        np.minimum(first, _enter(places, inverses, one_low, one_high), out=first)
    return first


def _enter(places: Array, inverses: Array, low: Array, high: Array) -> Array:
    """Return how far rays go until they enter boxes, inf where they do not."""
    (x1, y1, z1), (x2, y2, z2) = (
        [(edge[axis] - places[axis]) * inverses[axis] for axis in range(3)] for edge in (low, high)
    )
    enter = np.maximum(np.maximum(np.minimum(x1, x2), np.minimum(y1, y2)), np.minimum(z1, z2))
    leave = np.minimum(np.minimum(np.maximum(x1, x2), np.maximum(y1, y2)), np.maximum(z1, z2))
    return np.asarray(np.where((leave > enter) & (enter > 0), enter, np.float32(np.inf)))
