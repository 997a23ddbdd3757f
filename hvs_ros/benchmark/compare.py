"""Two runs over the same episodes: what changed, and whether by more than chance.

Only pairs count: an episode that both runs completed and scored. What is only in one of them, or did not complete in
one, is counted and left out. Everything is said as B against A: a difference above 0 means that B found more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hvs_ros.benchmark.as_json import as_json_object
from hvs_ros.benchmark.contrast import Contrast, Pair, Shift, shifts
from hvs_ros.benchmark.natural_order import natural_order
from hvs_ros.benchmark.recorded_runs import RecordedRun
from hvs_ros.benchmark.result import EpisodeResult
from hvs_ros.benchmark.settings import differences
from hvs_ros.search.scoring import ScoringMode
from hvs_ros.search.task import LEVEL_NAMES, TaskKind


class CompareError(ValueError):
    """Two runs that cannot be compared; the message says why, and what to do."""


@dataclass(frozen=True)
class Changed:
    """An episode that one run found and the other did not.

    Attributes:
        episode_id: which.
        instruction: what the searcher was told.
        found_by: "A" or "B".
        outcome_a: of A's search, and its turns.
        outcome_b: of B's.
    """

    episode_id: str
    instruction: str
    found_by: str
    outcome_a: tuple[str, int]
    outcome_b: tuple[str, int]


@dataclass(frozen=True)
class Comparison:
    """Two runs.

    Attributes:
        a: results file of the first.
        b: of the second.
        mode: the rule that decides.
        total: all pairs.
        rows: by kind and level, each kind's "all" after its levels.
        shifts: turns, travel and durations.
        changed: episodes that one run found and the other did not, in the order of their ids.
        only_in_a: how many episodes only A has.
        only_in_b: how many only B has.
        incomplete: how many both have, but one of them did not complete, or has no answer to compare with.
        unlike: episodes that are not the same task in both, left out; id and what differs.
        warnings: what a reader must know.
        settings: in what the two runs differ.
    """

    a: Path
    b: Path
    mode: ScoringMode
    total: Contrast
    rows: tuple[Contrast, ...]
    shifts: tuple[Shift, ...]
    changed: tuple[Changed, ...]
    only_in_a: int
    only_in_b: int
    incomplete: int
    unlike: Mapping[str, tuple[str, ...]]
    warnings: tuple[str, ...]
    settings: tuple[str, ...]

    def worse(self, alpha: float) -> bool:
        """Return whether B found fewer, by McNemar's test at this level."""
        return self.total.only_b < self.total.only_a and self.total.mcnemar_p < alpha

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return as_json_object(self)


def compare(
    a: RecordedRun, b: RecordedRun, mode: ScoringMode, *, unlike: bool = False, seed: int = 0, resamples: int = 2000
) -> Comparison:
    """Compare two runs.

    Args:
        a: the first, what the second is held against.
        b: the second.
        mode: the rule that decides.
        unlike: leave out episodes that are not the same task in both, instead of refusing the runs.
        seed: of what is drawn.
        resamples: of the bootstrap.

    Raises:
        CompareError: no episode is in both, or one is not the same task in both.
    """
    of_a, of_b = ({result.episode_id: result for result in run.results} for run in (a, b))
    common = sorted(of_a.keys() & of_b.keys(), key=natural_order)
    if not common:
        raise CompareError(f"{a.path} and {b.path} have no episode in common{_examples(of_a, of_b)}")
    changed_tasks = {name: found for name in common if (found := _changes(of_a[name], of_b[name]))}
    if changed_tasks and (not unlike or len(changed_tasks) == len(common)):
        name, found = next(iter(changed_tasks.items()))
        hint = "" if len(changed_tasks) == len(common) else "; --leave-out-unlike compares the others"
        raise CompareError(
            f"{len(changed_tasks)} of {len(common)} episodes are not the same task in {a.path} and {b.path}: "
            f"{name}: {'; '.join(found)}{hint}"
        )
    pairs = [(of_a[name], of_b[name]) for name in common if name not in changed_tasks]
    scored = [pair for pair in pairs if pair[0].scored and pair[1].scored]
    return Comparison(
        a=a.path,
        b=b.path,
        mode=mode,
        total=Contrast.of(("all", ""), scored, mode, seed=seed, resamples=resamples),
        rows=tuple(Contrast.of(label, group, mode, seed=seed, resamples=resamples) for label, group in _groups(scored)),
        shifts=shifts(scored, seed=seed, resamples=resamples),
        changed=tuple(_changed(*pair, mode) for pair in scored if pair[0].success(mode) != pair[1].success(mode)),
        only_in_a=len(of_a.keys() - of_b.keys()),
        only_in_b=len(of_b.keys() - of_a.keys()),
        incomplete=len(pairs) - len(scored),
        unlike={name: tuple(found) for name, found in changed_tasks.items()},
        warnings=tuple(_warnings(pairs)),
        settings=tuple(differences(a.settings, b.settings)),
    )


def _changes(a: EpisodeResult, b: EpisodeResult) -> list[str]:
    pairs = {
        "instruction": (a.instruction, b.instruction),
        "kind": (a.kind.value, b.kind.value),
        "target": (a.target, b.target),
        "start": (a.start, b.start),
    }
    return [f"{name} is {of_a} in one, {of_b} in the other" for name, (of_a, of_b) in pairs.items() if of_a != of_b]


def _warnings(pairs: Sequence[Pair]) -> list[str]:
    lines = []
    for what, name in (("picture", "panorama"), ("level", "level"), ("turn limit", "max_turns")):
        differ = sum(getattr(a, name) != getattr(b, name) for a, b in pairs)
        if differ:
            lines.append(f"{differ} of {len(pairs)} episodes have another {what} in B than in A")
    return lines


def _groups(pairs: Sequence[Pair]) -> list[tuple[tuple[str, str], list[Pair]]]:
    groups = []
    for kind in TaskKind:
        of_kind = [pair for pair in pairs if pair[0].kind is kind]
        for level, name in enumerate(LEVEL_NAMES[kind]):
            group = [pair for pair in of_kind if pair[0].level == level]
            if group:
                groups.append(((kind.value, name), group))
        if of_kind:
            groups.append(((kind.value, "all"), of_kind))
    return groups


def _changed(a: EpisodeResult, b: EpisodeResult, mode: ScoringMode) -> Changed:
    return Changed(
        episode_id=a.episode_id,
        instruction=a.instruction,
        found_by="A" if a.success(mode) else "B",
        outcome_a=(a.record.outcome.value, len(a.record.turns)),
        outcome_b=(b.record.outcome.value, len(b.record.turns)),
    )


def _examples(of_a: Mapping[str, EpisodeResult], of_b: Mapping[str, EpisodeResult]) -> str:
    if not of_a or not of_b:
        return f": {'both are' if not of_a and not of_b else 'one is'} empty"
    return f": ids look like '{next(iter(of_a))}' and '{next(iter(of_b))}'"
