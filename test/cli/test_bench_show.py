"""``hvs bench show`` prints what ``hvs bench`` printed, and gives all figures as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

Hvs = Callable[..., tuple[int, str, str]]


def bench(hvs: Hvs, scenes: Path, file: Path, *more: object) -> str:
    code, out, err = hvs("bench", scenes, "--policy", "random", "--size", "64x36", "--results", file, *more)
    assert code == 0, err
    return out


def test_the_table_of_a_run_is_printed_again(hvs: Hvs, scenes: Path, tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    first = bench(hvs, scenes, file)
    code, again, _ = hvs("bench", "show", file)
    assert code == 0 and again.strip() in first, "to the last digit"
    assert "H*Bench, protocol 'paper', paper rule, with deviations, 6 episodes" in again and "GPT-4o" in again
    assert "GPT-4o" not in hvs("bench", "show", file, "--no-published")[1]
    assert "reference rule" in hvs("bench", "show", file, "--scoring", "reference")[1]


def test_the_rule_is_the_runs_own_unless_another_is_named(hvs: Hvs, scenes: Path, tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    bench(hvs, scenes, file, "--scoring", "reference", "--shard", "1/2")
    out = hvs("bench", "show", file)[1]
    assert "protocol 'paper', reference rule" in out and "PART of the data: 3 of 6 episodes, shard 1 of 2" in out
    assert "protocol 'paper', paper rule" in hvs("bench", "show", file, "--scoring", "paper")[1]


def test_all_figures_as_json(hvs: Hvs, scenes: Path, tmp_path: Path) -> None:
    file, figures = tmp_path / "r.jsonl", tmp_path / "new" / "figures.json"
    bench(hvs, scenes, file)
    code, out, _ = hvs("bench", "show", file, "--json", figures)
    assert code == 0 and "Object search" in out
    values = json.loads(figures.read_text())
    assert values["settings"]["policy"] == "random"
    assert values["analysis"]["columns"][0]["success"]["of"] == 4
    assert json.loads(hvs("bench", "show", file, "--json", "-")[1]) == values, "and nothing but it"
    code, _, err = hvs("bench", "show", file, "--json", file / "figures.json")
    assert code == 1 and err.count("\n") == 1 and "cannot be written" in err


def test_a_run_of_hvs_sim_is_no_benchmark(hvs: Hvs, scenes: Path, tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    sim = ("sim", "--in-process", "--scenes", scenes, "--policy", "random", "--size", "64x36", "--results", file)
    assert hvs(*sim, "--episodes", 2)[0] == 0
    code, out, _ = hvs("bench", "show", file)
    assert code == 0 and "NOT comparable" in out and "this is no run of hvs bench" in out


def test_what_is_no_results_file_is_one_line(hvs: Hvs, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello\n")
    for wrong in (tmp_path / "notes.txt", tmp_path / "gone.jsonl", tmp_path):
        code, _, err = hvs("bench", "show", wrong)
        assert code == 2 and err.count("\n") == 1 and str(wrong) in err
