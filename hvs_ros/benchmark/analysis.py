"""A benchmark run added up: every figure that is printed, drawn or compared comes from here.

An episode counts where its search ran to its end and its answer is known ("scored"). Where the machinery failed there
is nothing to say about the policy: such episodes are counted in ``Counts`` and are in no other figure. A group
without an episode has the rate None, never 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hvs_ros.benchmark.intervals import Rate
from hvs_ros.benchmark.result import EpisodeResult
from hvs_ros.benchmark.spread import Spread
from hvs_ros.search.scoring import ScoringMode
from hvs_ros.search.task import TaskKind


@dataclass(frozen=True)
class Counts:
    """What became of the episodes.

    Attributes:
        episodes: that have a result.
        completed: whose search ran to its end.
        scored: completed, and with an answer to compare with; these are the denominators.
        submitted: completed with a submission.
        exhausted: completed without one.
        guesses: submissions that the policy itself called guesses.
        failed: not completed, by outcome; in no rate.
        scenes: that the completed ones are in.
        retried: completed only after the machinery had failed in an earlier attempt.
    """

    episodes: int
    completed: int
    scored: int
    submitted: int
    exhausted: int
    guesses: int
    failed: Mapping[str, int]
    scenes: int
    retried: int


@dataclass(frozen=True)
class Column:
    """A column of the paper's table.

    Attributes:
        kind: object (HOS) or path (HPS).
        level: place among the kind's levels; None: overall.
        name: "overall", "easy" ...
        success: of the scored episodes.
    """

    kind: TaskKind
    level: int | None
    name: str
    success: Rate


@dataclass(frozen=True)
class Answers:
    """What the answers of completed searches were, by turn.

    Attributes:
        statuses: how many turns have which parse status, most frequent first.
        valid: turns whose answer was a valid action.
        well_formed: turns whose answer had the published format; of 0 where answers have no text.
    """

    statuses: Mapping[str, int]
    valid: Rate
    well_formed: Rate


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


@dataclass(frozen=True)
class Latency:
    """Seconds.

    Attributes:
        look_s: a turn, to get the view.
        think_s: a turn, to decide.
        move_s: a turn, to move.
        episode_s: an episode, everything included; searches that ran at the same time wait for each other.
    """

    look_s: Spread
    think_s: Spread
    move_s: Spread
    episode_s: Spread


@dataclass(frozen=True)
class Tokens:
    """Tokens a turn, where the policy counts them.

    Attributes:
        prompt: of the request.
        completion: of the answer.
        image: of the turn's picture.
        prompt_total: of all requests.
        completion_total: of all answers.
    """

    prompt: Spread
    completion: Spread
    image: Spread
    prompt_total: int
    completion_total: int


@dataclass(frozen=True)
class Group:
    """All figures of some episodes: of everything, of the object tasks, of the path tasks.

    Attributes:
        counts: what became of them.
        success: of the scored episodes.
        cumulative: success by a submission in turn k or before, k = 1, 2 ... (the paper's Fig. 6); of all scored
            episodes, so the last is ``success``; at least 10, more where a search may have more turns.
        turns: of the completed searches.
        turn_counts: how many completed searches had k turns, k = 1, 2 ...
        travel_deg: how far the head turned.
        detour: that, as a multiple of the shortest way from the start to the target's box; of the scored episodes
            that do not begin in it.
        detour_found: the same, of those that succeeded.
        answers: parse statuses.
        errors: of submissions.
        by_angle: success by the angle from start to target, in bins of 30 degrees.
        mismatch: submitted against looking.
        latency: durations.
        tokens: counts.
    """

    counts: Counts
    success: Rate
    cumulative: tuple[Rate, ...]
    turns: Spread
    turn_counts: tuple[int, ...]
    travel_deg: Spread
    detour: Spread
    detour_found: Spread
    answers: Answers
    errors: Errors
    by_angle: tuple[Bin, ...]
    mismatch: Mismatch
    latency: Latency
    tokens: Tokens


@dataclass(frozen=True)
class Analysis:
    """A run.

    Attributes:
        mode: the rule that decides what success is.
        columns: of the paper's table, in its order: object overall, easy, medium, hard, path overall ... extreme.
        total: of all episodes.
        kinds: of the episodes of a kind, both kinds always.
        seed: of the intervals.
        resamples: of the intervals.
    """

    mode: ScoringMode
    columns: tuple[Column, ...]
    total: Group
    kinds: Mapping[TaskKind, Group]
    seed: int
    resamples: int

    def column(self, kind: TaskKind, level: int | None = None) -> Column:
        """Return a column; level None: the kind's overall."""
        return next(column for column in self.columns if (column.kind, column.level) == (kind, level))

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values; rates are 0 to 1, angles degrees, times seconds."""
        raise NotImplementedError


def analyse(results: Sequence[EpisodeResult], mode: ScoringMode, *, seed: int = 0, resamples: int = 2000) -> Analysis:
    """Add a run up.

    Args:
        results: of its episodes, in any order; the figures do not depend on it.
        mode: the rule that decides.
        seed: of the bootstrap: the same results have the same intervals.
        resamples: of the bootstrap; 0: no intervals.
    """
    raise NotImplementedError
