"""A benchmark run added up: every figure that is printed, drawn or compared comes from here.

An episode counts where its search ran to its end and its answer is known ("scored"). Where the machinery failed there
is nothing to say about the policy: such episodes are counted in ``Counts`` and are in no other figure. A group
without an episode has the rate None, never 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hvs_ros.benchmark.accuracy import Bin, Errors, Mismatch, bins
from hvs_ros.benchmark.as_json import as_json_object
from hvs_ros.benchmark.effort import Answers, Latency, Tokens, detour
from hvs_ros.benchmark.intervals import Bootstrap, Rate
from hvs_ros.benchmark.result import EpisodeResult
from hvs_ros.benchmark.spread import Spread
from hvs_ros.search.scoring import ScoringMode
from hvs_ros.search.task import DEFAULT_MAX_TURNS, LEVEL_NAMES, TaskKind

__all__ = ["Analysis", "Bin", "Column", "Counts", "Group", "Rate", "Spread", "analyse", "analyse_group"]

OVERALL = "overall"


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

    @classmethod
    def of(cls, results: Sequence[EpisodeResult]) -> Counts:
        """Count what became of episodes."""
        completed = [result for result in results if result.completed]
        failed = Counter(result.record.outcome.value for result in results if not result.completed)
        return cls(
            episodes=len(results),
            completed=len(completed),
            scored=sum(result.scored for result in completed),
            submitted=sum(result.record.submitted is not None for result in completed),
            exhausted=sum(result.record.submitted is None for result in completed),
            guesses=sum(result.record.guess for result in completed),
            failed=dict(sorted(failed.items(), key=lambda item: (-item[1], item[0]))),
            scenes=len({result.scene for result in completed}),
            retried=sum(result.attempts > 1 for result in completed),
        )


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
        return as_json_object(self)


def analyse(results: Sequence[EpisodeResult], mode: ScoringMode, *, seed: int = 0, resamples: int = 2000) -> Analysis:
    """Add a run up.

    Args:
        results: of its episodes, in any order; the figures do not depend on it.
        mode: the rule that decides.
        seed: of the bootstrap: the same results have the same intervals.
        resamples: of the bootstrap; 0: no intervals.
    """
    kinds = {kind: [result for result in results if result.kind is kind] for kind in TaskKind}
    return Analysis(
        mode=mode,
        columns=tuple(
            column for kind in TaskKind for column in _columns(kind, kinds[kind], mode, seed=seed, resamples=resamples)
        ),
        total=analyse_group(results, mode, seed=seed, resamples=resamples),
        kinds={kind: analyse_group(kinds[kind], mode, seed=seed, resamples=resamples) for kind in TaskKind},
        seed=seed,
        resamples=resamples,
    )


def analyse_group(results: Sequence[EpisodeResult], mode: ScoringMode, *, seed: int = 0, resamples: int = 0) -> Group:
    """Add some episodes up; see ``analyse``."""
    # Sums of floats depend on their order in the last digit.
    completed = sorted((result for result in results if result.completed), key=lambda result: result.episode_id)
    turns = [turn for result in completed for turn in result.record.turns]
    bootstrap = Bootstrap([result.scene for result in completed], seed=seed, resamples=resamples)
    cumulative = _cumulative(completed, mode, bootstrap)
    lengths = Counter(len(result.record.turns) for result in completed)
    ways = [(way, result.success(mode)) for result in completed if (way := detour(result)) is not None]
    return Group(
        counts=Counts.of(results),
        success=cumulative[-1],
        cumulative=cumulative,
        turns=Spread.of(len(result.record.turns) for result in completed),
        turn_counts=tuple(lengths[turn] for turn in range(1, len(cumulative) + 1)),
        travel_deg=Spread.of(result.record.travel_deg for result in completed),
        detour=Spread.of(way for way, _ in ways),
        detour_found=Spread.of(way for way, found in ways if found),
        answers=Answers.of(turns),
        errors=Errors.of(completed),
        by_angle=bins(completed, mode, bootstrap),
        mismatch=Mismatch.of(completed, mode, bootstrap),
        latency=Latency.of(completed, turns),
        tokens=Tokens.of(turns),
    )


def _columns(
    kind: TaskKind, results: Sequence[EpisodeResult], mode: ScoringMode, *, seed: int, resamples: int
) -> list[Column]:
    scored = [result for result in results if result.scored]
    bootstrap = Bootstrap([result.scene for result in scored], seed=seed, resamples=resamples)
    success = np.array([bool(result.success(mode)) for result in scored], dtype=np.bool_)
    everything = np.ones(len(scored), dtype=np.bool_)
    columns = [Column(kind, None, OVERALL, bootstrap.rate(everything, success))]
    for level, name in enumerate(LEVEL_NAMES[kind]):
        among = np.array([result.level == level for result in scored], dtype=np.bool_)
        columns.append(Column(kind, level, name, bootstrap.rate(among, success)))
    return columns


def _cumulative(results: Sequence[EpisodeResult], mode: ScoringMode, bootstrap: Bootstrap) -> tuple[Rate, ...]:
    """Return success by turn k; ``bootstrap`` is over the scenes of these results."""
    last = max([DEFAULT_MAX_TURNS, *(len(result.record.turns) for result in results)])
    scored = np.array([result.scored for result in results], dtype=np.bool_)
    success = np.array([bool(result.success(mode)) for result in results], dtype=np.bool_)
    lengths = np.array([len(result.record.turns) for result in results])
    return tuple(bootstrap.rates(scored, np.stack([success & (lengths <= k) for k in range(1, last + 1)])))
