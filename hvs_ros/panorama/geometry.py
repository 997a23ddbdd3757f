"""Directions, rotations and the sphere, in double precision: the truth that every faster path is tested against.

Axes are those of a camera's optical frame, kept at yaw 0 for the panorama as well: x right, y down, z forward. A
direction has a yaw (right positive, 0 is the centre column) and a pitch (up positive), in degrees. A roll is positive
when the right side goes down, which is also REP-103's positive roll.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Tilt:
    """How the tripod stood: the attitude of the picture's own axes in level ones, yaw excluded.

    Attributes:
        roll_deg: degrees, positive when the rig leaned to its right.
        pitch_deg: degrees, positive when the rig's forward axis pointed above the horizon.
    """

    roll_deg: float = 0.0
    pitch_deg: float = 0.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.roll_deg) and math.isfinite(self.pitch_deg)):
            raise ValueError(f"tilt ({self.roll_deg}, {self.pitch_deg}) is not finite: give roll and pitch in degrees")

    def __bool__(self) -> bool:
        """A level panorama has no tilt."""
        return self.roll_deg != 0.0 or self.pitch_deg != 0.0


LEVEL = Tilt()
"""No tilt."""


def rotation(yaw_deg: float, pitch_deg: float, roll_deg: float = 0.0) -> Floats:
    """Return the 3x3 rotation Ry(yaw) Rx(pitch) Rz(roll) that takes camera axes to panorama axes."""
    y, p, r = np.radians((yaw_deg, pitch_deg, roll_deg))
    sy, cy, sp, cp, sr, cr = np.sin(y), np.cos(y), np.sin(p), np.cos(p), np.sin(r), np.cos(r)
    turn = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    nod = np.array([[1, 0, 0], [0, cp, -sp], [0, sp, cp]])
    lean = np.array([[cr, -sr, 0], [sr, cr, 0], [0, 0, 1]])
    whole: Floats = turn @ nod @ lean
    return whole


def turns_of(matrix: Floats) -> tuple[float, float, float]:
    """Return (yaw, pitch, roll) in degrees of a rotation; straight up or down, roll is 0 and all turn is yaw."""
    flat = math.hypot(matrix[0, 2], matrix[2, 2])
    pitch = math.atan2(-matrix[1, 2], flat)
    if flat < 1e-9:
        return math.degrees(math.atan2(-matrix[2, 0], matrix[0, 0])), math.degrees(pitch), 0.0
    yaw = math.atan2(matrix[0, 2], matrix[2, 2])
    roll = math.atan2(matrix[1, 0], matrix[1, 1])
    return math.degrees(yaw), math.degrees(pitch), math.degrees(roll)


def view_in_picture(yaw_deg: float, pitch_deg: float, roll_deg: float, tilt: Tilt) -> tuple[float, float, float]:
    """Return the (yaw, pitch, roll) in the picture's own axes of a view given in level axes, in degrees."""
    if not tilt:
        return yaw_deg, pitch_deg, roll_deg
    level_of_picture = rotation(0.0, tilt.pitch_deg, tilt.roll_deg)
    return turns_of(level_of_picture.T @ rotation(yaw_deg, pitch_deg, roll_deg))


def direction_of(vectors: Floats) -> tuple[Floats, Floats]:
    """Return yaw in [-180, 180] and pitch in [-90, 90] degrees of vectors (..., 3) of any length."""
    x, y, z = vectors[..., 0], vectors[..., 1], vectors[..., 2]
    return np.degrees(np.arctan2(x, z)), np.degrees(np.arctan2(-y, np.hypot(x, z)))


def vector_of(yaw_deg: ArrayLike, pitch_deg: ArrayLike) -> Floats:
    """Return unit vectors (..., 3) of directions in degrees."""
    yaw, pitch = np.radians(np.asarray(yaw_deg, float)), np.radians(np.asarray(pitch_deg, float))
    flat = np.cos(pitch)
    return np.stack(np.broadcast_arrays(np.sin(yaw) * flat, -np.sin(pitch), np.cos(yaw) * flat), axis=-1)
