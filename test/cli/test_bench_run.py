"""``hvs bench DIR``: the benchmark as a user runs it, killed, stopped and resumed."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hvs_command import Command, read_lines, wait_for_lines, without_times, write_scene

from hvs_ros.cli.bench import with_action
from hvs_ros.cli.bench_run_plan import default_results
from hvs_ros.cli.main import main
from hvs_ros.panorama.picture import PanoramaFile

Hvs = Callable[..., tuple[int, str, str]]
SMALL = ("--size", "320x180")
ITEMS = [
    {"task": "Find the red box.", "yaw": [80, 100], "pitch": [-10, 10], "initial yaw": [0, 90, 180, 270]},
    {"task": "Which way is out?", "yaw": [350, 10], "initial yaw": [0, 90, 180, 270]},
]


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """Two splits with six scenes and 48 episodes in all."""
    for number, split in enumerate(("hos", "hps")):
        for scene in range(3):
            write_scene(tmp_path / "data" / split / f"room_{scene}", ITEMS, seed=3 * number + scene)
    return tmp_path / "data"


def settings_in(path: Path) -> dict[str, Any]:
    with path.open() as file:
        settings: dict[str, Any] = json.loads(file.readline())["settings"]
    return settings


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (["bench", "data"], ["bench", "run", "data"]),
        (["bench", "--policy", "random", "data"], ["bench", "run", "--policy", "random", "data"]),
        (["bench", "./check"], ["bench", "run", "./check"]),
        (["bench", "check", "data"], ["bench", "check", "data"]),
        (["bench", "--help"], ["bench", "--help"]),
        (["bench"], ["bench"]),
        (["sim", "bench"], ["sim", "bench"]),
        ([], []),
    ],
)
def test_to_run_is_what_is_meant_where_no_action_is_named(given: list[str], meant: list[str]) -> None:
    assert with_action(given) == meant


def test_the_help_says_how_to_run_it(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["bench", "--help"])
    assert capsys.readouterr().out.startswith("usage: hvs bench DIR [OPTION ...]\n")
    with pytest.raises(SystemExit):
        main(["bench", "data", "--shard", "5/4"])
    usage, error = capsys.readouterr().err.splitlines()
    assert usage == "usage: hvs bench DIR [OPTION ...]" and "'5/4' is not a part like 1/4" in error


def test_a_run_ends_with_the_table_and_what_to_do_next(
    hvs: Hvs, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    decoded: list[Path] = []
    decode = PanoramaFile.decode
    monkeypatch.setattr(PanoramaFile, "decode", lambda file: decoded.append(file.path) or decode(file))
    code, out, err = hvs("bench", "--policy", "random", *SMALL, "--in-flight", 4, dataset)
    assert code == 0 and err == "", err
    assert len(decoded) == len(set(decoded)) == 6
    path = Path("runs/bench/random_paper.jsonl")
    assert len(read_lines(path)) == 48 and len(without_times(path)) == 48
    assert "48/48 (100 %)" in out and "episodes/s" in out and "success" in out
    assert "Object search (HOS)" in out and "HVS-3B" in out and "48 episodes" in out
    assert "view: 320x180 instead of 1920x1080" in out and "NOT comparable" in out
    assert f"results: {path}" in out and f"hvs bench report {path}" in out
    settings = settings_in(path)
    assert settings["protocol"] == "paper" and settings["deviations"] == ["view: 320x180 instead of 1920x1080"]
    assert settings["notes"]["in_flight"] == 4 and settings["notes"]["dataset"] == str(dataset)

    code, _, err = hvs("bench", dataset, "--policy", "random", *SMALL, "--results", tmp_path)
    assert code == 2 and f"--results {tmp_path} is a folder: name a file" in err
    code, _, err = hvs("bench", dataset, "--policy", "random", *SMALL)
    assert code == 2 and "is there already" in err and "--resume" in err
    code, out, _ = hvs("bench", dataset, "--policy", "random", *SMALL, "--resume")
    assert code == 0 and "48 of 48 episodes are done already" in out and "Object search (HOS)" in out
    code, _, err = hvs("bench", dataset, "--policy", "random", *SMALL, "--resume", "--policy-setting", "seed=3")
    assert code == 2 and "seed: was not set, is 3 now" in err and len(read_lines(path)) == 48
    # Before a policy is made, which may take long.
    code, _, err = hvs("bench", dataset, "--policy", "slow_policies:Missing", "--results", path, "--resume")
    assert code == 2 and 'policy: was "random", is "slow_policies:Missing" now' in err


@pytest.mark.parametrize("text", ["", '{"hvs_results":1,"set'])
def test_a_file_without_a_whole_line_is_continued(hvs: Hvs, dataset: Path, tmp_path: Path, text: str) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(text)
    code, _, err = hvs("bench", dataset, "--policy", "random", *SMALL, "--episodes", 2, "--results", path, "--resume")
    assert code == 0 and len(read_lines(path)) == 2, err


def test_a_file_of_a_data_set_with_other_episodes_is_refused(hvs: Hvs, dataset: Path, tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    run = ("--policy", "random", *SMALL, "--results", path)
    code, _, err = hvs("bench", dataset, *run, "--episodes", 4)
    assert code == 0, err
    before = path.read_text()
    split = dataset / "hos"
    code, _, err = hvs("bench", split, *run, "--resume")  # the same searches under other names
    assert code == 2 and "the data set has no episode" in err and path.read_text() == before


def test_a_first_line_that_holds_nothing_is_refused(hvs: Hvs, dataset: Path, tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text('{"hvs_results": 1, "settings": {}}\n')
    code, _, err = hvs("bench", dataset, "--policy", "random", "--results", path, "--resume")
    assert code == 2 and "was made with other settings" in err


@pytest.mark.parametrize(
    ("run", "name"),
    [
        (("random", "", "paper", None), "random_paper.jsonl"),
        (("torch", "/models/HVS-3B/", "reference", None), "torch_hvs-3b_reference.jsonl"),
        (("my.module:Mine", "", "paper", (2, 3)), "my-module-mine_paper_2of3.jsonl"),
    ],
)
def test_each_model_protocol_and_shard_has_results_of_its_own(run: Any, name: str) -> None:
    assert default_results(*run) == Path("runs/bench") / name


def test_the_reference_protocol_and_its_deviations(hvs: Hvs, dataset: Path, tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    run = ("bench", dataset, "--policy", "random", "--protocol", "reference", "--results", path)
    code, out, err = hvs(*run, *SMALL, "--episodes", 2, "--turns", 3, "--scoring", "paper")
    assert code == 0, err
    settings = settings_in(path)
    assert settings["view"]["sampling"] == "hstar" and settings["max_turns"] == 3
    assert len(settings["deviations"]) == 3 and "scoring: paper instead of reference" in out
    assert "PART of the data: 2 of 48 episodes, the first 2 episodes" in " ".join(out.split())


def test_shards_are_parts_with_results_of_their_own(
    hvs: Hvs, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = ("bench", dataset, "--policy", "random", *SMALL, "--kind", "path", "--in-flight", 4)
    for number in (1, 2):
        code, out, err = hvs(*run, "--shard", f"{number}/2")
        assert code == 0 and f"shard {number} of 2" in out, err
    parts = [set(without_times(Path(f"runs/bench/random_paper_{number}of2.jsonl"))) for number in (1, 2)]
    assert not parts[0] & parts[1] and len(parts[0] | parts[1]) == 24


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        (("--policy", "random", "--resume"), 2, "no results"),
        (("--policy", "random", "--shard", "3/2"), 2, "is not a part like 1/4"),
        (("--policy", "random", "--seed", "x"), 2, "not a whole number"),
        (("--policy", "random", "--prompts", "hvs"), 2, "--prompts does not go with the policy 'random'"),
        (("--policy", "random", "--select", "attic*"), 2, "no episode matches"),
        (
            (
                "--policy",
                "keyboard",
            ),
            2,
            "hvs sim",
        ),
        (
            (
                "--policy",
                "nobody",
            ),
            2,
            "there is no policy 'nobody'",
        ),
        (("--policy", "slow_policies:Missing"), 1, "pip install oracle"),
        (("--policy", "server", "--protocol", "reference"), 2, "--prompts"),
        (("--policy", "server", "--base-url", "http://127.0.0.1:9/v1"), 1, "127.0.0.1:9"),
    ],
)
def test_what_cannot_be_is_one_line_and_leaves_nothing(
    hvs: Hvs, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: Any, code: int, says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    found, _, err = hvs("bench", dataset, *options)
    assert found == code and says in err.splitlines()[-1]
    assert not list(tmp_path.rglob("*.jsonl"))


def test_a_broken_picture_is_found_before_the_run(hvs: Hvs, dataset: Path, tmp_path: Path) -> None:
    picture = dataset / "hos" / "room_1" / "room_1.jpg"
    picture.write_bytes(picture.read_bytes()[:3000])
    code, _, err = hvs("bench", dataset, "--policy", "random", "--results", tmp_path / "r.jsonl")
    assert code == 2 and "room_1.jpg" in err and not (tmp_path / "r.jsonl").exists()


def test_a_policy_with_a_bug_is_given_up_and_scores_nothing(
    hvs: Hvs, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    path = tmp_path / "r.jsonl"
    code, out, err = hvs("bench", dataset, "--policy", "slow_policies:Raising", *SMALL, "--results", path)
    assert code == 1 and "a bug in a policy" in err and "48 of 48 episodes are not done" in out
    assert [line["outcome"] for line in read_lines(path)] == ["policy failed"] * 2
    assert out.count("not completed: ") == 2 and "the last one: policy failed" in err


def test_a_full_disk_ends_the_run_and_keeps_what_was_written(
    hvs: Hvs, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.jsonl"
    run = ("bench", dataset, "--policy", "random", *SMALL, "--in-flight", 2, "--results", path)
    write = os.write

    def full(descriptor: int, data: bytes) -> int:
        if data.startswith(b'{"episode"') and path.read_bytes().count(b"\n") == 8:
            return write(descriptor, data[:100])
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", full)
    code, _, err = hvs(*run)
    assert code == 1 and "no space left" in err and len(read_lines(path)) == 7
    monkeypatch.undo()
    code, out, _ = hvs(*run, "--resume")
    assert code == 0 and "7 of 48 episodes are done already" in out and len(without_times(path)) == 48


def test_a_results_file_that_nobody_may_write_is_known_at_once(hvs: Hvs, dataset: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    code, _, err = hvs("bench", dataset, "--policy", "random", "--results", tmp_path / "file" / "r.jsonl")
    assert code == 2 and "cannot be written" in err


def test_killed_in_the_middle_and_resumed_nothing_is_lost_or_repeated(
    hvs: Hvs, begin: Callable[..., Command], dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    path, whole = tmp_path / "killed.jsonl", tmp_path / "whole.jsonl"
    run = ("--policy", "slow_policies:Slow", "--policy-setting", "seconds=0.02", *SMALL, "--turns", 4, "--in-flight", 6)
    killed = begin(dataset, *run, "--results", path)
    wait_for_lines(killed, path, 15)
    killed.send(signal.SIGKILL)
    assert killed.wait() == -signal.SIGKILL
    kept = [line["episode"] for line in read_lines(path, torn=True)]
    assert 14 <= len(kept) == len(set(kept)) < 48
    # Whatever the disk kept of a line that was being written is dropped.
    with path.open("a") as file:
        file.write('{"episode":"hos/room_0/0/0","sce')

    code, out, err = hvs("bench", dataset, *run, "--results", path, "--resume")
    assert code == 0 and f"{len(kept)} of 48 episodes are done already" in out and "cut off" in out, err
    names = [line["episode"] for line in read_lines(path)]
    assert names[: len(kept)] == kept and len(names) == len(set(names)) == 48
    assert hvs("bench", dataset, *run, "--results", whole)[0] == 0
    assert without_times(path) == without_times(whole)
    assert settings_in(path) == settings_in(whole)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_it_ends_in_order_and_says_how_to_go_on(
    begin: Callable[..., Command], dataset: Path, tmp_path: Path, number: signal.Signals
) -> None:
    path = tmp_path / "stopped.jsonl"
    run = ("--policy", "slow_policies:Slow", "--policy-setting", "seconds=0.05", *SMALL, "--in-flight", 4)
    stopped = begin(dataset, *run, "--results", path)
    wait_for_lines(stopped, path, 5)
    stopped.send(number)
    began = time.monotonic()
    assert stopped.wait() == 130 and time.monotonic() - began < 30
    done = len(read_lines(path))
    assert path.read_bytes().endswith(b"\n") and all(
        line["outcome"] == "turns exhausted" or line["submitted"] for line in read_lines(path)
    )
    assert f"{48 - done} of 48 episodes are not done; the same command with --resume runs them" in stopped.output
    assert "stopping: " in stopped.output and "Object search (HOS)" in stopped.output
    assert "Traceback" not in stopped.output
