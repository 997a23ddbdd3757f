"""Results added up, by kind of task and difficulty. Numbers only; ``table`` draws them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

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
            rows.append(_row((kind.value, name), [result for result in of_kind if result.level == level], mode))
        if len(levels) > 1:
            rows.append(_row((kind.value, "all"), of_kind, mode))
    return Summary(
        mode=mode,
        rows=rows,
        total=_row(("all", ""), completed, mode),
        answers=dict(Counter(turn.status.value for result in completed for turn in result.record.turns).most_common()),
        failures=dict(Counter(r.record.outcome.value for r in results if not r.completed).most_common()),
        exhausted=sum(result.record.submitted is None for result in completed),
    )


def _row(label: tuple[str, str], results: Sequence[EpisodeResult], mode: ScoringMode) -> Row:
    turns = [turn for result in results for turn in result.record.turns]
    return Row(
        label=label,
        episodes=len(results),
        scored=sum(result.scored for result in results),
        success=sum(bool(result.success(mode)) for result in results),
        looking=sum(bool(result.looking_success(mode)) for result in results),
        guesses=sum(result.record.guess for result in results),
        turns=fmean(len(result.record.turns) for result in results) if results else None,
        travel_deg=fmean(result.record.travel_deg for result in results) if results else None,
        turn_s=median(turn.seconds for turn in turns) if turns else None,
    )
