"""``hvs bench check``: counts, problems a line each, and an exit code that a script can go by."""

from __future__ import annotations

from pathlib import Path

import pytest
from hvs_command import write_scene

from hvs_ros.cli.main import main

STARTS = {"initial yaw": [0, 90], "level": [2, 0]}
FIND = {"task": "Find the red box.", "yaw": [80, 100], "pitch": [-10, 10], **STARTS}
WAY = {"task": "Which way is out?", "yaw": [350, 10], **STARTS}


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    write_scene(tmp_path / "hos_bench" / "hall", [FIND], seed=1)
    write_scene(tmp_path / "hps_bench" / "hall", [WAY], seed=1)
    return tmp_path


def test_a_data_set_without_a_problem(dataset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "check", str(dataset)]) == 0
    printed = capsys.readouterr().out
    rows = [line.split() for line in printed.splitlines()]
    assert ["split", "kind", "scenes", "tasks", "episodes", "easy", "medium", "hard", "extreme"] in rows
    assert ["hos_bench", "object", "1", "1", "2", "1", "0", "1"] in rows
    assert ["hps_bench", "path", "1", "1", "2", "1", "0", "1", "0"] in rows
    assert "Not as many as were published (600 object and 400 path tasks from 4 starts each, 4000 episodes)" in printed
    assert rows[-1] == ["2", "scenes,", "no", "problem"]


def test_problems_are_lines_and_the_exit_code(dataset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_scene(dataset / "hos_bench" / "yard", [{**FIND, "yaw": [100, 80]}], seed=2)
    write_scene(dataset / "hos_bench" / "shop", [FIND], seed=3)
    (dataset / "hos_bench" / "shop" / "shop.jpg").write_text("no picture")
    assert main(["bench", "check", str(dataset), "--decode"]) == 1
    printed = capsys.readouterr().out
    wrong = [line for line in printed.splitlines() if line.startswith("WRONG ")]
    assert len(wrong) == 2
    assert "are left and right exchanged?" in wrong[0] and "shop.jpg: not an image" in wrong[1]
    assert printed.splitlines()[-1] == "4 scenes, 2 problems"


def test_what_is_no_data_set(dataset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_scene(dataset / "yard", [FIND])
    assert main(["bench", "check", str(dataset)]) == 2
    assert "scenes lie beside folders of scenes (hos_bench, hps_bench)" in capsys.readouterr().err
