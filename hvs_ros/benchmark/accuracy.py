"""Where submissions went: how far off, how well from how far away, and whether the head looked there as well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hvs_ros.angles import Direction
from hvs_ros.benchmark.intervals import Bootstrap, Rate
from hvs_ros.benchmark.result import EpisodeResult
from hvs_ros.benchmark.spread import Spread
from hvs_ros.search.scoring import ScoringMode
from hvs_ros.search.task import Target

WITHIN_DEG = (5, 10, 15, 30, 60)
MISMATCH_OVER_DEG = (5, 30)
BIN_DEG = 30


@dataclass(frozen=True)
class Errors:
    """How far submissions were from the middle of their targets; of scored submissions.

    Attributes:
        yaw_deg: signed, right positive.
        pitch_deg: signed, up positive; objects only.
        off_deg: angle between the submission and the middle; for a path, of the yaw alone.
        within: share of submissions at most so many degrees off.
    """

    yaw_deg: Spread
    pitch_deg: Spread
    off_deg: Spread
    within: Mapping[int, Rate]

    @classmethod
    def of(cls, results: Sequence[EpisodeResult]) -> Errors:
        """Return the errors of completed searches."""
        judged = [result.submitted for result in results if result.submitted is not None]
        off = [
            off_deg(result.target, result.record.submitted)
            for result in results
            if result.target is not None and result.record.submitted is not None
        ]
        return cls(
            yaw_deg=Spread.of(judgement.yaw_error_deg for judgement in judged),
            pitch_deg=Spread.of(j.pitch_error_deg for j in judged if j.pitch_error_deg is not None),
            off_deg=Spread.of(off),
            within={limit: Rate(sum(value <= limit for value in off), len(off)) for limit in WITHIN_DEG},
        )


@dataclass(frozen=True)
class Bin:
    """Episodes whose target's middle is ``low_deg`` to below ``high_deg`` away from the start (the last: up to 180).

    Attributes:
        low_deg: of the angle.
        high_deg: of the angle.
        success: of the scored episodes.
    """

    low_deg: float
    high_deg: float
    success: Rate


def bins(results: Sequence[EpisodeResult], mode: ScoringMode, bootstrap: Bootstrap) -> tuple[Bin, ...]:
    """Return success by the angle from start to target.

    Args:
        results: completed searches.
        mode: the rule.
        bootstrap: over the scenes of these results.
    """
    angles = np.array([np.nan if r.target is None else off_deg(r.target, r.start) for r in results], dtype=np.float64)
    success = np.array([bool(result.success(mode)) for result in results], dtype=np.bool_)
    found = []
    for low in range(0, 180, BIN_DEG):
        high = low + BIN_DEG
        among = (angles >= low) & ((angles < high) | (high == 180))
        found.append(Bin(float(low), float(high), bootstrap.rate(among, success)))
    return tuple(found)


@dataclass(frozen=True)
class Mismatch:
    """What was submitted against where the head looked when it was.

    Attributes:
        angle_deg: between the two; of completed searches with a submission.
        over: share of these in which it is more than so many degrees.
        looking: success if the direction of the head were the submission; of the scored episodes.
        only_submitted: scored episodes in which the submission is right and the head looks elsewhere.
        only_looking: in which the head looks at the target and the submission is wrong.
    """

    angle_deg: Spread
    over: Mapping[int, Rate]
    looking: Rate
    only_submitted: int
    only_looking: int

    @classmethod
    def of(cls, results: Sequence[EpisodeResult], mode: ScoringMode, bootstrap: Bootstrap) -> Mismatch:
        """Return the mismatch of completed searches; ``bootstrap`` is over their scenes."""
        angles = [
            result.record.submitted.angle_to_deg(result.record.looking)
            for result in results
            if result.record.submitted is not None and result.record.looking is not None
        ]
        scored = np.array([result.scored for result in results], dtype=np.bool_)
        said = np.array([bool(result.success(mode)) for result in results], dtype=np.bool_)
        looked = np.array([bool(result.looking_success(mode)) for result in results], dtype=np.bool_)
        return cls(
            angle_deg=Spread.of(angles),
            over={limit: Rate(sum(angle > limit for angle in angles), len(angles)) for limit in MISMATCH_OVER_DEG},
            looking=bootstrap.rate(scored, looked),
            only_submitted=int((said & ~looked).sum()),
            only_looking=int((looked & ~said).sum()),
        )


def off_deg(target: Target, direction: Direction) -> float:
    """Return the angle between a direction and the middle of a target, of the yaw alone for a path, 0 to 180.

    To a ten-thousandth: what is 90 degrees away by the annotation is in the same bin everywhere.
    """
    center = target.center
    if target.pitch_deg is None:
        direction = Direction(direction.yaw_deg, 0.0)
    return round(direction.angle_to_deg(center), 4)
