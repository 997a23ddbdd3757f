"""The published results, as data: what can be checked of numbers that were typed."""

from __future__ import annotations

import pytest

from hvs_ros.benchmark.bench_notes import percent
from hvs_ros.benchmark.intervals import Rate
from hvs_ros.benchmark.paper_results import published_table
from hvs_ros.search.scoring import ScoringMode
from hvs_ros.search.task import TaskKind

TABLE = published_table()
HUNDREDTH = 0.01 + 1e-9
"""The paper rounds to it, and is three times off by one."""
BLOCKS = [(row, kind) for row in TABLE.rows for kind in TaskKind]
ALIKE = [(row, kind) for row, kind in BLOCKS if kind not in row.unlike]


def test_the_table_is_whole() -> None:
    assert [row.model for row in TABLE.rows][::5] == ["InternVL3.5-4B", "Gemma-3-12B", "HVS-3B"]
    assert len(TABLE.rows) == 11 and TABLE.rule is ScoringMode.REFERENCE and "2511.20351" in TABLE.source
    best = TABLE.rows[-1]
    assert best.rates[TaskKind.OBJECT] == (47.38, 60.49, 24.43, 44.87)
    assert best.rates[TaskKind.PATH] == (24.94, 34.80, 20.18, 25.00, 12.04)
    assert {len(row.rates[TaskKind.OBJECT]) for row in TABLE.rows} == {4}


def test_the_sizes_are_those_of_the_benchmark() -> None:
    """600 object and 400 path tasks, each from four starts."""
    assert (TABLE.episodes(TaskKind.OBJECT), TABLE.episodes(TaskKind.PATH)) == (2400, 1600)


@pytest.mark.parametrize(("row", "kind"), BLOCKS, ids=lambda value: getattr(value, "model", None) or value.value)
def test_an_overall_rate_lies_within_its_levels(row, kind) -> None:  # type: ignore[no-untyped-def]
    overall, *levels = row.rates[kind]
    assert min(levels) <= overall <= max(levels)
    assert all(0 <= rate <= 100 for rate in levels)


def test_every_digit_follows_from_counts_of_episodes() -> None:
    """A rate is successes by episodes of its level, the overall their sum by all: written as we write our own."""
    differ = {}
    for row, kind in ALIKE:
        counts, sizes = TABLE.counts(row, kind), TABLE.sizes[kind]
        rates = [Rate(sum(counts), sum(sizes)), *(Rate(*pair) for pair in zip(counts, sizes, strict=True))]
        for rate, published in zip(rates, row.rates[kind], strict=True):
            if percent(rate) != f"{published:.2f}":
                differ[row.model, rate.count] = (percent(rate), published)
    assert differ == {
        ("InternVL3.5-8B", 16): ("9.09", 9.10),
        ("Qwen2.5-VL-7B", 16): ("9.09", 9.10),
        ("Qwen2.5-VL-7B", 144): ("23.41", 23.42),
    }, "three of the published rates are off, by a hundredth"


def test_blocks_listed_as_unlike_are() -> None:
    """Else a slip of the pen in the file could be listed away."""
    for row in TABLE.rows:
        for kind in row.unlike:
            rates = zip(TABLE.counts(row, kind), TABLE.sizes[kind], row.rates[kind][1:], strict=True)
            assert any(abs(100 * count / size - rate) > HUNDREDTH for count, size, rate in rates)


def test_a_plain_mean_of_the_levels_is_not_the_overall() -> None:
    """Which of the two the table holds can be told from it."""
    for row, kind in ALIKE:
        overall, *levels = row.rates[kind]
        if kind is TaskKind.OBJECT:
            assert abs(sum(levels) / len(levels) - overall) > 0.1
