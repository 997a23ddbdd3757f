"""Joint states as the core sees them: the values of some joints at one moment, in the URDF's sense."""

from __future__ import annotations

from dataclasses import dataclass

NS = 1_000_000_000
"""Nanoseconds in a second."""

Joints = tuple[float, ...]
"""Angles [rad] (or metres of a sliding joint), in an order that whoever uses them fixes."""


@dataclass(frozen=True)
class JointSample:
    """Where joints are.

    Attributes:
        stamp_ns: when, in nanoseconds of the ROS clock.
        position: rad.
        velocity: rad/s.
    """

    stamp_ns: int
    position: Joints
    velocity: Joints
