"""``hvs results`` prints what ``hvs sim`` printed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

Hvs = Callable[..., tuple[int, str, str]]


def test_the_table_of_a_run_is_printed_again(hvs: Hvs, scenes: Path, tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    sim = ("sim", "--in-process", "--scenes", scenes, "--policy", "random", "--size", "64x36", "--results", file)
    code, first, _ = hvs(*sim, "--episodes", 3)
    assert code == 0
    code, again, _ = hvs("results", file)
    assert code == 0 and str(file) in again and "Policy 'random', views 64x36, 100° exact, in process" in again
    rows = [line.split() for line in again.splitlines() if line.startswith(("object", "path", "all"))]
    assert rows and rows == [line.split() for line in first.splitlines() if line.startswith(("object", "path", "all"))]
    assert "reference rule" in hvs("results", file, "--scoring", "reference")[1]


def test_a_folder_stands_for_its_results_files(hvs: Hvs, scenes: Path, tmp_path: Path) -> None:
    sim = ("sim", "--in-process", "--scenes", scenes, "--policy", "random", "--size", "64x36", "--episodes", 1)
    assert hvs(*sim, "--record", tmp_path / "runs")[0] == 0
    code, out, _ = hvs("results", tmp_path / "runs")
    assert code == 0 and out.count("Policy 'random'") == 1


def test_what_is_no_results_file_is_one_line(hvs: Hvs, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello\n")
    for wrong in (tmp_path / "notes.txt", tmp_path / "gone.jsonl", tmp_path):
        code, _, err = hvs("results", wrong)
        assert code == 2 and err.count("\n") == 1 and str(wrong) in err
