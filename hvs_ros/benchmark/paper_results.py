"""The published results (the paper's Table 1), to be printed beside a run. They ship as data in config/benchmark/."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import yaml

from hvs_ros.search.scoring import ScoringMode
from hvs_ros.search.task import LEVEL_NAMES, TaskKind
from hvs_ros.share import share_file

FILE = "hstar_table1.yaml"


@dataclass(frozen=True)
class PublishedRow:
    """A model's published results.

    Attributes:
        model: its name.
        rates: by kind: (overall, then the kind's levels in order), success in percent with two decimals.
        unlike: kinds whose rates cannot come from the number of episodes that the other rows have.
    """

    model: str
    rates: Mapping[TaskKind, tuple[float, ...]]
    unlike: frozenset[TaskKind]


@dataclass(frozen=True)
class PublishedTable:
    """Table 1.

    Attributes:
        source: where it stands.
        rule: the scoring that it was made with.
        notes: what else was done otherwise there.
        sizes: episodes of each level, by kind; estimated from the rates, not published.
        rows: in the paper's order.
    """

    source: str
    rule: ScoringMode
    notes: str
    sizes: Mapping[TaskKind, tuple[int, ...]]
    rows: tuple[PublishedRow, ...]

    def episodes(self, kind: TaskKind) -> int:
        """Return how many episodes of a kind the benchmark has."""
        return sum(self.sizes[kind])

    def counts(self, row: PublishedRow, kind: TaskKind) -> tuple[int, ...]:
        """Return how many episodes of each level must have succeeded, estimated."""
        return tuple(round(rate / 100 * size) for rate, size in zip(row.rates[kind][1:], self.sizes[kind], strict=True))

    def overall(self, row: PublishedRow, kind: TaskKind) -> float:
        """Return the overall rate in percent that follows from the levels': all successes by all episodes."""
        return 100 * sum(self.counts(row, kind)) / self.episodes(kind)


@lru_cache(maxsize=1)
def published_table() -> PublishedTable:
    """Read the published results.

    Raises:
        ShareError: their file is missing.
    """
    values: dict[str, Any] = yaml.safe_load(share_file("config", "benchmark", FILE).read_text(encoding="utf-8"))
    return PublishedTable(
        source=values["source"],
        rule=ScoringMode(values["rule"]),
        notes=values["notes"],
        sizes={kind: tuple(values["sizes"][kind.value][name] for name in LEVEL_NAMES[kind]) for kind in TaskKind},
        rows=tuple(_row(row) for row in values["rows"]),
    )


def _row(values: Mapping[str, Any]) -> PublishedRow:
    rates = {kind: tuple(float(rate) for rate in values[kind.value]) for kind in TaskKind}
    for kind, row in rates.items():
        if len(row) != 1 + len(LEVEL_NAMES[kind]):
            raise ValueError(f"{FILE}: {values['model']}: {kind.value} has {len(row)} rates")
    return PublishedRow(values["model"], rates, frozenset(TaskKind(kind) for kind in values.get("unlike", ())))
