"""``hvs sim --in-process``: the whole thing without ROS."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hvs_command import read_lines, results_in

Hvs = Callable[..., tuple[int, str, str]]


def decisions(lines: list[dict[str, Any]]) -> list[Any]:
    """What was seen, decided and scored, without the times."""
    turns = ("turn", "direction", "action", "status", "thought", "raw", "guess", "move", "after")
    whole = ("episode", "level", "outcome", "submitted", "looking", "submitted_judged", "looking_judged", "guess")
    return [
        ({key: line[key] for key in whole}, [{key: turn[key] for key in turns} for turn in line["turns"]])
        for line in lines
    ]


def test_the_same_run_twice_decides_the_same(hvs: Hvs, scenes: Path, tmp_path: Path) -> None:
    runs = []
    for number in range(2):
        path = tmp_path / f"{number}.jsonl"
        sim = ("sim", "--in-process", "--scenes", scenes, "--policy", "random", "--size", "640x360", "--results", path)
        code, out, _ = hvs(*sim)
        assert code == 0 and "[6/6] beta/1/180: Which way is out?" in out and "in process" in out
        runs.append(decisions(read_lines(path)))
    assert runs[0] == runs[1] and len(runs[0]) == 6


def test_the_table_and_the_reports_say_it(hvs: Hvs, scenes: Path, tmp_path: Path) -> None:
    record = tmp_path / "record"
    sim = ("sim", "--in-process", "--scenes", scenes, "--policy", "random", "--size", "640x360", "--record", record)
    code, out, err = hvs(*sim, "--scoring", "reference", "--starts", 1)
    assert code == 0, err
    assert "reference rule" in out and "object" in out and "path" in out and "Answers: " in out
    assert str(record / "index.html") in out
    reports = sorted(record.glob("results_*_reports/*.html"))
    assert len(reports) == 4
    assert "Find the red box." in reports[0].read_text()
    index = (record / "index.html").read_text()
    assert all(report.name in index for report in reports)


def test_finer_views_are_recorded_as_such(hvs: Hvs, scenes: Path, tmp_path: Path) -> None:
    sim = ("sim", "--in-process", "--scenes", scenes, "--policy", "random", "--size", "320x180", "--episodes", 1)
    code, out, err = hvs(*sim, "--supersample", 2, "--record", tmp_path)
    assert code == 0, err
    assert "exact, supersample 2" in " ".join(out.split())
    (report,) = tmp_path.glob("results_*_reports/*.html")
    assert "exact, supersample 2, green cross" in report.read_text()
    code, _, err = hvs(*sim, "--results", results_in(tmp_path), "--resume")
    assert code == 2 and "supersample: was 2, is 1 now" in err


def test_a_recorded_run_is_replayed(hvs: Hvs, scenes: Path, tmp_path: Path) -> None:
    sim = ("sim", "--in-process", "--scenes", scenes, "--size", "320x180")
    first, again = tmp_path / "first.jsonl", tmp_path / "again.jsonl"
    assert hvs(*sim, "--policy", "random", "--results", first)[0] == 0
    code, _, err = hvs(*sim, "--policy", "replay", "--policy-setting", f"path={first}", "--results", again)
    assert code == 0, err
    assert decisions(read_lines(again)) == decisions(read_lines(first))


def test_a_run_is_continued_where_it_stopped(hvs: Hvs, scenes: Path, tmp_path: Path) -> None:
    record = tmp_path / "record"
    sim = ("sim", "--in-process", "--scenes", scenes, "--policy", "random", "--size", "640x360", "--record", record)
    assert hvs(*sim, "--episodes", 2)[0] == 0
    results = results_in(record)
    results.write_bytes(results.read_bytes()[:-30])  # as after a kill
    code, out, _ = hvs(*sim, "--resume")
    assert code == 0
    assert "cut off" in out and "1 of 6 episodes are done already" in out
    assert "[1/6]" not in out and "[2/6]" in out
    assert [line["episode"] for line in read_lines(results)] == [
        f"{scene}/{episode}" for scene in ("alpha", "beta") for episode in ("0/0", "0/90", "1/180")
    ]
    code, out, _ = hvs(*sim, "--resume")
    assert code == 0 and "[1/6]" not in out and "all" in out, "the table of a finished run can be had again"


def test_a_policy_that_is_not_there_ends_the_run(hvs: Hvs, scenes: Path, tmp_path: Path) -> None:
    results = tmp_path / "r.jsonl"
    sim = ("sim", "--in-process", "--scenes", scenes, "--results", results)
    code, _, err = hvs(*sim, "--policy", "slow_policies:Missing")
    assert code == 1 and "pip install oracle" in err and err.count("\n") == 1
    assert not results.exists(), "it is not in the way of the next attempt"


@pytest.mark.parametrize(
    ("policy", "says"), [(("replay",), "path"), (("signs", "--policy-setting", "min_match=80"), "min_match is 80")]
)
def test_a_wrong_setting_is_all_that_is_said(hvs: Hvs, scenes: Path, policy: tuple[str, ...], says: str) -> None:
    code, out, err = hvs("sim", "--in-process", "--scenes", scenes, "--policy", *policy)
    assert code == 2 and says in err and err.count("\n") == 1
    assert out.count("\n") == 1, "the line that says what begins, and no table"


def test_there_must_be_something_to_resume(hvs: Hvs, scenes: Path, tmp_path: Path) -> None:
    sim = ("sim", "--in-process", "--scenes", scenes, "--policy", "random", "--resume")
    for option, where in (("--record", tmp_path), ("--results", tmp_path / "gone.jsonl")):
        code, _, err = hvs(*sim, option, where)
        assert code == 2 and f"nothing to resume in {where}" in err and err.count("\n") == 1


def test_a_policy_that_raises_is_not_scored(hvs: Hvs, scenes: Path) -> None:
    code, out, err = hvs("sim", "--in-process", "--scenes", scenes, "--policy", "slow_policies:Raising")
    assert code == 1
    assert "a bug in a policy" in out and "Not scored, the machinery failed: 3 policy failed" in out
    assert "3 episodes in a row failed" in err
