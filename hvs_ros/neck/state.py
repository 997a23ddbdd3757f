"""Where a gaze is and how fast it turns."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class GazeState:
    """Joint angles of a head at one moment, REP-103: yaw left positive, pitch down positive.

    Attributes:
        yaw: rad, not wrapped: a joint without a stop may have turned more than once.
        pitch: rad.
        yaw_velocity: rad/s.
        pitch_velocity: rad/s.
        roll: rad about the line of sight, right side down positive; 0 for a head that has no such axis.
    """

    yaw: float
    pitch: float
    yaw_velocity: float = 0.0
    pitch_velocity: float = 0.0
    roll: float = 0.0
