"""The printed table: that it fits, that it holds the run's numbers, and that nothing looks comparable that is not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from results_builders import OBJECT, PATH, broken, many, result
from rich.console import Console

from hvs_ros.benchmark.analysis import analyse
from hvs_ros.benchmark.bench_notes import incomparable, percent
from hvs_ros.benchmark.bench_table import bench_table
from hvs_ros.benchmark.intervals import Rate
from hvs_ros.benchmark.paper_results import published_table
from hvs_ros.benchmark.result import EpisodeResult
from hvs_ros.search.action import Submit
from hvs_ros.search.scoring import ScoringMode
from hvs_ros.search.task import TaskKind

PAPER, REFERENCE = ScoringMode.PAPER, ScoringMode.REFERENCE
AS_PUBLISHED = {"policy": "server", "protocol": "reference", "facts": {"model": "humanoid-vstar/HVS-3B"}}


def drawn(
    results: list[EpisodeResult],
    settings: dict[str, Any],
    mode: ScoringMode = PAPER,
    *,
    width: int = 110,
    **options: Any,
) -> str:
    console = Console(width=width, force_terminal=False)
    with console.capture() as capture:
        console.print(bench_table(analyse(results, mode, resamples=200), settings, **options))
    return capture.get()


def row(text: str, name: str, nth: int = 0) -> list[str]:
    lines = [line.strip() for line in text.splitlines() if line.strip().startswith(name)]
    return lines[nth].removeprefix(name).split()


def whole_benchmark() -> list[EpisodeResult]:
    """4000 results, as many of each level as published: they share what does not matter here."""
    table = published_table()
    made = []
    for kind, target in ((TaskKind.OBJECT, OBJECT), (TaskKind.PATH, PATH)):
        for level, size in enumerate(table.sizes[kind]):
            made += [result(f"s{level}/{kind.value}/0", target=target, level=level)] * size
    return made


def test_a_run_is_printed_in_the_columns_of_the_paper() -> None:
    results = [result(f"s{n}/0/0", level=n % 3, found=n % 4 != 0) for n in range(24)]
    text = drawn([*results, result("p/0/0", target=PATH, level=3)], AS_PUBLISHED, REFERENCE)
    assert row(text, "Object search (HOS)") == ["overall", "easy", "medium", "hard"]
    assert row(text, "Path search (HPS)") == ["overall", "easy", "medium", "hard", "extreme"]
    assert row(text, "HVS-3B") == ["75.00", "75.00", "75.00", "75.00"], "named by its model"
    assert row(text, "of episodes") == ["24", "8", "8", "8"]
    low, high = (float(end) for end in row(text, "95 % interval")[0].split("–"))
    assert low < 75 < high
    words = " ".join(row(text, "HVS-3B", 3))
    assert words == "100.00 no episode no episode no episode 100.00", "an empty group is no 0 %"
    assert "…" not in text and max(map(len, text.splitlines())) <= 110


def test_in_80_columns_it_says_as_much() -> None:
    results = [
        result(f"s{n}/{kind}/0", target=target, level=n % 3, found=n % 4 != 0)
        for kind, target in (("object", OBJECT), ("path", PATH))
        for n in range(24)
    ]
    wide, narrow = (drawn(results, AS_PUBLISHED, width=width, name="x" * 60) for width in (110, 80))
    assert max(map(len, narrow.splitlines())) <= 80
    for nth in (0, 1):
        whole = [end.split("–") for end in row(wide, "95 % interval", nth) if end != "-"]
        ends = [row(narrow, name, nth) for name in ("95 % interval, from", "to ")]
        assert [list(pair) for pair in zip(*ends, strict=True) if pair[0] != "-"] == whole
        assert row(narrow, "of episodes", nth) == row(wide, "of episodes", nth)
        assert row(narrow, "GPT-4o", nth) == row(wide, "GPT-4o", nth)
    assert row(narrow, "xxxxxxxxxxxxxxxxxxxxxxxxx…", 1) == ["75.00", "75.00", "75.00", "75.00", "none"]
    assert narrow.count("published, NOT comparable:") == 2


def test_the_published_rows_stand_beside_it() -> None:
    text = drawn(many(1), AS_PUBLISHED, REFERENCE)
    assert row(text, "HVS-3B", 2) == ["47.38", "60.49", "24.43", "44.87"]
    assert row(text, "HVS-3B", 5) == ["24.94", "34.80", "20.18", "25.00", "12.04"]
    assert row(text, "GPT-4o *") == ["19.75", "18.17", "17.35", "20.92"]
    assert "arXiv 2511.20351, Table 1" in text
    assert "GPT-4o" not in drawn(many(1), AS_PUBLISHED, REFERENCE, published=False)


def test_only_the_published_protocol_on_all_episodes_looks_comparable() -> None:
    whole = whole_benchmark()
    text = drawn(whole, AS_PUBLISHED, REFERENCE, total=4000)
    assert "NOT comparable" not in text and "Not comparable" not in text and "PART" not in text
    assert "published:" in text and "4000 episodes" in text
    deviating = {**AS_PUBLISHED, "deviations": ["view: 1280x720 instead of 1920x1080"]}
    reasons = {
        "protocol 'paper': the published figures were made by the published code": ({"protocol": "paper"}, REFERENCE),
        "scored by the paper rule": (AS_PUBLISHED, PAPER),
        "deviation: view: 1280x720 instead of 1920x1080": (deviating, REFERENCE),
        "no protocol": ({"policy": "random"}, REFERENCE),
    }
    for reason, (settings, mode) in reasons.items():
        text = drawn(whole, settings, mode)
        assert text.count("NOT comparable (below)") == 2, "in both blocks"
        assert f"  - {reason}" in text


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda results: results[:-1], "1599 path episodes instead of 1600"),
        (lambda results: [broken("s0/object/0"), *results[1:]], "2399 object episodes instead of 2400"),
        (
            lambda results: [result("s1/object/0", level=1), *results[1:]],
            "other levels of the object episodes: 614/177/",
        ),
    ],
)
def test_other_episodes_are_not_comparable(change: Any, reason: str) -> None:
    analysis = analyse(change(whole_benchmark()), REFERENCE, resamples=0)
    (found,) = incomparable(analysis, AS_PUBLISHED, published_table())
    assert found.startswith(reason)


def test_part_of_the_data_is_in_the_title() -> None:
    results = [result(f"s{n}/0/0") for n in range(6)]
    assert "PART of the data: 6 of 40 episodes" in drawn(results, AS_PUBLISHED, total=40).splitlines()[0]
    assert "PART of the data: 6 episodes, shard 1 of 4" in drawn(results, AS_PUBLISHED, part="shard 1 of 4")
    assert "PART" not in drawn(results, AS_PUBLISHED, total=6, part="the first 10 episodes"), "that is all of them"
    shard = {**AS_PUBLISHED, "notes": {"episodes": 40, "part": "shard 1 of 4"}}
    assert "PART of the data: 6 of 40 episodes, shard 1 of 4" in drawn(results, shard).splitlines()[0]
    merged = {**AS_PUBLISHED, "notes": {"episodes": 6, "part": ["shard 1 of 2", "shard 2 of 2"]}}
    assert "PART" not in drawn(results, merged)
    title = drawn(results, {"protocol": "paper", "deviations": ["turns: 5 instead of 10"]}, REFERENCE).splitlines()[0]
    assert title == "H*Bench, protocol 'paper', reference rule, with deviations, 6 episodes"


def test_what_did_not_complete_stands_below() -> None:
    text = drawn([*many(3), broken("x/0/0"), broken("x/1/0")], AS_PUBLISHED)
    assert "NOT COMPLETE, in no figure, the machinery failed:" in text and "head failed" in text


def test_few_scenes_are_marked() -> None:
    text = drawn([result(f"s{n % 2}/{n}/0", found=n % 3 > 0) for n in range(12)], AS_PUBLISHED)
    assert row(text, "95 % interval")[0].endswith("?") and "?: not to be relied on (only 2 scenes)" in text
    sure = drawn([result(f"s{n}/0/0", found=n % 3 > 0) for n in range(24)], AS_PUBLISHED)
    assert not row(sure, "95 % interval")[0].endswith("?")


def test_the_other_figures_stand_below() -> None:
    text = drawn([result("a/0/0", turns=3), result("b/0/0", turns=5, found=False)], AS_PUBLISHED)
    assert "Found by turn 1, 2 ... 10: 0.0 0.0 50.0 50.0" in text
    assert "Turns: 4.0 on average, median 4; head travel 135°" in text
    assert "Answers: 8 ok (100.0 % valid)" in text
    assert "By where the head looked at the end instead: " in text
    assert "Submissions, from the target's middle: within 5° " in text
    assert "searches at the same time" not in text
    at_once = " ".join(drawn([result("a/0/0")], {**AS_PUBLISHED, "notes": {"in_flight": 64}}).split())
    assert "(64 searches at the same time)" in at_once, "they wait for each other"
    assert "to decide 0.50 (0.50)" in text and "1500 in, 20 out; in all 12000 in, 160 out" in text


def test_no_result_is_a_table_too() -> None:
    for results in ([], [broken("a/0/0")]):
        text = drawn(results, {})
        assert "Object search (HOS): no episode was scored" in text and "GPT-4o" not in text


def test_a_name_with_brackets_is_no_markup() -> None:
    assert "[/bold] 7B" in drawn([result("a/0/0")], AS_PUBLISHED, name="[/bold] 7B")


def test_rates_are_rounded_as_in_the_paper() -> None:
    """411 of 2400 are 17.125 %: the paper has 17.13, a float's format 17.12."""
    assert [percent(Rate(*pair)) for pair in ((411, 2400), (1, 3), (0, 7), (7, 7), (1, 1600))] == [
        *("17.13", "33.33", "0.00", "100.00", "0.06")
    ]
    assert percent(Rate(1, 16), 1) == "6.3" and percent(Rate(0, 0)) == "no episode"


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("<think>So.</think><answer>submit(90,0)</answer>", "in the published format 100.0 %"),
        ("Perhaps <answer>submit(90,0)</answer>", "in the published format 0.0 %"),
        ("", None),
        ("submit(90,0)", None),  # a policy that does not write gives its action
    ],
)
def test_the_format_is_told_of_answers_that_are_texts(raw: str, words: str | None) -> None:
    made = result("a/0/0", turns=1)
    (turn,) = made.record.turns
    turn = replace(turn, raw=raw, action=Submit(90.0, 0.0))
    text = drawn([replace(made, record=replace(made.record, turns=(turn,)))], AS_PUBLISHED)
    assert words in text if words else "published format" not in text
