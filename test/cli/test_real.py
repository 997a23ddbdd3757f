"""``hvs real`` and ``hvs check-signs``: what they refuse, what they wait for, and whole runs on a twin."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hvs_command import Command, write_scene

from hvs_ros.cli.error import VerbError
from hvs_ros.cli.real_tasks import find_scene, scene_task
from hvs_ros.cli.robot_words import reach_text, view_text
from hvs_ros.panorama.scene import load_scene

Hvs = Callable[..., tuple[int, str, str]]
Start = Callable[..., Command]

ITEMS = [
    {"task": "Find the box behind you.", "yaw": [170, 190], "pitch": [-10, 10], "initial yaw": [0]},
    {"task": "Find the red box.", "yaw": [20, 30], "pitch": [-10, 10], "initial yaw": [350]},
]


def capabilities(yaw: float = 50.0, pitch: tuple[float, float] = (-40.0, 30.0), **more: Any) -> SimpleNamespace:
    """A head that looks so many degrees to either side, and from so far up to so far down."""
    values = {"yaw_min": -math.radians(yaw), "yaw_max": math.radians(yaw), "yaw_continuous": False}
    values |= {"pitch_min": math.radians(pitch[0]), "pitch_max": math.radians(pitch[1])}
    return SimpleNamespace(**{**values, **more})


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The record of sign checks is the test's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


# Before anything starts


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("real", "--robot", "nobody"), "there is no robot 'nobody'"),
        (("real", "--robot", "icub", "--scene", "hall"), "add --twin"),
        (("real", "--robot", "icub", "--twin", "--scene", "hall"), "there is no scene 'hall'"),
        (("real", "--robot", "icub", "--policy", "nobody"), "nobody"),
        (("real", "--robot", "icub", "--instruction", " "), "instruction"),
        (("check-signs", "--robot", "nobody.yaml"), "nobody.yaml"),
        (("check-signs", "--robot", "icub", "--twin", "--scenes", "/nowhere"), "/nowhere"),
    ],
)
def test_what_cannot_be_is_refused_at_once(hvs: Hvs, arguments: tuple[str, ...], says: str) -> None:
    pytest.importorskip("rclpy")
    code, _, err = hvs(*arguments)
    assert code == 2 and says in err and err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "missing", "extra"),
    [
        (("--robot", "icub", "--twin"), "mujoco", "[twin]"),
        (("--robot", "icub", "--twin"), "pinocchio", "[twin]"),
        (("--robot", "vega", "--twin"), "dexmate_urdf", "[twin]"),
        (("--robot", "icub"), "pinocchio", "[robot]"),
        (("--robot", "pan_tilt"), "dynamixel_sdk", "[dynamixel]"),
    ],
)
@pytest.mark.parametrize("verb", ["real", "check-signs"])
def test_a_missing_package_is_one_line_with_the_extra(
    hvs: Hvs, monkeypatch: pytest.MonkeyPatch, verb: str, arguments: tuple[str, ...], missing: str, extra: str
) -> None:
    pytest.importorskip("rclpy")
    find = importlib.util.find_spec
    # Those that are wanted are there, but for the one.
    wanted = ("pinocchio", "mujoco", "dynamixel_sdk")

    def find_spec(name: str, package: str | None = None) -> Any:
        return None if name == missing else find("sys") if name in wanted else find(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", find_spec)
    code, _, err = hvs(verb, *arguments)
    assert code == 1 and f"pip install -e '.{extra}'" in err and err.count("\n") == 1


def test_without_a_terminal_and_confirmation_no_real_head_moves(hvs: Hvs, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rclpy")
    monkeypatch.setattr("hvs_ros.cli.head_specs.require_packages", lambda *_, **__: None)
    code, out, _ = hvs("check-signs", "--robot", "icub")
    assert code == 0 and "neck_pitch, neck_roll, neck_yaw will move" in out and "nothing was moved" in out


# What is said and chosen


@pytest.mark.parametrize(
    ("head", "says"),
    [
        (capabilities(), "from 50° left to 50° right, from 40° up to 30° down"),
        (capabilities(yaw_continuous=True), "all round, from 40° up to 30° down"),
        (capabilities(yaw_max=-0.1, pitch=(10, 30)), "from 6° right to 50° right, from 10° down to 30° down"),
    ],
)
def test_where_a_head_may_look_is_said_as_a_searcher_would(head: SimpleNamespace, says: str) -> None:
    assert reach_text(head) == says


@pytest.mark.parametrize(
    ("size", "says"), [((1920, 1080, math.radians(100)), "1920x1080, 100° wide"), ((0, 0, 0.0), "as the camera takes")]
)
def test_what_views_are_is_said_before_there_is_one(size: tuple[int, int, float], says: str) -> None:
    width, height, hfov = size
    assert says in view_text(SimpleNamespace(width=width, height=height, hfov=hfov))


def test_a_task_that_the_head_can_look_at_is_taken(tmp_path: Path) -> None:
    scene = load_scene(write_scene(tmp_path / "hall", ITEMS))
    assert scene_task(scene, capabilities()).task.instruction == "Find the red box."
    near = scene_task(scene, capabilities(yaw=5.0))
    assert near.task.instruction == "Find the box behind you." and "cannot look" in near.note
    with pytest.raises(VerbError, match="--instruction"):
        scene_task(load_scene(write_scene(tmp_path / "bare", items=())), capabilities())


def test_a_scene_is_found_by_name_or_path(tmp_path: Path) -> None:
    other = write_scene(tmp_path / "elsewhere" / "attic", ITEMS)
    write_scene(tmp_path / "scenes" / "hall", ITEMS)
    assert find_scene(tmp_path / "scenes", "").name == "hall"
    assert find_scene(tmp_path / "scenes", "hall").name == "hall"
    assert find_scene(tmp_path / "scenes", str(other)).name == "attic"
    with pytest.raises(VerbError, match="hall"):
        find_scene(tmp_path / "scenes", "attic")
