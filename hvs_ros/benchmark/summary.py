"""Results of ``hvs sim`` added up, by kind of task and difficulty; its figures are those of ``analysis``.

Unlike the benchmark's table it has tasks without an answer, and only the levels that there are. ``table`` draws it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hvs_ros.benchmark.analysis import Group, analyse_group
from hvs_ros.benchmark.result import EpisodeResult
from hvs_ros.search.scoring import ScoringMode
from hvs_ros.search.task import LEVEL_NAMES, TaskKind


@dataclass(frozen=True)
class Row:
    """A group of completed episodes.

    Attributes:
        label: kind of task and difficulty.
        episodes: how many.
        scored: how many of them have an answer to compare with.
        success: how many submissions were right.
        looking: how often the head really looked at the target when it was submitted.
        guesses: how many submissions the policy itself called guesses.
        turns: mean number of turns; None without an episode, as the following.
        travel_deg: mean way of the head.
        turn_s: median duration of a turn.
    """

    label: tuple[str, str]
    episodes: int
    scored: int
    success: int
    looking: int
    guesses: int
    turns: float | None
    travel_deg: float | None
    turn_s: float | None

    @property
    def success_rate(self) -> float | None:
        """Part of the scored episodes whose submission was right, 0 to 1."""
        return self.success / self.scored if self.scored else None

    @property
    def looking_rate(self) -> float | None:
        """Part of the scored episodes that looked at the target when they submitted, 0 to 1."""
        return self.looking / self.scored if self.scored else None


@dataclass(frozen=True)
class Summary:
    """A run, added up.

    Attributes:
        mode: the rule that counts.
        rows: by kind and difficulty, each kind's total after its difficulties.
        total: of all completed episodes.
        answers: how many answers had which parse status.
        failures: how many episodes did not complete, by outcome.
        exhausted: how many completed episodes ended without a submission.
    """

    mode: ScoringMode
    rows: list[Row]
    total: Row
    answers: dict[str, int]
    failures: dict[str, int]
    exhausted: int


def summarize(results: Sequence[EpisodeResult], mode: ScoringMode = ScoringMode.PAPER) -> Summary:
    """Add up the results of a run."""
    completed = [result for result in results if result.completed]
    rows: list[Row] = []
    for kind in TaskKind:
        of_kind = [result for result in completed if result.kind is kind]
        levels = sorted({result.level for result in of_kind}, key=lambda level: -1 if level is None else level)
        for level in levels:
            name = "free task" if level is None else LEVEL_NAMES[kind][level]
            of_level = [result for result in of_kind if result.level == level]
            rows.append(_row((kind.value, name), analyse_group(of_level, mode)))
        if len(levels) > 1:
            rows.append(_row((kind.value, "all"), analyse_group(of_kind, mode)))
    total = analyse_group(results, mode)
    return Summary(
        mode=mode,
        rows=rows,
        total=_row(("all", ""), total),
        answers=dict(total.answers.statuses),
        failures=dict(total.counts.failed),
        exhausted=total.counts.exhausted,
    )


def _row(label: tuple[str, str], group: Group) -> Row:
    return Row(
        label=label,
        episodes=group.counts.completed,
        scored=group.counts.scored,
        success=group.success.count,
        looking=group.mismatch.looking.count,
        guesses=group.counts.guesses,
        turns=group.turns.mean,
        travel_deg=group.travel_deg.mean,
        turn_s=group.latency.turn_s.median,
    )
