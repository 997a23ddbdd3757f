"""Turns shapes into an equirectangular picture: which surface each ray meets first, then its colour.

Rays are cast on a grid finer than the picture and averaged. Visibility is decided for whole blocks of rays per shape;
colour is computed once for each ray, for what it meets. The floor mirrors: its reflection is the room seen from an
eye as far below the floor as the real one is above.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import cv2
import numpy as np

from hvs_ros.mock.rooms.geometry import Array, Quad, Rays, Shape, Vector, bounds_rad
from hvs_ros.mock.rooms.texture import sample

_BAND_ROWS = 128
_EXPOSURE = 1.35


@dataclass(frozen=True)
class Drawing:
    """A finished picture.

    Attributes:
        image: (H, W, 3) BGR uint8.
        ids: (H, W) int16, the index of the shape seen at each pixel's centre, -1 for none.
    """

    image: Array
    ids: Array


def render(shapes: Sequence[Shape], eye: Vector, width: int, supersample: int = 2, threads: int = 2) -> Drawing:
    """Draw the shapes around the eye as a panorama of ``width`` x ``width // 2`` pixels."""
    height = width // 2
    columns = _grid(width * supersample)
    rows = -_grid(height * supersample) / 2
    mirror = _Mirror(shapes, eye, max(width // 2, 8)) if any(shape.gloss for shape in shapes) else None
    image, ids = np.empty((height, width, 3), np.uint8), np.empty((height, width), np.int16)

    def band(start: int) -> None:
        stop = min(start + _BAND_ROWS, height)
        rays = Rays.grid(eye, columns, rows[start * supersample : stop * supersample])
        seen, far = _trace(shapes, rays)
        fine = _develop(_shade(shapes, rays, seen, far, mirror))
        image[start:stop] = cv2.resize(fine, (width, stop - start), interpolation=cv2.INTER_AREA)
        middle = supersample // 2
        ids[start:stop] = seen[middle::supersample, middle::supersample]

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(band, range(0, height, _BAND_ROWS)))
    return Drawing(_bloom(image)[:, :, ::-1].copy(), ids)


def _grid(count: int) -> Array:
    return ((np.arange(count) + 0.5) / count * 2 - 1) * np.pi


def _trace(shapes: Sequence[Shape], rays: Rays) -> tuple[Array, Array]:
    """Return the index of the shape that each ray meets first, and the distance to it."""
    shape_of = np.full((rays.sin_pitch.shape[0], rays.sin_yaw.shape[1]), -1, np.int16)
    nearest = np.full(shape_of.shape, np.inf, np.float32)
    for index, shape in enumerate(shapes):
        for block in _blocks(shape, rays):
            far = shape.hit(rays.part(*block))
            closer = far < nearest[block]
            nearest[block] = np.where(closer, far, nearest[block])
            shape_of[block][closer] = index
    return shape_of, nearest


def _blocks(shape: Shape, rays: Rays) -> list[tuple[slice, slice]]:
    """Return the parts of the grid that may meet the shape."""
    width = rays.sin_yaw.shape[1]
    left, right, low, high = bounds_rad(shape.outline(), rays.origin)
    if isinstance(shape, Quad) and _covers_pole(shape, rays.origin):
        left, right = -np.pi, np.pi
        low, high = (low, np.pi / 2) if high > 0 else (-np.pi / 2, high)
    margin = max(2 * np.pi / width * 2, (right - left) / 60, (high - low) / 60)
    pitches = np.arcsin(np.clip(rays.sin_pitch[:, 0], -1, 1))
    meets = np.flatnonzero((pitches >= low - margin) & (pitches <= high + margin))
    if not meets.size:
        return []
    rows = slice(int(meets[0]), int(meets[-1]) + 1)
    first = int(np.floor((left - margin + np.pi) / (2 * np.pi) * width))
    last = int(np.ceil((right + margin + np.pi) / (2 * np.pi) * width))
    if last - first >= width:
        return [(rows, slice(0, width))]
    spans = [(first + turn, last + turn) for turn in (-width, 0, width)]
    return [(rows, slice(max(a, 0), min(b, width))) for a, b in spans if b > 0 and a < width]


def _covers_pole(quad: Quad, origin: Vector) -> bool:
    normal = np.asarray(quad.normal)
    if abs(normal[2]) < 1e-6:
        return False
    offset = np.asarray(quad.corner) - origin
    foot = np.array([0.0, 0.0, normal @ offset / normal[2]]) - offset
    u, v = foot @ np.asarray(quad.right), foot @ np.asarray(quad.down)
    return bool(0 <= u <= quad.width and 0 <= v <= quad.height)


class _Mirror:
    """The room as the floor mirrors it, for the lower half of the panorama."""

    def __init__(self, shapes: Sequence[Shape], eye: Vector, width: int) -> None:
        above = [shape for shape in shapes if not shape.gloss]
        pitch = (np.arange(width // 4) + 0.5) / (width // 4) * np.pi / 2
        rays = Rays.grid((eye[0], eye[1], -eye[2]), _grid(width), pitch)
        self._image = _shade(above, rays, *_trace(above, rays), None)
        soft = max(1, width // 400)
        self._image = cv2.blur(self._image, (soft, 2 * soft + 1), borderType=cv2.BORDER_REPLICATE)
        self._width = width

    def look(self, directions: Array) -> Array:
        """Return what is mirrored at the rays (N, 3) that go down to the floor."""
        x = (np.arctan2(directions[:, 0], directions[:, 1]) / np.pi + 1) / 2 * self._width - 0.5
        y = np.arcsin(np.clip(-directions[:, 2], 0, 1)) / (np.pi / 2) * (self._width // 4) - 0.5
        return sample(self._image, x, y, cv2.BORDER_REPLICATE)


def _shade(shapes: Sequence[Shape], rays: Rays, seen: Array, far: Array, mirror: _Mirror | None) -> Array:
    """Return the light (H, W, 3), linear, that comes along each ray."""
    width = seen.shape[1]
    pixel = 2 * np.pi / rays.sin_yaw.shape[1]
    flat = seen.ravel()
    order = np.argsort(flat, kind="stable")
    starts = np.searchsorted(flat[order], np.arange(len(shapes) + 1))
    out = np.zeros((flat.size, 3), np.float32)
    for index, shape in enumerate(shapes):
        where = order[starts[index] : starts[index + 1]]
        if not where.size:
            continue
        directions = rays.at(where // width, where % width)
        distance = far.ravel()[where]
        points = directions * distance[:, None] + np.asarray(rays.origin, np.float32)
        u, v, normals = shape.surface(points)
        facing = np.abs(np.einsum("ij,ij->i", directions, normals))
        color = shape.texture.look(u, v, distance * pixel / np.sqrt(np.maximum(facing, 0.02)))
        light = _light(shape, u, v) + np.float32(shape.glow)
        result = color * light
        if shape.gloss and mirror is not None:
            share = shape.gloss * (0.08 + 0.92 * (1 - facing) ** 4)
            result += share[:, None] * (mirror.look(directions) - 0.5 * result)
        out[where] = result
    return out.reshape(*seen.shape, 3)


def _light(shape: Shape, u: Array, v: Array) -> Array:
    if shape.light is None:
        return np.zeros((u.size, 3), np.float32)
    rows, columns = shape.light.shape[:2]
    x, y = u * (columns / shape.width) - 0.5, v * (rows / shape.height) - 0.5
    return sample(shape.light, x, y, cv2.BORDER_REPLICATE)


def _tone_curve() -> Array:
    """Return display values for light in 1/1024: bright parts roll off as on film, then the sRGB curve."""
    light = np.arange(8192) / 1024
    shown = 1 - np.exp(-_EXPOSURE * light)
    coded: Array = np.where(shown < 0.0031, 12.92 * shown, 1.055 * shown ** (1 / 2.4) - 0.055)
    return np.asarray(np.clip(np.rint(255 * coded), 0, 255))


_TONE: Array = _tone_curve().astype(np.uint8)


def _develop(light: Array) -> Array:
    return np.asarray(_TONE[np.clip(light * 1024, 0, 8191).astype(np.int16)])


def _bloom(image: Array) -> Array:
    """Let lamps shine into their surroundings a little, around the seam too."""
    height, width = image.shape[:2]
    small = cv2.resize(image, (max(width // 8, 1), max(height // 8, 1)), interpolation=cv2.INTER_AREA)
    pad = small.shape[1] // 8
    bright = np.maximum(cv2.copyMakeBorder(small, 0, 0, pad, pad, cv2.BORDER_WRAP).astype(np.float32) - 225, 0)
    halo = cv2.GaussianBlur(bright, (0, 0), small.shape[1] / 90)[:, pad:-pad] if pad else bright
    halo = cv2.resize(halo, (width, height), interpolation=cv2.INTER_LINEAR)
    return np.asarray(np.clip(image + 1.2 * halo, 0, 255), np.uint8)


def visible_share(shapes: Sequence[Shape], pieces: Sequence[int], eye: Vector, across: int = 64) -> float:
    """Return how much of some surfaces the eye sees past everything else, 0 to 1."""
    left, right, low, high = bounds_rad(np.concatenate([shapes[piece].outline() for piece in pieces]), eye)
    steps = (np.arange(across) + 0.5) / across
    rays = Rays.grid(eye, left + (right - left) * steps, high + (low - high) * steps)
    target, rest = np.full((across, across), np.inf), np.full((across, across), np.inf)
    for index, shape in enumerate(shapes):
        nearest = target if index in pieces else rest
        np.minimum(nearest, shape.hit(rays), out=nearest)
    there = np.isfinite(target)
    return float((target <= rest)[there].mean()) if there.any() else 0.0


def clear_way(shapes: Sequence[Shape], eye: Vector, left: Vector, right: Vector, samples: int = 32) -> float:
    """Return how much of an opening between two points can be reached in a straight line, 0 to 1."""
    steps = (np.arange(samples) + 0.5) / samples
    points = np.asarray(left) + steps[:, None] * (np.asarray(right) - left) - np.asarray(eye)
    reach = np.hypot(points[:, 0], points[:, 1])
    rays = Rays.grid(eye, np.arctan2(points[:, 0], points[:, 1]), np.radians([-2.0, 2.0]))
    nearest = np.full((2, samples), np.inf)
    for shape in shapes:
        np.minimum(nearest, shape.hit(rays), out=nearest)
    return float((nearest.min(0) > reach - 0.1).mean())
