"""From pixels of a view to directions on the sphere and back, single points and boxes, exact and vectorised.

Everything is in level axes: a panorama's tilt does not matter here, since the sampler has already taken it out of the
view. Pixel coordinates are continuous (camera.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hvs_ros.angles import Direction
from hvs_ros.panorama.camera import Camera
from hvs_ros.panorama.geometry import Floats, direction_of, rotation, vector_of

_EDGE_POINTS = 256


class PanoramaBox(NamedTuple):
    """A box on the sphere in search degrees.

    Attributes:
        yaw_deg: (..., 2) left and right edge in [0, 360); left > right where it crosses yaw 0; (0, 360) is the circle.
        pitch_deg: (..., 2) low and high edge.
    """

    yaw_deg: Floats
    pitch_deg: Floats


def pixel_to_direction(
    camera: Camera, direction: Direction, u: ArrayLike, v: ArrayLike, roll_deg: float = 0.0
) -> tuple[Floats, Floats]:
    """Return yaw in [0, 360) and pitch, in degrees, of what a view shows at continuous pixel coordinates.

    Returns:
        Two arrays of the broadcast shape of u and v; NaN where the lens has no ray.
    """
    turn = rotation(direction.yaw_deg, direction.pitch_deg, roll_deg)
    yaw, pitch = direction_of(camera.rays(u, v) @ turn.T)
    return _circular(yaw), pitch


def direction_to_pixel(
    camera: Camera, direction: Direction, yaw_deg: ArrayLike, pitch_deg: ArrayLike, roll_deg: float = 0.0
) -> tuple[Floats, Floats]:
    """Return the continuous pixel coordinates (u, v) at which a view shows directions given in degrees.

    They may lie outside the picture (``camera.contains(u, v)`` tells); both are NaN for what is behind the camera.
    """
    turn = rotation(direction.yaw_deg, direction.pitch_deg, roll_deg)
    return camera.project(vector_of(yaw_deg, pitch_deg) @ turn)


def view_box_to_panorama(camera: Camera, direction: Direction, box: ArrayLike, roll_deg: float = 0.0) -> PanoramaBox:
    """Return the smallest yaw/pitch boxes around pixel boxes of a view.

    Args:
        camera: the camera.
        direction: where it looks.
        box: (..., 4): left, top, right, bottom in continuous pixel coordinates.
        roll_deg: the camera's roll.

    Returns:
        Boxes with edges within 0.001 degrees for boxes inside the benchmark's views. A box that contains a pole spans
        the circle and reaches +-90; NaN where the lens has no ray on the box's border.
    """
    left, top, right, bottom = np.moveaxis(np.asarray(box, float), -1, 0)
    if np.any(right < left) or np.any(bottom < top):
        raise ValueError("a view box has its right edge left of its left one or its bottom above its top")
    u, v = _border(left, top, right, bottom)
    yaw, pitch = pixel_to_direction(camera, direction, u, v, roll_deg)
    steps = (np.diff(yaw, axis=-1) + 180.0) % 360.0 - 180.0
    turned = np.concatenate([np.zeros_like(yaw[..., :1]), np.cumsum(steps, axis=-1)], axis=-1)
    low, high = _extremes(pitch)
    least, most = _extremes(turned)
    start = yaw[..., 0]
    around = np.abs(turned[..., -1]) > 180.0
    for pole, pitch_deg in ((+1, 90.0), (-1, -90.0)):
        pole_u, pole_v = direction_to_pixel(camera, direction, 0.0, pitch_deg, roll_deg)
        inside = (left <= pole_u) & (pole_u <= right) & (top <= pole_v) & (pole_v <= bottom)
        around = around | inside
        low, high = (low, np.where(inside, 90.0, high)) if pole > 0 else (np.where(inside, -90.0, low), high)
    edges = np.stack(
        [
            np.where(around, 0.0, _circular(start + least)),
            np.where(around, 360.0, _circular(start + most)),
        ],
        axis=-1,
    )
    return PanoramaBox(edges, np.stack([low, high], axis=-1))


def visible_fraction(
    camera: Camera,
    direction: Direction,
    yaw_box: Sequence[float],
    pitch_box: Sequence[float] | None = None,
    roll_deg: float = 0.0,
    samples: int = 96,
) -> float:
    """Return how much of a box on the sphere a view shows, by solid angle, in [0, 1].

    Args:
        camera: the camera.
        direction: where it looks.
        yaw_box: (left, right) edge in degrees; left > right crosses yaw 0.
        pitch_box: (low, high) edge in degrees; None for a path: then its interval on the horizon counts.
        roll_deg: the camera's roll.
        samples: points along each side of the box.
    """
    left, right = float(yaw_box[0]), float(yaw_box[1])
    width = right - left if right >= left else right - left + 360.0
    steps = (np.arange(samples) + 0.5) / samples
    low, high = (0.0, 0.0) if pitch_box is None else (float(pitch_box[0]), float(pitch_box[1]))
    pitch = np.zeros(1) if pitch_box is None else low + (high - low) * steps
    u, v = direction_to_pixel(camera, direction, left + width * steps, pitch[:, None], roll_deg)
    weights = np.broadcast_to(np.cos(np.radians(pitch))[:, None], u.shape)
    return float((camera.contains(u, v) * weights).sum() / weights.sum())


def _circular(yaw_deg: Floats) -> Floats:
    wrapped = np.mod(yaw_deg, 360.0)
    # A tiny negative angle's remainder is 360.0 in floating point.
    circular: Floats = np.where(wrapped >= 360.0, 0.0, wrapped)
    return circular


def _border(left: Floats, top: Floats, right: Floats, bottom: Floats) -> tuple[Floats, Floats]:
    """Return points (..., 4 n + 1) around boxes, closed."""
    t = np.arange(_EDGE_POINTS) / _EDGE_POINTS
    one, zero = np.ones_like(t), np.zeros_like(t)
    across = np.concatenate([t, one, 1 - t, zero, zero[:1]])
    down = np.concatenate([zero, t, one, 1 - t, zero[:1]])
    u = left[..., None] + (right - left)[..., None] * across
    v = top[..., None] + (bottom - top)[..., None] * down
    return u, v


def _extremes(values: Floats) -> tuple[Floats, Floats]:
    """Return minimum and maximum of curves along the last axis, refined by a parabola within each edge."""
    parts = [values[..., i * _EDGE_POINTS : (i + 1) * _EDGE_POINTS + 1] for i in range(4)]
    curves = np.stack(parts, axis=-2)
    before, here, after = curves[..., :-2], curves[..., 1:-1], curves[..., 2:]
    slope, bend = (after - before) / 2, after - 2 * here + before
    with np.errstate(divide="ignore", invalid="ignore"):
        tip = here - slope**2 / (2 * bend)
        is_tip = np.abs(slope) <= np.abs(bend)
    tips = np.where(is_tip, tip, here)
    axes = (-2, -1)
    return (
        np.minimum(curves.min(axis=axes), np.where(bend > 0, tips, here).min(axis=axes)),
        np.maximum(curves.max(axis=axes), np.where(bend < 0, tips, here).max(axis=axes)),
    )
