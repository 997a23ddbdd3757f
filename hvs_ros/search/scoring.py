"""Was the target found? The paper's rule, and the published code's where the two differ.

Paper (arXiv 2511.20351): a submission succeeds when it lies within max(width / 2, tolerance) of the box's centre, in
yaw and, for objects, in pitch. The published code differs in one point: where the widened yaw interval crosses yaw 0 it
does not look at the pitch.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from hvs_ros.angles import Direction, clamp_pitch_deg, wrap_yaw_deg, yaw_difference_deg
from hvs_ros.search.task import Target, TaskKind

YAW_TOLERANCE_DEG = {TaskKind.OBJECT: 30.0, TaskKind.PATH: 10.0}
PITCH_TOLERANCE_DEG = 20.0


class ScoringMode(Enum):
    """Which rule decides."""

    PAPER = "paper"
    REFERENCE = "reference"


@dataclass(frozen=True)
class Verdict:
    """How a direction compares with the target.

    Attributes:
        success: by the rule that was asked for.
        yaw_error_deg: shortest turn from the target's centre to the direction, right positive, in [-180, 180).
        pitch_error_deg: from the target's centre up to the direction; None for a path.
    """

    success: bool
    yaw_error_deg: float
    pitch_error_deg: float | None


def score(target: Target, direction: Direction, mode: ScoringMode = ScoringMode.PAPER) -> Verdict:
    """Judge a submitted direction against the target."""
    center = target.center
    yaw_error = yaw_difference_deg(direction.yaw_deg, center.yaw_deg)
    pitch_error = None if target.pitch_deg is None else direction.pitch_deg - center.pitch_deg
    success = _paper(target, yaw_error, pitch_error) if mode is ScoringMode.PAPER else _reference(target, direction)
    return Verdict(success, yaw_error, pitch_error)


def accepted_yaw_deg(target: Target) -> tuple[float, float]:
    """Return the (left, right) yaw interval that succeeds, in [0, 360); left > right where it crosses 0."""
    half = max(target.width_deg / 2, YAW_TOLERANCE_DEG[target.kind])
    yaw = target.center.yaw_deg
    return wrap_yaw_deg(yaw - half), wrap_yaw_deg(yaw + half)


def accepted_pitch_deg(target: Target) -> tuple[float, float]:
    """Return the (low, high) pitch interval that succeeds; all of it for a path."""
    if target.pitch_deg is None:
        return -90.0, 90.0
    low, high = target.pitch_deg
    half = max((high - low) / 2, PITCH_TOLERANCE_DEG)
    return clamp_pitch_deg((low + high) / 2 - half), clamp_pitch_deg((low + high) / 2 + half)


# Annotations are decimal, their sums binary: a submission on the edge of the box counts.
_EDGE_DEG = 1e-6


def _paper(target: Target, yaw_error_deg: float, pitch_error_deg: float | None) -> bool:
    half_yaw = max(target.width_deg / 2, YAW_TOLERANCE_DEG[target.kind])
    if abs(yaw_error_deg) > half_yaw + _EDGE_DEG:
        return False
    if target.pitch_deg is None or pitch_error_deg is None:
        return True
    low, high = target.pitch_deg
    return abs(pitch_error_deg) <= max((high - low) / 2, PITCH_TOLERANCE_DEG) + _EDGE_DEG


def _reference(target: Target, direction: Direction) -> bool:
    """Decide as the published code does, on edges that it computes before it compares."""
    tolerance = YAW_TOLERANCE_DEG[target.kind]
    left, right = target.yaw_deg
    if left > right:
        right += 360.0
    if right - left < 2 * tolerance:
        middle = (left + right) / 2
        left, right = middle - tolerance, middle + tolerance
    left, right = wrap_yaw_deg(left), wrap_yaw_deg(right)
    yaw = wrap_yaw_deg(direction.yaw_deg)
    if left > right:
        return yaw >= left or yaw <= right
    low, high = accepted_pitch_deg(target)
    return left <= yaw <= right and low <= direction.pitch_deg <= high


def difficulty(kind: TaskKind, visible_fraction: float) -> int:
    """Return the level where none is annotated, from how much of the target the first view shows.

    Args:
        kind: object or path.
        visible_fraction: part of the target box inside the first view, 0 to 1; for a path, of its yaw interval.

    Returns:
        Object: 0 easy (at least half is visible), 1 medium (some), 2 hard (none). Path: 0 easy (its direction is
        in view), 1 medium. The benchmark's two harder path levels depend on textual cues and need an annotation.
    """
    if kind is TaskKind.PATH:
        return 0 if visible_fraction >= 0.5 else 1
    if visible_fraction >= 0.5:
        return 0
    return 1 if visible_fraction > 0.0 else 2
