"""Search degrees and REP-103 radians: the only place where the two meet.

Search angles (tasks, prompts, answers, tables) are degrees: yaw to the right positive and circular, reported in
[0, 360); pitch up positive, in [-90, 90]. ROS angles (every message, joint and frame) follow REP-103: radians, yaw to
the left positive, pitch about +y, so nose-down is positive. Names of search angles end in ``_deg``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


def wrap_yaw_deg(yaw_deg: float) -> float:
    """Return the yaw in [0, 360)."""
    wrapped = yaw_deg % 360.0
    # -1e-17 % 360 is 360.0 in floating point.
    return wrapped if wrapped < 360.0 else 0.0


def yaw_difference_deg(to_deg: float, from_deg: float) -> float:
    """Return the shortest turn from one yaw to another, right positive, in [-180, 180)."""
    return wrap_yaw_deg(to_deg - from_deg + 180.0) - 180.0


def clamp_pitch_deg(pitch_deg: float) -> float:
    """Return the pitch limited to [-90, 90]."""
    return max(-90.0, min(90.0, pitch_deg))


@dataclass(frozen=True)
class Direction:
    """A line of sight in search degrees.

    Attributes:
        yaw_deg: degrees, right positive; 0 is the panorama's centre column or the body's forward direction.
        pitch_deg: degrees, up positive.
    """

    yaw_deg: float
    pitch_deg: float

    def normalized(self) -> Direction:
        """Return it with the yaw in [0, 360) and the pitch clamped to [-90, 90]."""
        return Direction(wrap_yaw_deg(self.yaw_deg), clamp_pitch_deg(self.pitch_deg))

    def turned(self, dyaw_deg: float, dpitch_deg: float) -> Direction:
        """Return the direction after a rotation: the yaw wraps, the pitch clamps at +-90."""
        return Direction(self.yaw_deg + dyaw_deg, self.pitch_deg + dpitch_deg).normalized()

    def angle_to_deg(self, other: Direction) -> float:
        """Return the angle between the two lines of sight, in [0, 180] degrees (haversine formula)."""
        a, b = math.radians(self.pitch_deg), math.radians(other.pitch_deg)
        half_yaw = math.radians(yaw_difference_deg(other.yaw_deg, self.yaw_deg)) / 2
        h = math.sin((b - a) / 2) ** 2 + math.cos(a) * math.cos(b) * math.sin(half_yaw) ** 2
        return math.degrees(2 * math.asin(math.sqrt(min(1.0, max(0.0, h)))))

    def nearest_pitch_deg(self, yaw_deg: float) -> float:
        """Return the pitch at which the meridian of a yaw, nadir to zenith, comes nearest to this line of sight."""
        aside = math.cos(math.radians(yaw_difference_deg(yaw_deg, self.yaw_deg)))
        pitch = math.radians(self.pitch_deg)
        return clamp_pitch_deg(math.degrees(math.atan2(math.sin(pitch), math.cos(pitch) * aside)))

    def __str__(self) -> str:
        return f"({self.yaw_deg:.1f}, {self.pitch_deg:.1f})"


def wrap_rad(angle: float) -> float:
    """Return the angle in (-pi, pi]."""
    wrapped = math.remainder(angle, 2 * math.pi)
    return math.pi if wrapped == -math.pi else wrapped


def ros_turn(degrees: float) -> float:
    """Return a difference of search degrees (right or up positive) as radians (left or down positive), not wrapped."""
    return 0.0 - math.radians(degrees)


def search_turn_deg(radians: float) -> float:
    """Return a difference of radians (left or down positive) as search degrees (right or up positive), not wrapped."""
    return 0.0 - math.degrees(radians)


def ros_angles(direction: Direction) -> tuple[float, float]:
    """Return the direction as REP-103 (yaw in (-pi, pi], pitch) [rad]."""
    return wrap_rad(ros_turn(direction.yaw_deg)), ros_turn(direction.pitch_deg)


def search_direction(ros_yaw: float, ros_pitch: float) -> Direction:
    """Return REP-103 angles [rad] as a search direction with the yaw in [0, 360)."""
    return Direction(wrap_yaw_deg(search_turn_deg(ros_yaw)), search_turn_deg(ros_pitch))


Quaternion = tuple[float, float, float, float]
"""A rotation as (x, y, z, w)."""

OPTICAL_IN_GAZE: Quaternion = (-0.5, 0.5, -0.5, 0.5)
"""Rotation of the camera optical frame (z forward, x right, y down) in the gaze frame (x forward) (REP-103)."""


def gaze_quaternion(yaw: float, pitch: float, roll: float = 0.0) -> Quaternion:
    """Return the gaze frame's rotation in the base frame: Rz(yaw) Ry(pitch) Rx(roll), angles in REP-103 radians."""
    sy, cy = math.sin(yaw / 2), math.cos(yaw / 2)
    sp, cp = math.sin(pitch / 2), math.cos(pitch / 2)
    sr, cr = math.sin(roll / 2), math.cos(roll / 2)
    return (
        cy * cp * sr - sy * sp * cr,
        cy * sp * cr + sy * cp * sr,
        sy * cp * cr - cy * sp * sr,
        cy * cp * cr + sy * sp * sr,
    )
