"""What a person can get wrong: each is refused at the start, with one line that names it, and nothing has been run."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest
from hvs_command import ITEMS, write_panorama, write_scene

from hvs_ros.cli.arguments import namespace

Hvs = Callable[..., tuple[int, str, str]]


@pytest.fixture
def refused(hvs: Hvs) -> Callable[..., str]:
    """Run ``hvs sim`` in process and return why it refused."""

    def run(*arguments: object, code: int = 2) -> str:
        found, out, err = hvs("sim", "--in-process", *arguments)
        assert found == code, (out, err)
        assert err.count("\n") == 1 and "Traceback" not in err, err
        assert "[1/" not in out, "an episode was run"
        return err

    return run


def test_an_unknown_policy_names_the_known(refused: Callable[..., str], scenes: Path) -> None:
    reason = refused("--scenes", scenes, "--policy", "psychic")
    assert "no policy 'psychic'" in reason
    assert "keyboard, onnx, random, replay, server, signs, torch" in reason


def test_an_unknown_setting_names_the_known(refused: Callable[..., str], scenes: Path) -> None:
    reason = refused("--scenes", scenes, "--policy", "random", "--policy-setting", "luck=3")
    assert "no setting luck" in reason and "seed" in reason


def test_a_folder_without_anything(refused: Callable[..., str], tmp_path: Path) -> None:
    assert "nothing to search here" in refused("--scenes", tmp_path, "--policy", "random")
    assert "no such folder" in refused("--scenes", tmp_path / "gone", "--policy", "random")


def test_bare_panoramas_without_an_instruction(refused: Callable[..., str], hvs: Hvs, tmp_path: Path) -> None:
    write_panorama(tmp_path / "yard.jpg")
    assert "--instruction" in refused("--scenes", tmp_path, "--policy", "random")
    code, out, _ = hvs(
        "sim", "--in-process", "--scenes", tmp_path, "--policy", "random", "--instruction", "find the door"
    )
    assert code == 0 and "yard/free/0" in out and "free task" in out and "so far" not in out and "scored yet" not in out


def test_an_empty_instruction(refused: Callable[..., str], scenes: Path) -> None:
    assert "instruction is empty" in refused("--scenes", scenes, "--policy", "random", "--instruction", "  ")


def test_an_empty_instruction_for_a_running_system(hvs: Hvs) -> None:
    code, _, err = hvs("search", "  ", "--wait", 60)
    assert code == 2 and "instruction is empty" in err and err.count("\n") == 1


def broken_pictures() -> list[tuple[str, Callable[[Path], object], str]]:
    def cut(path: Path) -> None:
        write_panorama(path)
        path.write_bytes(path.read_bytes()[:3000])

    return [
        ("cut.jpg", cut, "truncated"),
        ("text.jpg", lambda path: path.write_text("not a picture"), "not an image"),
        ("square.png", lambda path: cv2.imwrite(str(path), np.zeros((64, 64, 3), np.uint8)), "2:1"),
        ("empty.jpg", lambda path: path.write_bytes(b""), "empty"),
    ]


@pytest.mark.parametrize(("name", "write", "reason"), broken_pictures())
def test_a_broken_picture_among_good_ones(
    refused: Callable[..., str], scenes: Path, name: str, write: Callable[[Path], object], reason: str
) -> None:
    folder = write_scene(scenes / "gamma")
    (folder / "gamma.jpg").unlink()
    write(folder / name)
    said = refused("--scenes", scenes, "--policy", "random")
    assert str(folder / name) in said and reason in said


def test_a_broken_picture_where_nobody_searches_is_no_obstacle(hvs: Hvs, scenes: Path) -> None:
    (scenes / "beta" / "beta.jpg").write_text("not a picture")
    sim = ("sim", "--in-process", "--scenes", scenes, "--policy", "random", "--size", "64x36")
    assert hvs(*sim, "--select", "alpha")[0] == 0


def test_a_malformed_annotation_names_file_and_item(refused: Callable[..., str], scenes: Path) -> None:
    folder = write_scene(scenes / "gamma", [*ITEMS, {"task": "Find it.", "yaw": [1]}])
    reason = refused("--scenes", scenes, "--policy", "random")
    assert str(folder / "annotation.json") in reason and "item 2" in reason


def test_nothing_selected(refused: Callable[..., str], scenes: Path) -> None:
    assert "scenes are alpha, beta" in refused("--scenes", scenes, "--policy", "random", "--select", "x*")


def test_a_record_folder_that_cannot_be_written(refused: Callable[..., str], scenes: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    reason = refused("--scenes", scenes, "--policy", "random", "--record", tmp_path / "file" / "bags")
    assert "cannot be written" in reason and "file" in reason


def test_results_that_are_not_to_be_mixed(refused: Callable[..., str], hvs: Hvs, scenes: Path, tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    sim = ("--scenes", scenes, "--policy", "random", "--results", results)
    assert hvs("sim", "--in-process", *sim)[0] == 0
    assert "--resume" in refused(*sim)
    reason = refused(*sim, "--resume", "--policy-setting", "seed=5", "--size", "640x360")
    assert "policy_settings.seed: was not set, is 5 now" in reason and "camera.width: was 1920, is 640 now" in reason
    results.write_text("hello\n")
    assert "not a results file" in refused(*sim, "--resume")
    assert "give --results FILE or --record DIR" in refused("--scenes", scenes, "--policy", "random", "--resume")


def test_what_does_not_go_together(refused: Callable[..., str], scenes: Path, tmp_path: Path) -> None:
    assert "needs the ROS graph" in refused("--scenes", scenes, "--policy", "random", "--motion", "profile")
    sim = ("--scenes", scenes, "--policy", "random", "--params-file")
    assert "cannot be read" in refused(*sim, tmp_path / "gone.yaml")
    (tmp_path / "bad.yaml").write_text("a: [")
    assert "not YAML" in refused(*sim, tmp_path / "bad.yaml")
    (tmp_path / "good.yaml").write_text("/**: {ros__parameters: {motion: profile}}")
    assert "--in-process has none" in refused(*sim, tmp_path / "good.yaml")
    hstar = ("--scenes", scenes, "--policy", "random", "--sampling", "hstar", "--supersample", 2)
    assert "--supersample 1 only" in refused(*hstar)


@pytest.mark.parametrize(
    "option",
    [("--turns", 0), ("--size", "big"), ("--size", "5x5"), ("--starts", -1), ("--hfov", "nan"), ("--domain", 999)],
)
def test_numbers_out_of_range(hvs: Hvs, scenes: Path, option: tuple[str, object]) -> None:
    code, _, err = hvs("sim", "--scenes", scenes, *option)
    assert code == 2 and option[0] in err and "Traceback" not in err


def test_without_ros(hvs: Hvs, scenes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name == "rclpy" else find(name, *a))
    code, _, err = hvs("sim", "--scenes", scenes, "--policy", "random")
    assert code == 1 and err.count("\n") == 1
    assert "the extra 'ros' of hvs_ros" in err and "--in-process" in err


@pytest.mark.parametrize(
    "verb",
    [
        ("sim", "--in-process", "--policy", "random", "--scenes"),
        ("scenes", "check"),
        ("bag", "verify"),
        ("bag", "info"),
        ("report",),
    ],
)
@pytest.mark.parametrize("name", ["x" * 5000, "~nobody-of-that-name/x", "caf\udce9"], ids=["long", "user", "bytes"])
def test_a_name_that_cannot_be_one(hvs: Hvs, verb: tuple[str, ...], name: str) -> None:
    code, _, err = hvs(*verb, name)
    assert code in (1, 2) and "Traceback" not in err
    last = err.splitlines()[-1]
    assert "too long" in last or "home directory" in last or "not UTF-8" in last


def test_a_scene_whose_name_is_no_text(refused: Callable[..., str], scenes: Path) -> None:
    folder = os.fsencode(scenes) + b"/caf\xe9"
    try:
        os.mkdir(folder)
    except OSError:
        pytest.skip("this file system knows no such names")
    shutil.copy(scenes / "alpha" / "alpha.jpg", folder + b"/a.jpg")
    assert "caf\\udce9: the name is not UTF-8; rename it" in refused("--scenes", scenes, "--policy", "random")


def test_a_strangers_words_do_not_command_the_terminal(hvs: Hvs, tmp_path: Path) -> None:
    write_scene(tmp_path / "hall", [{"task": "Find\x1b[2J\x07 it.", "yaw": [1, 2], "initial yaw": [0]}])
    code, out, _ = hvs("sim", "--in-process", "--scenes", tmp_path, "--policy", "random", "--size", "64x36")
    assert code == 0 and "Find\ufffd[2J\ufffd it." in out


@pytest.mark.parametrize("verb", [("sim",), ("search", "the exit"), ("up",)])
@pytest.mark.parametrize("name", ["a b", "9x", "../../x", "a//b", "b\u00fcro"])
def test_a_namespace_that_is_none(hvs: Hvs, verb: tuple[str, ...], name: str) -> None:
    code, _, err = hvs(*verb, "--namespace", name)
    assert code == 2 and "--namespace" in err.splitlines()[-1] and name in err


def test_an_action_whose_name_is_none(hvs: Hvs) -> None:
    code, _, err = hvs("search", "the exit", "--action", "my search")
    assert code == 2 and "'my search' is no ROS name" in err


def test_namespaces_are_written_with_or_without_slashes() -> None:
    assert [namespace(text) for text in ("", "/", "a", "/a/b_2/")] == ["", "", "a", "a/b_2"]


@pytest.mark.parametrize("domain", ["abc", "-1", "500", "1.5"])
@pytest.mark.parametrize("verb", [("sim", "--policy", "random"), ("search", "the exit"), ("up", "--policy", "random")])
def test_a_domain_of_the_environment_that_is_none(
    hvs: Hvs, monkeypatch: pytest.MonkeyPatch, scenes: Path, domain: str, verb: tuple[str, ...]
) -> None:
    pytest.importorskip("rclpy")
    monkeypatch.setenv("ROS_DOMAIN_ID", domain)
    more = () if verb[0] == "search" else ("--scenes", scenes)
    code, _, err = hvs(*verb, *more)
    assert code == 2 and f"ROS_DOMAIN_ID is '{domain}': a number from 0 to 232" in err.splitlines()[-1]
