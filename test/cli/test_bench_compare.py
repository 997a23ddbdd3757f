"""``hvs bench compare``: what it prints, and the exit code that a CI relies on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Hvs = Callable[..., tuple[int, str, str]]


def bench(hvs: Hvs, scenes: Path, file: Path, *more: object) -> Path:
    code, _, err = hvs("bench", scenes, "--policy", "random", "--size", "64x36", "--results", file, *more)
    assert code == 0, err
    return file


def edited(file: Path, out: Path, change: Callable[[int, dict[str, Any]], None]) -> Path:
    """Write a results file in which something is otherwise."""
    header, *lines = file.read_text().splitlines()
    made = [json.loads(line) for line in lines]
    for number, line in enumerate(made):
        change(number, line)
    out.write_text("\n".join([header, *map(json.dumps, made)]) + "\n")
    return out


def verdict(right: bool) -> Callable[[int, dict[str, Any]], None]:
    def change(_: int, line: dict[str, Any]) -> None:
        line["submitted_judged"].update(paper=right, reference=not right)

    return change


def test_what_changed_and_in_what_the_runs_differ(hvs: Hvs, scenes: Path, tmp_path: Path) -> None:
    run = bench(hvs, scenes, tmp_path / "run.jsonl")
    a = edited(run, tmp_path / "a.jsonl", verdict(False))
    b = edited(
        bench(hvs, scenes, tmp_path / "other.jsonl", "--policy-setting", "seed=5"), tmp_path / "b.jsonl", verdict(True)
    )
    code, out, _ = hvs("bench", "compare", a, b)
    assert code == 0
    assert "found by both 0, only by A 0, only by B 6, by neither 0" in out
    assert "policy_settings.seed: was not set, is 5 now" in out and "alpha/0/0: A submitted" in out
    assert "only by A 6, only by B 0" in hvs("bench", "compare", a, b, "--scoring", "reference")[1]
    figures = json.loads(hvs("bench", "compare", a, b, "--json", "-")[1])
    assert figures["total"]["difference"] == 1 and len(figures["changed"]) == 6


def test_fail_if_worse_is_for_a_ci(hvs: Hvs, scenes: Path, tmp_path: Path) -> None:
    run = bench(hvs, scenes, tmp_path / "run.jsonl")
    good, bad = (edited(run, tmp_path / f"{right}.jsonl", verdict(right)) for right in (True, False))
    code, out, err = hvs("bench", "compare", good, bad, "--fail-if-worse", "0.05")
    assert code == 1 and "B found fewer than A: p 0.0312 is below 0.05" in err and "only by A 6" in out
    for a, b, alpha in ((good, bad, "0.01"), (bad, good, "0.05"), (good, good, "1")):
        assert hvs("bench", "compare", a, b, "--fail-if-worse", alpha)[0] == 0
    broken = edited(run, tmp_path / "broken.jsonl", lambda _, line: line.update(outcome="policy failed"))
    code, _, err = hvs("bench", "compare", good, broken, "--fail-if-worse", "0.05")
    assert code == 1 and "no episode was completed in both" in err, "what did not run is not as good"
    assert hvs("bench", "compare", good, bad)[0] == 0, "without being asked nothing fails"
    assert hvs("bench", "compare", good, bad, "--fail-if-worse", "5")[0] == 2


def test_other_tasks_are_refused(hvs: Hvs, scenes: Path, tmp_path: Path) -> None:
    def reword(number: int, line: dict[str, Any]) -> None:
        if number == 0:
            line["instruction"] = "Find the blue box."

    run = bench(hvs, scenes, tmp_path / "run.jsonl")
    other = edited(run, tmp_path / "other.jsonl", reword)
    code, _, err = hvs("bench", "compare", run, other)
    assert code == 2 and err.count("\n") == 1 and "1 of 6 episodes are not the same task" in err
    code, out, _ = hvs("bench", "compare", run, other, "--leave-out-unlike")
    assert code == 0 and "LEFT OUT: 1 not the same task in both" in out


def test_what_cannot_be_compared_is_one_line(hvs: Hvs, scenes: Path, tmp_path: Path) -> None:
    halves = [bench(hvs, scenes, tmp_path / f"{n}.jsonl", "--shard", f"{n}/2") for n in (1, 2)]
    for wrong, reason in ((halves[1], "no episode in common"), (tmp_path / "gone.jsonl", "cannot be read")):
        code, _, err = hvs("bench", "compare", halves[0], wrong)
        assert code == 2 and err.count("\n") == 1 and reason in err
