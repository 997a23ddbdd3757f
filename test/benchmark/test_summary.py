"""The table: who is counted where."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from benchmark_builders import PATH, failed, make_episode, submitted
from rich.console import Console

from hvs_ros.angles import Direction
from hvs_ros.benchmark.record import SearchRecord
from hvs_ros.benchmark.result import EpisodeResult, judge
from hvs_ros.benchmark.summary import summarize
from hvs_ros.benchmark.table import results_table
from hvs_ros.search.episode import Outcome
from hvs_ros.search.scoring import ScoringMode


def some_results(folder: Path) -> list[EpisodeResult]:
    exhausted = SearchRecord(Outcome.TURNS_EXHAUSTED, "", None, False, Direction(90, 0), submitted(0).turns)
    return [
        judge(make_episode(folder, 0, level=0), submitted(90, looking=Direction(90, 0))),
        judge(make_episode(folder, 1, level=0), submitted(90, looking=Direction(200, 0), turns=4)),
        judge(make_episode(folder, 2, level=2), replace(submitted(300), guess=True)),
        judge(make_episode(folder, 3, level=2), exhausted),
        judge(make_episode(folder, 4, level=2), failed(Outcome.HEAD_UNAVAILABLE)),
        judge(make_episode(folder, 5, target=PATH, level=3), submitted(355)),
    ]


def test_results_are_added_up_by_kind_and_difficulty(tmp_path: Path) -> None:
    summary = summarize(some_results(tmp_path))
    rows = {row.label: row for row in summary.rows}
    assert list(rows) == [("object", "easy"), ("object", "hard"), ("object", "all"), ("path", "extreme")]
    easy, hard = rows["object", "easy"], rows["object", "hard"]
    assert (easy.episodes, easy.success, easy.looking, easy.turns) == (2, 2, 1, 3.0)
    assert (hard.episodes, hard.scored, hard.success, hard.guesses) == (2, 2, 0, 1), "the failed head does not count"
    assert (easy.turn_s, round(easy.travel_deg or 0, 6)) == (1.0, 60.0)
    assert summary.total.success_rate == 3 / 5
    assert summary.failures == {"head unavailable": 1}
    assert summary.exhausted == 1
    assert summary.answers == {"ok": 12}


def test_a_task_without_an_answer_is_listed_but_not_scored(tmp_path: Path) -> None:
    summary = summarize([judge(make_episode(tmp_path, target=None, level=None), submitted(10))])
    assert [(row.label, row.episodes, row.success_rate) for row in summary.rows] == [
        (("object", "free task"), 1, None)
    ]


def test_the_table_says_it(tmp_path: Path) -> None:
    console = Console(width=80, force_terminal=False)
    with console.capture() as capture:
        console.print(results_table(summarize(some_results(tmp_path), ScoringMode.REFERENCE), "random, 1920x1080"))
    text = capture.get()
    assert "…" not in text, "it fits into a terminal"
    assert "object, easy " in text
    assert "random, 1920x1080" in text
    assert "100 % (2/2)" in text and "60 % (3/5)" in text
    assert "reference rule" in text
    assert "machinery failed: 1 head unavailable" in text


def test_nothing_done_is_a_table_too(tmp_path: Path) -> None:
    console = Console(width=110, force_terminal=False)
    with console.capture() as capture:
        console.print(results_table(summarize([]), "nothing"))
    assert "all" in capture.get()
