"""Two runs over the same episodes: what is paired, what is counted, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from results_builders import PATH, broken, many, recorded, result
from rich.console import Console

from hvs_ros.benchmark.compare import CompareError, Comparison, compare
from hvs_ros.benchmark.compare_table import comparison_table
from hvs_ros.benchmark.result import EpisodeResult
from hvs_ros.search.scoring import ScoringMode

PAPER = ScoringMode.PAPER


def pair(count_a: list[bool], count_b: list[bool]) -> tuple[list[EpisodeResult], list[EpisodeResult]]:
    names = [f"s{n}/0/0" for n in range(len(count_a))]
    return (
        [result(name, found=found) for name, found in zip(names, count_a, strict=True)],
        [result(name, found=found) for name, found in zip(names, count_b, strict=True)],
    )


def of(a: list[EpisodeResult], b: list[EpisodeResult], **options: bool) -> Comparison:
    return compare(recorded(a, "a.jsonl"), recorded(b, "b.jsonl"), PAPER, **options)


def text_of(comparison: Comparison, most: int | None = 10, width: int = 110) -> str:
    console = Console(width=width, force_terminal=False)
    with console.capture() as capture:
        console.print(comparison_table(comparison, most=most))
    return capture.get()


def test_the_four_ways_in_which_a_pair_can_go() -> None:
    a, b = pair([True] * 6 + [False] * 4, [True] * 5 + [False] + [True] * 3 + [False])
    total = of(a, b).total
    assert (total.both, total.only_a, total.only_b, total.neither) == (5, 1, 3, 1)
    assert (total.rate_a, total.rate_b, total.pairs, total.scenes) == (0.6, 0.8, 10, 10)
    assert total.difference == pytest.approx(0.2) and total.mcnemar_p == 10 / 16
    assert total.low is not None and total.high is not None and total.low < 0.2 < total.high


def test_only_episodes_that_both_completed_count() -> None:
    a = [result("a/0/0"), result("a/1/0"), broken("a/2/0"), result("a/3/0"), result("only/a/0")]
    b = [result("a/0/0"), broken("a/1/0"), result("a/2/0"), result("a/3/0", found=False), result("only/b/0")]
    comparison = of(a, [*b, result("only/c/0")])
    assert comparison.total.pairs == 2 and comparison.incomplete == 2
    assert (comparison.only_in_a, comparison.only_in_b) == (1, 2)
    assert "LEFT OUT: 1 only in A, 2 only in B, 2 not completed or not scored in one of them" in text_of(comparison)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.integers(0, 1000))
def test_the_other_way_round_is_the_same_with_its_sign_turned(seed: int, other: int) -> None:
    a, b = many(seed, scenes=6), many(other, scenes=6, chance=0.7)
    there, back = of(a, b), of(b, a)
    for row, turned in zip([*there.rows, there.total], [*back.rows, back.total], strict=True):
        assert row.label == turned.label and row.pairs == turned.pairs
        assert (row.only_a, row.only_b) == (turned.only_b, turned.only_a)
        assert (row.mcnemar_p, row.permutation_p) == (turned.mcnemar_p, turned.permutation_p)
        assert row.low is not None and turned.high is not None and row.difference is not None
        assert row.low == pytest.approx(-turned.high) and row.low <= row.difference
    kinds = [row for row in there.rows if row.label[1] == "all"]
    assert sum(row.only_a for row in kinds) == there.total.only_a


def test_a_run_against_itself_changes_nothing() -> None:
    comparison = of(many(4, scenes=10), many(4, scenes=10))
    assert not comparison.changed and not comparison.settings and not comparison.warnings
    assert (comparison.total.mcnemar_p, comparison.total.permutation_p) == (1.0, 1.0)
    assert (comparison.total.low, comparison.total.high) == (0.0, 0.0)
    assert comparison.total.doubt == "no episode differs"
    assert all((shift.low, shift.high) == (0.0, 0.0) for shift in comparison.shifts)
    assert "No episode changed sides" in text_of(comparison) and not comparison.worse(1.0)


def test_runs_of_other_tasks_are_refused() -> None:
    a = [result("a/0/0"), result("a/1/0"), result("a/2/0")]
    other = {
        "instruction": replace(a[1], instruction="Find something else."),
        "target": replace(result("a/1/0", target=PATH), kind=a[1].kind),
        "start": result("a/1/0", start=90.0),
    }
    for what, changed in other.items():
        with pytest.raises(CompareError, match=f"1 of 3 episodes .* a/1/0: {what} is .*--leave-out-unlike"):
            of(a, [a[0], changed, a[2]])
        comparison = of(a, [a[0], changed, a[2]], unlike=True)
        assert comparison.total.pairs == 2 and list(comparison.unlike) == ["a/1/0"]
    with pytest.raises(CompareError, match=r"1 of 1 episodes") as refused:
        of([a[1]], [other["start"]], unlike=True)
    assert "--leave-out-unlike" not in str(refused.value), "nothing would be left"


def test_runs_without_a_common_episode_are_refused() -> None:
    with pytest.raises(CompareError, match="no episode in common: ids look like 'a/0/0' and 'b/0/0'"):
        of([result("a/0/0")], [result("b/0/0")])
    with pytest.raises(CompareError, match="one is empty"):
        of([result("a/0/0")], [])


def test_another_picture_is_a_warning() -> None:
    a = [result("a/0/0"), result("b/0/0")]
    b = [replace(a[0], panorama=("a.png", 5)), replace(a[1], max_turns=5)]
    comparison = of(a, b)
    assert comparison.warnings == (
        "1 of 2 episodes have another picture in B than in A",
        "1 of 2 episodes have another turn limit in B than in A",
    )
    assert "WARNING: 1 of 2 episodes have another picture" in text_of(comparison)


def test_episodes_that_changed_are_named_in_the_order_of_their_ids() -> None:
    names = [f"a/{n}/0" for n in (10, 2, 1, 30)]
    a, b = [result(name) for name in names], [result(name, found=None, turns=10) for name in names]
    comparison = of(a, b)
    assert [changed.episode_id for changed in comparison.changed] == ["a/1/0", "a/2/0", "a/10/0", "a/30/0"]
    text = text_of(comparison, most=2)
    assert "Found only by A: 4" in text and "a/2/0: A submitted in turn 2, B turns exhausted in turn 10" in text
    assert "and 2 more (--all)" in text and "a/10/0" not in text
    assert "a/10/0" in text_of(comparison, most=None)


def test_what_searches_took_is_of_the_pairs() -> None:
    a = [result(f"s{n}/0/0", turns=3) for n in range(6)]
    b = [result(f"s{n}/0/0", turns=4) for n in range(6)]
    turns, travel, *_, seconds = of(a, b).shifts
    assert (turns.mean_a, turns.mean_b, turns.low, turns.high) == (3, 4, 1, 1)
    assert travel.mean_b == pytest.approx(135) and (seconds.name, seconds.mean_a) == ("episode [s]", 3)
    assert "to decide [s a turn]" in text_of(of(a, b)), "brackets are no markup"


def test_settings_that_differ_are_named() -> None:
    results = many(1)
    comparison = compare(recorded(results, max_turns=5), recorded(results, notes={"in_flight": 4}), PAPER)
    assert comparison.settings == ("max_turns: was 5, is not set now",)


def test_worse_means_fewer_and_unlikely_by_chance() -> None:
    a, b = pair([True] * 10 + [False] * 5, [False] * 10 + [False] * 5)
    assert of(a, b).worse(0.05) and not of(a, b).worse(0.001) and not of(b, a).worse(0.05)
    assert not of(*pair([True, True, False], [False, True, False])).worse(0.05)


def test_a_comparison_fits_a_page_and_is_json() -> None:
    comparison = of(many(1), many(2))
    assert "…" not in text_of(comparison)
    values = json.loads(json.dumps(comparison.to_json(), allow_nan=False))
    total = values["total"]
    assert total["difference"] == pytest.approx(total["rate_b"] - total["rate_a"])
    assert values["mode"] == "paper" and len(values["changed"]) == total["only_a"] + total["only_b"]


@pytest.mark.parametrize("width", [80, 110])
def test_no_digit_is_cut_off_where_there_is_less_room(width: int) -> None:
    """The widest row that there can be: nothing found by one, everything by the other, of thousands of pairs."""
    comparison = of(*pair([False] * 1200, [True] * 1200))
    lines = text_of(comparison, most=1, width=width).splitlines()
    assert max(map(len, lines)) <= width and "…" not in "".join(lines)
    (row,) = (line.split() for line in lines if line.startswith("object all"))
    assert row[2:6] == ["1200", "0.00", "100.00", "+100.00"] and row[9:11] == ["0", "1200"]
