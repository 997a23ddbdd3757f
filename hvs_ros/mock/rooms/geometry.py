"""The shapes a room is made of, and where they appear around the eye.

World frame: x right, y forward (yaw 0), z up, metres, the floor at z = 0. A ray is given by its yaw and pitch, so on a
grid of an equirectangular picture every dot product with a ray's direction is a sum of an outer product: shapes are
hit by whole blocks of pixels at once without ever forming the directions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from hvs_ros.mock.rooms.texture import Texture

Array = npt.NDArray[Any]
Vector = tuple[float, float, float]


@dataclass(frozen=True)
class Rays:
    """Rays from one point over a grid of yaws (columns) and pitches (rows)."""

    origin: Vector
    sin_yaw: Array
    cos_yaw: Array
    sin_pitch: Array
    cos_pitch: Array

    @staticmethod
    def grid(origin: Vector, yaw: Array, pitch: Array) -> Rays:
        """Return rays for yaws (W,) and pitches (H,) [rad], right and up positive."""
        y, p = yaw.astype(np.float32)[None, :], pitch.astype(np.float32)[:, None]
        return Rays(origin, np.sin(y), np.cos(y), np.sin(p), np.cos(p))

    def part(self, rows: slice, columns: slice) -> Rays:
        """Return some of the rows and columns."""
        return Rays(
            self.origin,
            self.sin_yaw[:, columns],
            self.cos_yaw[:, columns],
            self.sin_pitch[rows],
            self.cos_pitch[rows],
        )

    def at(self, rows: Array, columns: Array) -> Array:
        """Return unit directions (N, 3) of single pixels."""
        c = self.cos_pitch[rows, 0]
        return np.stack((self.sin_yaw[0, columns] * c, self.cos_yaw[0, columns] * c, self.sin_pitch[rows, 0]), -1)

    def along(self, axis: Vector) -> Array:
        """Return the direction's component (H, W) along an axis; one row or one column where that is enough."""
        x, y, z = axis
        flat = self.cos_pitch * (x * self.sin_yaw + y * self.cos_yaw) if x or y else 0.0
        return flat + z * self.sin_pitch if z else np.asarray(flat, np.float32)


class Shape(Protocol):
    """What the renderer needs from a surface.

    Attributes:
        texture: its colours.
        glow: light of its own, added to what falls on it.
        gloss: how much a floor mirrors, 0 to 1.
        light: what falls on it, (gh, gw, 3), filled by :func:`hvs_ros.mock.rooms.light.bake`.
        width, height: its extent on the texture [m].
    """

    texture: Texture
    width: float
    height: float
    glow: float
    gloss: float
    light: Array | None

    def outline(self) -> Array:
        """Return points (N, 3) whose directions bound the shape's, seen from anywhere outside it."""

    def hit(self, rays: Rays) -> Array:
        """Return the distance (H, W) to the surface, inf where it is missed."""

    def surface(self, points: Array) -> tuple[Array, Array, Array]:
        """Return u (N,), v (N,) [m] on the texture and unit normals (N, 3) at points on the surface."""

    def patches(self, spacing: float) -> tuple[Array, Array]:
        """Return points and outward normals (gh, gw, 3) where the light is computed."""


def _dot(a: Vector, b: Vector) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@dataclass
class Quad:
    """A rectangle from its top left corner; ``right`` and ``down`` are unit vectors as the viewer sees them."""

    corner: Vector
    right: Vector
    down: Vector
    width: float
    height: float
    texture: Texture
    glow: float = 0.0
    gloss: float = 0.0
    light: Array | None = field(default=None, repr=False)

    @property
    def normal(self) -> Vector:
        """Towards the viewer."""
        (a, b, c), (d, e, f) = self.down, self.right
        return b * f - c * e, c * d - a * f, a * e - b * d

    def point(self, u: float, v: float) -> Vector:
        """Return the point u metres right and v metres down of the corner."""
        c, r, d = self.corner, self.right, self.down
        return c[0] + u * r[0] + v * d[0], c[1] + u * r[1] + v * d[1], c[2] + u * r[2] + v * d[2]

    def outline(self) -> Array:
        """As :meth:`Shape.outline`."""
        s = np.linspace(0.0, 1.0, 65)
        one, none = np.ones_like(s), np.zeros_like(s)
        u = np.concatenate((s, one, s, none)) * self.width
        v = np.concatenate((none, s, one, s)) * self.height
        if self.texture.cut_out:
            u, v = self.texture.edge()
        points: Array = (
            np.asarray(self.corner) + u[:, None] * np.asarray(self.right) + v[:, None] * np.asarray(self.down)
        )
        return points

    def hit(self, rays: Rays) -> Array:
        """As :meth:`Shape.hit`."""
        offset = tuple(c - o for c, o in zip(self.corner, rays.origin, strict=True))
        normal = self.normal
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            t = _dot(normal, offset) / rays.along(normal)  # type: ignore[arg-type]
            u = t * rays.along(self.right) - _dot(self.right, offset)  # type: ignore[arg-type]
            v = t * rays.along(self.down) - _dot(self.down, offset)  # type: ignore[arg-type]
            inside = (t > 1e-3) & (u >= 0) & (u <= self.width) & (v >= 0) & (v <= self.height)
        if self.texture.cut_out:
            inside &= self.texture.opaque(np.where(inside, u, 0), np.where(inside, v, 0))
        return np.where(inside, t, np.float32(np.inf))

    def surface(self, points: Array) -> tuple[Array, Array, Array]:
        """As :meth:`Shape.surface`."""
        offset = points - np.asarray(self.corner, np.float32)
        normals = np.broadcast_to(np.asarray(self.normal, np.float32), points.shape)
        return offset @ np.asarray(self.right, np.float32), offset @ np.asarray(self.down, np.float32), normals

    def patches(self, spacing: float) -> tuple[Array, Array]:
        """As :meth:`Shape.patches`."""
        u = _cells(self.width, spacing) * self.width
        v = _cells(self.height, spacing) * self.height
        points = (
            np.asarray(self.corner)
            + u[None, :, None] * np.asarray(self.right)
            + v[:, None, None] * np.asarray(self.down)
        )
        return points, np.broadcast_to(np.asarray(self.normal), points.shape)


@dataclass
class Cylinder:
    """The upright side of a pillar, a bin, a bottle; its lid is a cut-out quad."""

    center: tuple[float, float]
    radius: float
    low: float
    high: float
    texture: Texture
    glow: float = 0.0
    gloss: float = 0.0
    light: Array | None = field(default=None, repr=False)
    width: float = field(init=False)
    height: float = field(init=False)

    def __post_init__(self) -> None:
        self.width, self.height = 2 * math.pi * self.radius, self.high - self.low

    def outline(self) -> Array:
        """As :meth:`Shape.outline`."""
        a = np.linspace(0, 2 * np.pi, 257)
        x, y = self.center[0] + self.radius * np.cos(a), self.center[1] + self.radius * np.sin(a)
        return np.concatenate([np.stack((x, y, np.full_like(a, z)), -1) for z in (self.low, self.high)])

    def hit(self, rays: Rays) -> Array:
        """As :meth:`Shape.hit`."""
        x, y = rays.origin[0] - self.center[0], rays.origin[1] - self.center[1]
        half_b = x * rays.sin_yaw + y * rays.cos_yaw
        inner = half_b * half_b - (x * x + y * y - self.radius**2)
        ground = np.where(inner >= 0, -half_b - np.sqrt(np.maximum(inner, 0)), np.float32(np.inf))
        ground = np.where(ground > 1e-3, ground, np.float32(np.inf))
        with np.errstate(invalid="ignore"):
            z = rays.origin[2] + ground * (rays.sin_pitch / rays.cos_pitch)
            inside = (z >= self.low) & (z <= self.high)
            return np.where(inside, ground / rays.cos_pitch, np.float32(np.inf))

    def surface(self, points: Array) -> tuple[Array, Array, Array]:
        """As :meth:`Shape.surface`."""
        x, y = points[:, 0] - self.center[0], points[:, 1] - self.center[1]
        angle = np.mod(np.arctan2(-x, -y), 2 * np.pi)
        normals = np.stack((x, y, np.zeros_like(x)), -1) / self.radius
        return angle * self.radius, self.high - points[:, 2], normals

    def patches(self, spacing: float) -> tuple[Array, Array]:
        """As :meth:`Shape.patches`."""
        a = np.maximum(24, len(_cells(self.width, spacing)))
        angle = (np.arange(a) + 0.5) / a * 2 * np.pi
        z = self.high - _cells(self.height, spacing) * self.height
        normals = np.broadcast_to(np.stack((-np.sin(angle), -np.cos(angle), 0 * angle), -1), (len(z), a, 3))
        base = np.empty((len(z), a, 3))
        base[:, :, :2], base[:, :, 2] = self.center, z[:, None]
        return base + self.radius * normals, normals


@dataclass
class Ball:
    """A sphere: a globe, a lamp's bulb, the crown of a small tree."""

    center: Vector
    radius: float
    texture: Texture
    glow: float = 0.0
    gloss: float = 0.0
    light: Array | None = field(default=None, repr=False)
    width: float = field(init=False)
    height: float = field(init=False)

    def __post_init__(self) -> None:
        self.width, self.height = 2 * math.pi * self.radius, math.pi * self.radius

    def outline(self) -> Array:
        """As :meth:`Shape.outline`."""
        points: Array = np.asarray(self.center) + self.radius * _sphere(33, 64).reshape(-1, 3)
        return points

    def hit(self, rays: Rays) -> Array:
        """As :meth:`Shape.hit`."""
        offset = tuple(o - c for c, o in zip(self.center, rays.origin, strict=True))
        half_b = rays.along(offset)  # type: ignore[arg-type]
        inner = half_b * half_b - (_dot(offset, offset) - self.radius**2)  # type: ignore[arg-type]
        t = -half_b - np.sqrt(np.maximum(inner, 0))
        return np.asarray(np.where((inner >= 0) & (t > 1e-3), t, np.float32(np.inf)))

    def surface(self, points: Array) -> tuple[Array, Array, Array]:
        """As :meth:`Shape.surface`."""
        normals = (points - np.asarray(self.center, np.float32)) / np.float32(self.radius)
        angle = np.mod(np.arctan2(-normals[:, 0], -normals[:, 1]), 2 * np.pi)
        down = np.arccos(np.clip(normals[:, 2], -1, 1))
        return angle * self.radius, down * self.radius, normals

    def patches(self, spacing: float) -> tuple[Array, Array]:
        """As :meth:`Shape.patches`."""
        normals = _sphere(8, 16)
        return np.asarray(self.center) + self.radius * normals, normals


def _cells(length: float, spacing: float) -> Array:
    count = int(np.clip(math.ceil(length / spacing), 2, 240))
    return (np.arange(count) + 0.5) / count


def _sphere(rows: int, columns: int) -> Array:
    a = (np.arange(columns) + 0.5) / columns * 2 * np.pi
    d = ((np.arange(rows) + 0.5) / rows * np.pi)[:, None]
    return np.stack((-np.sin(a) * np.sin(d), -np.cos(a) * np.sin(d), np.cos(d) + 0 * a), -1)


def bounds_rad(points: Array, origin: Vector) -> tuple[float, float, float, float]:
    """Return (left, right, low, high) [rad] of the directions to points; left may be below -pi or right above pi."""
    x, y, z = (points - np.asarray(origin)).T
    yaw = np.arctan2(x, y)
    middle = math.atan2(np.sin(yaw).mean(), np.cos(yaw).mean())
    turn = np.remainder(yaw - middle + np.pi, 2 * np.pi) - np.pi
    pitch = np.arctan2(z, np.hypot(x, y))
    return middle + turn.min(), middle + turn.max(), float(pitch.min()), float(pitch.max())
