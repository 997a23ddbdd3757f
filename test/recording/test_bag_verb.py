"""``hvs bag`` and ``hvs report`` as a user calls them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest
from recording_builders import episode, write

from hvs_ros.angles import Direction
from hvs_ros.benchmark.episodes import Episode
from hvs_ros.benchmark.record import SearchRecord
from hvs_ros.benchmark.result import judge
from hvs_ros.benchmark.results_file import ResultsFile
from hvs_ros.benchmark.settings import RunSettings
from hvs_ros.cli.main import main
from hvs_ros.panorama.scene import Scene
from hvs_ros.search.episode import Outcome
from hvs_ros.search.task import Target, Task, TaskKind


def bag(directory: Path, name: str, **more: object) -> Path:
    with write(directory, episode(**more), name) as made:  # type: ignore[arg-type]
        pass
    return made.path


def scenes(directory: Path) -> Path:
    hall = directory / "hall"
    hall.mkdir(parents=True)
    cv2.imwrite(str(hall / "hall.jpg"), np.full((64, 128, 3), 120, np.uint8))
    task = {
        "task": "find the exit sign",
        "yaw": [130, 150],
        "pitch": [-15, 5],
        "initial yaw": [0, 180],
        "level": [2, 0],
    }
    (hall / "annotation.json").write_text(json.dumps([task]))
    return directory


def test_verify_of_whole_bags(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bag(tmp_path, "a")
    bag(tmp_path, "b")
    assert main(["bag", "verify", str(tmp_path)]) == 0
    assert "2 bags, 0 not in order" in capsys.readouterr().out


def test_verify_names_and_rescues(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bag(tmp_path, "whole")
    (bag(tmp_path, "torn") / "metadata.yaml").unlink()
    assert main(["bag", "verify", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "unfinished      torn" in out and "--recover" in out and "1 not in order" in out
    assert main(["bag", "verify", str(tmp_path), "--recover"]) == 0
    assert "recovered" in capsys.readouterr().out
    assert main(["bag", "verify", str(tmp_path)]) == 0
    assert (tmp_path / "torn.damaged").is_dir()


def test_verify_says_a_line_of_each_bag(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (bag(tmp_path, "torn") / "metadata.yaml").write_text("{{{\n\x1b[2J\n")
    assert main(["bag", "verify", str(tmp_path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3 and lines[0].startswith("damaged         torn") and len(lines[0]) < 500
    assert all(line.isprintable() for line in lines)


def test_verify_of_nothing_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bag", "verify", str(tmp_path / "missing")]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1 and "missing" in captured.err


def test_info(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = bag(tmp_path, "a")
    assert main(["bag", "info", str(path)]) == 0
    out = capsys.readouterr().out
    for words in ("find the exit sign (object)", "hall", "signs", "submitted yaw 140.0°", "rotate 90° right", "turn 3"):
        assert words in out
    assert main(["bag", "info", str(tmp_path / "missing")]) == 1


@pytest.mark.parametrize("harm", ["unfinished", "metadata", "cut"])
def test_info_of_a_damaged_bag_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str], harm: str) -> None:
    path = bag(tmp_path, "a")
    if harm == "unfinished":
        (path / "metadata.yaml").unlink()
    elif harm == "metadata":
        (path / "metadata.yaml").write_text("{{{")
    else:
        (file,) = path.glob("*.mcap")
        file.write_bytes(file.read_bytes()[:-200])
    assert main(["bag", "info", str(path)]) == 1
    out = capsys.readouterr().out
    assert "find the exit sign" in out and ("DAMAGED" in out or "UNFINISHED" in out) and "--recover" in out


def test_info_of_a_folder_of_bags_points_to_verify(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bag(tmp_path, "a")
    assert main(["bag", "info", str(tmp_path)]) == 1
    assert f"hvs bag verify {tmp_path}" in capsys.readouterr().out


def test_report_beside_its_bag(tmp_path: Path) -> None:
    path = bag(tmp_path, "a")
    line = [sys.executable, "-m", "hvs_ros.cli.main", "report", str(path)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=100, cwd=Path(__file__).parents[2], check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == str(path / "report.html")
    assert "find the exit sign" in (path / "report.html").read_text()


def test_report_with_the_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = bag(tmp_path / "bags", "a")
    out = tmp_path / "mine.html"
    assert main(["report", str(path), "--scenes", str(scenes(tmp_path / "scenes")), "--out", str(out)]) == 0
    text = out.read_text()
    assert ">Found<" in text and "object search, hard" in text and "<image href=" in text


def test_a_level_that_is_not_annotated_is_worked_out(tmp_path: Path) -> None:
    path = bag(tmp_path / "bags", "a")
    annotation = scenes(tmp_path / "scenes") / "hall" / "annotation.json"
    (item,) = json.loads(annotation.read_text())
    del item["level"]
    annotation.write_text(json.dumps([item]))
    assert main(["report", str(path), "--scenes", str(tmp_path / "scenes")]) == 0
    assert "object search, hard" in (path / "report.html").read_text()


def test_reports_of_a_folder_get_an_index(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b"):
        bag(tmp_path / "bags", name)
    (tmp_path / "bags" / "broken").mkdir()
    (tmp_path / "bags" / "broken" / "broken.mcap").write_bytes(b"")
    code = main(["report", str(tmp_path / "bags"), "--out", str(tmp_path / "out")])
    assert code == 1 and "broken" in capsys.readouterr().out, "one could not be read, the others are there"
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"a.html", "b.html", "index.html"}
    assert 'href="a.html"' in (tmp_path / "out" / "index.html").read_text()


def results_beside(path: Path, picture: Path) -> None:
    """Leave the results of the run that recorded a bag."""
    task = Task("find the exit sign", TaskKind.OBJECT, 10)
    scene = Scene("hall", picture)
    one = Episode("hall/0/0", scene, task, Direction(0, 0), Target((130.0, 150.0), (-15.0, 5.0)), 2)
    record = SearchRecord(Outcome.SUBMITTED, "", Direction(140, -5), bag=path)
    with ResultsFile.create(path.parent / "results_1.jsonl", RunSettings("signs")) as results:
        results.append(judge(one, record))


def test_report_finds_the_answer_in_the_results_beside_the_bags(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = bag(tmp_path / "bags", "a")
    other = bag(tmp_path / "bags", "b")
    folder = scenes(tmp_path / "scenes")
    results_beside(path, folder / "hall" / "hall.jpg")
    monkeypatch.setattr("hvs_ros.share.sample_scenes", lambda: folder)
    assert main(["report", str(tmp_path / "bags")]) == 0
    text = (path / "report.html").read_text()
    assert ">Found<" in text and "object search, hard" in text and "<image href=" in text
    assert ">Submitted<" in (other / "report.html").read_text()
    index = (tmp_path / "bags" / "index.html").read_text()
    assert index.index("1 of 1 found") < index.index("Other recordings") < index.index('href="b/report.html"')


def test_a_report_that_knows_more_is_kept_and_that_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = bag(tmp_path / "bags", "a")
    folder = str(scenes(tmp_path / "scenes"))
    assert main(["report", str(path), "--scenes", folder]) == 0
    scored = (path / "report.html").read_text()
    capsys.readouterr()
    assert main(["report", str(path)]) == 0
    out = capsys.readouterr().out
    assert "kept" in out and "--scenes" in out
    assert (path / "report.html").read_text() == scored
    assert main(["report", str(path), "--scenes", folder]) == 0
    assert "kept" not in capsys.readouterr().out


def test_report_into_a_folder_that_cannot_be(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = bag(tmp_path, "a")
    (tmp_path / "file").write_text("")
    assert main(["report", str(path), "--out", str(tmp_path / "file" / "r.html")]) == 1
    assert "file" in capsys.readouterr().err
    assert main(["report", str(path), "--scenes", str(tmp_path / "nowhere")]) == 2
