"""Runs are found again by their results files, and the index of a folder links them all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from benchmark_builders import SETTINGS, make_episode, submitted

from hvs_ros.benchmark.recorded_runs import report_path, runs_in
from hvs_ros.benchmark.reports import ReportWriter
from hvs_ros.benchmark.result import EpisodeResult, judge
from hvs_ros.benchmark.results_file import ResultsFile


def run(folder: Path, day: int) -> tuple[str, EpisodeResult]:
    """Leave a run of one episode with its report in the folder."""
    bag = folder / f"bag_{day}"
    bag.mkdir(parents=True)
    record = replace(submitted(90.0), bag=bag)
    result = replace(judge(make_episode(folder), record), ended=f"2026-03-{day:02}T10:00:00+0000")
    with ResultsFile.create(folder / f"results_{day}.jsonl", SETTINGS) as results:
        results.append(result)
    (bag / "report.html").write_text("")
    return f"results_{day}", result


def test_a_later_run_leaves_the_earlier_ones_in_the_index(tmp_path: Path) -> None:
    run(tmp_path, 1)
    run(tmp_path, 2)
    name, result = run(tmp_path, 3)
    (tmp_path / "results_broken.jsonl").write_text("no results\n")
    index = ReportWriter(tmp_path, name, "random").write_index([result], "The newest", "1 of 1")
    assert index is not None
    text = index.read_text()
    places = [text.index(words) for words in ("The newest", "bag_3/", "2026-03-02 10:00", "bag_2/", "bag_1/")]
    assert places == sorted(places)
    assert text.count("1 of 1 found, by the paper rule") == 2
    assert text.count("bag_3/report.html") == 2, "the run that wrote the index is in it once: a picture and a name"


def test_runs_come_newest_first_and_what_is_none_is_named(tmp_path: Path) -> None:
    for day in (2, 1, 3):
        run(tmp_path, day)
    (tmp_path / "results_broken.jsonl").write_text("no results\n")
    runs, problems = runs_in(tmp_path)
    assert [run.path.stem for run in runs] == ["results_3", "results_2", "results_1"]
    assert runs[0].policy == "random" and "Policy 'random'" in runs[0].title
    assert len(problems) == 1 and "results_broken" in problems[0]


def test_a_search_without_a_bag_has_its_report_in_a_folder_of_its_run(tmp_path: Path) -> None:
    result = judge(make_episode(tmp_path), submitted(90.0))
    assert report_path(tmp_path, "results_1", result) == tmp_path / "results_1_reports" / "hall-0-0.html"
