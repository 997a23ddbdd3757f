"""Which episodes of a benchmark went worst, by a rule that the report states.

First the searches that ended with a wrong answer, farthest from what would have been accepted first; then those that
ended without an answer, those that looked farthest away at the end first. A policy that fails in one scene fails there
again and again, so no scene gives more than two. Searches that the machinery ended are nobody's answer and left out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from hvs_ros.angles import Direction, yaw_difference_deg
from hvs_ros.benchmark.result import EpisodeResult
from hvs_ros.search.scoring import YAW_TOLERANCE_DEG, ScoringMode, accepted_pitch_deg
from hvs_ros.search.task import Target

MOST_OF_A_SCENE = 2
RULE = (
    "Worst first: searches that submitted a wrong direction, by the angle from it to the nearest direction that would "
    "have been accepted (for a path, along the horizon); then searches that ran out of turns, by that angle from where "
    f"the head looked at the end. At most {MOST_OF_A_SCENE} of a scene. Searches that the machinery ended are left out."
)


@dataclass(frozen=True)
class Worst:
    """A failed search.

    Attributes:
        result: of it.
        off_deg: angle from the submitted direction, or from where the head looked at the end, to what would have been
            accepted; NaN where neither is known.
    """

    result: EpisodeResult
    off_deg: float

    @property
    def answered(self) -> bool:
        """A direction was submitted."""
        return self.result.record.submitted is not None


def worst_episodes(results: Sequence[EpisodeResult], mode: ScoringMode, most: int) -> list[Worst]:
    """Return failed searches, the worst first, as ``RULE`` says; equally bad ones by their id.

    Args:
        results: of a run.
        mode: the rule that says what failed.
        most: how many at most.
    """
    failed = sorted((_worst(result) for result in results if result.success(mode) is False), key=_order)
    chosen: list[Worst] = []
    taken: Counter[str] = Counter()
    for one in failed:
        if len(chosen) == most:
            break
        if taken[one.result.scene] < MOST_OF_A_SCENE:
            taken[one.result.scene] += 1
            chosen.append(one)
    return chosen


def angle_off_deg(target: Target, direction: Direction) -> float:
    """Return how far a direction lies outside of what the paper's rule accepts, in degrees; 0 inside.

    For an object it is the angle on the sphere to the nearest accepted direction. For a path, whose pitch does not
    matter, it is the yaw that is missing.
    """
    half = max(target.width_deg / 2, YAW_TOLERANCE_DEG[target.kind])
    outside = max(0.0, abs(yaw_difference_deg(direction.yaw_deg, target.center.yaw_deg)) - half)
    if target.pitch_deg is None:
        return outside
    low, high = accepted_pitch_deg(target)
    if outside == 0.0:
        return max(0.0, low - direction.pitch_deg, direction.pitch_deg - high)
    return _to_meridian_deg(direction.pitch_deg, outside, low, high)


def _to_meridian_deg(pitch_deg: float, yaw_deg: float, low_deg: float, high_deg: float) -> float:
    """Return the angle from a direction to the nearest point of a piece of a meridian that is yaw_deg away."""
    # The cosine of the angle to the meridian's point of pitch p is a sine of p: it is largest at one place or an end.
    pitch, yaw = math.radians(pitch_deg), math.radians(yaw_deg)
    nearest = math.degrees(math.atan2(math.sin(pitch), math.cos(pitch) * math.cos(yaw)))
    candidates = [low_deg, high_deg] + ([nearest] if low_deg < nearest < high_deg else [])
    here = Direction(yaw_deg, pitch_deg)
    return min(here.angle_to_deg(Direction(0.0, candidate)) for candidate in candidates)


def _worst(result: EpisodeResult) -> Worst:
    at = result.record.submitted or result.record.looking
    return Worst(result, math.nan if at is None or result.target is None else angle_off_deg(result.target, at))


def _order(one: Worst) -> tuple[bool, float, str]:
    return not one.answered, 0.0 if math.isnan(one.off_deg) else -one.off_deg, one.result.episode_id
