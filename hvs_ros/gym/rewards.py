"""What an episode is rewarded with: correctness, format and distance to the goal.

The paper names these three (appendix V of arXiv 2511.20351); what they are here follows the published environment's
code (``vagen/env/hstar/env.py``) and its training settings (``scripts/examples/masked_grpo/hstar``). Each term is a
function of its own, of numbers only, so that it can be read, tested and replaced alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from numbers import Real

from hvs_ros.angles import Direction, yaw_difference_deg
from hvs_ros.search.scoring import accepted_pitch_deg, accepted_yaw_deg
from hvs_ros.search.task import Target


@dataclass(frozen=True)
class RewardWeights:
    """How much each term counts; the defaults are the published training's.

    Attributes:
        correctness: paid with a right submission (published: traj_success_reward).
        wrong: paid with a wrong one, so negative if it is to hurt (traj_fail_penalty).
        format: paid with a submission when every answer of the episode was in the format (format_reward).
        progress: times ``approach`` where that is positive (effective_reward_weight).
        regress: times ``approach`` where it is not, so positive if it is to hurt (ineffective_penalty_weight).

    Raises:
        ValueError: a weight that is no finite number.
    """

    correctness: float = 0.5
    wrong: float = 0.0
    format: float = 0.5
    progress: float = 0.0
    regress: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            weight = getattr(self, field.name)
            if isinstance(weight, bool) or not isinstance(weight, Real) or not math.isfinite(weight):
                raise ValueError(f"the reward weight {field.name} is {weight!r}; give a finite number")

    @classmethod
    def of(cls, given: Mapping[str, float] | None) -> RewardWeights:
        """Return the weights that are given, and the defaults of the others.

        Raises:
            ValueError: a weight that is not known, or no number.
        """
        known = [field.name for field in fields(cls)]
        unknown = next((name for name in given or {} if name not in known), None)
        if unknown is not None:
            raise ValueError(f"there is no reward weight {unknown!r}; there are {', '.join(known)}")
        return cls(**(given or {}))


def correctness(success: bool, weights: RewardWeights) -> float:
    """Return what a submission earns for its direction: ``success ? correctness : wrong``.

    As in the published code: once, with the submission. Which rule decides on success is the environment's ``scoring``.

    Args:
        success: the submitted direction is right.
        weights: of the terms.
    """
    return weights.correctness if success else weights.wrong


def well_formed_episode(every_answer: bool, weights: RewardWeights) -> float:
    """Return what a submission, right or wrong, earns for its format: ``every answer in the format ? format : 0``.

    The published code means the same but does not pay it: ``reset`` sets the amount to 0. There it would also be paid
    before the submission's own format is looked at, which counts here as any other answer's.

    Args:
        every_answer: each answer so far, the submission included, held a valid action and nothing but the format.
        weights: of the terms.
    """
    return weights.format if every_answer else 0.0


def distance(approached: float, weights: RewardWeights) -> float:
    """Return what a rotation earns: ``approached > 0 ? progress * approached : regress * approached``.

    As in the published code, where both weights are 0 by default, and so they are here.

    Args:
        approached: as from ``approach``.
        weights: of the terms.
    """
    return (weights.progress if approached > 0 else weights.regress) * approached + 0.0  # No -0.0 of a zero weight.


def approach(target: Target, before: Direction, after: Direction) -> float:
    """Return how much nearer to a target's edges a rotation came, in half turns.

    ``(Y(before) - Y(after)) / 180 + (P(before) - P(after)) / 180`` with ``Y(d) = |d.yaw - left| + |d.yaw - right|`` on
    the circle and ``P(d) = |d.pitch - low| + |d.pitch - high|``, as in the published code. The edges are those of the
    accepted interval, so within it, where the two distances of an angle add up to the same, it is 0; a path's pitch
    counts nothing. Not kept of the published code: an object episode after a path episode was measured, and judged,
    with the path's yaw tolerance of 10 degrees instead of its own 30.

    Args:
        target: the answer.
        before: where the head looked.
        after: where it looks now.
    """
    nearer = _yaw_way_deg(target, before) - _yaw_way_deg(target, after)
    if target.pitch_deg is not None:
        nearer += _pitch_way_deg(target, before) - _pitch_way_deg(target, after)
    return nearer / 180.0


def _yaw_way_deg(target: Target, direction: Direction) -> float:
    return sum(abs(yaw_difference_deg(direction.yaw_deg, edge)) for edge in accepted_yaw_deg(target))


def _pitch_way_deg(target: Target, direction: Direction) -> float:
    return sum(abs(direction.pitch_deg - edge) for edge in accepted_pitch_deg(target))
