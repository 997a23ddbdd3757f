"""The command line itself: quick, and one line where something is missing."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hvs_command import write_scene

import hvs_ros.cli.main as main_module

Hvs = Callable[..., tuple[int, str, str]]
ROOT = Path(__file__).parents[2]


def test_the_help_names_every_verb_and_imports_nothing_heavy() -> None:
    code = (
        "import sys; from hvs_ros.cli.main import build_parser; print(build_parser().format_help());"
        "print('HEAVY', [m for m in ('numpy', 'cv2', 'rclpy', 'rich', 'rosbags') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "HEAVY []" in done.stdout
    for verb in ("sim", "bench", "real", "search", "check-signs", "calibrate-latency", "view", "report", "bag"):
        assert f"\n    {verb}" in done.stdout


def test_version_and_no_verb(hvs: Hvs) -> None:
    assert hvs("--version")[:1] == (0,)
    code, out, _ = hvs()
    assert code == 2 and "VERB" in out
    assert hvs("fly")[0] == 2


@pytest.mark.parametrize(
    ("module", "says"),
    [
        ("rclpy", "--in-process"),
        ("hvs_interfaces.msg", "hvs_interfaces is not built"),
        ("rosbags", "rosbags"),
        ("pinocchio", "'.[robot]'"),
        ("mujoco", "'.[twin]'"),
        ("dynamixel_sdk", "'.[dynamixel]'"),
        ("ray", "'.[ray]'"),
        ("gymnasium", "'.[gym]'"),
    ],
)
def test_a_missing_package_is_one_line(hvs: Hvs, monkeypatch: pytest.MonkeyPatch, module: str, says: str) -> None:
    def run(_: argparse.Namespace) -> int:
        raise ImportError(f"No module named '{module}'", name=module)

    verb = SimpleNamespace(NAME="sim", HELP="x", add_arguments=lambda parser: None, run=run)
    monkeypatch.setattr(main_module, "_verb", lambda name: SimpleNamespace(**{**vars(verb), "NAME": name}))
    code, _, err = hvs("sim")
    assert code == 1
    assert says in err and err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "says", "never"),
    [
        (ModuleNotFoundError("No module named 'hvs_ros.report.gone'", name="hvs_ros.report.gone"), "bug", "pip"),
        (ImportError("cannot import name 'gone' from 'hvs_ros.share'", name="hvs_ros.share"), "incomplete", "pip"),
        (ModuleNotFoundError("No module named 'colours'", name="colours"), "pip install colours", "bug"),
        (ImportError("cannot import name 'gone' from 'yaml'", name="yaml"), "from 'yaml'", "pip"),
    ],
)
def test_only_what_others_made_is_to_be_installed(error: ImportError, says: str, never: str) -> None:
    line = main_module.missing_package(error)
    assert says in line and never not in line


def test_a_policy_in_the_current_folder(tmp_path: Path) -> None:
    package = tmp_path / "lighthouses"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "lamp.py").write_text("from hvs_ros.policy.random_walk import RandomPolicy as Lamp\n")
    # As the installed script runs: without the current folder in sys.path.
    script = f"import sys; sys.path[:] = [{str(ROOT)!r}, *(p for p in sys.path if p)]; "
    script += "from hvs_ros.cli.main import main; sys.exit(main())"
    for name, code, says in (("lighthouses.lamp:Lamp", 0, "ready"), ("lighthouses.oil:Lamp", 1, str(tmp_path))):
        command = [sys.executable, "-c", script, "policies", name]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == code and says in done.stdout, done
    assert "PYTHONPATH" in done.stdout


def test_the_policies_are_listed_with_their_settings(hvs: Hvs) -> None:
    code, out, _ = hvs("policies")
    assert code == 0
    for name in ("signs", "random", "replay", "keyboard"):
        assert f"{name}: " in out
    assert "seed=" in out
    assert hvs("policies", "nobody")[0] == 1


def test_a_view_is_cut_out(hvs: Hvs, scenes: Path, tmp_path: Path) -> None:
    import cv2

    out = tmp_path / "view.png"
    code, said, _ = hvs("view", scenes / "alpha", out, "--yaw", 30, "--size", "320x180", "--cross")
    assert code == 0 and "alpha at yaw 30" in said
    picture = cv2.imread(str(out))
    assert picture.shape == (180, 320, 3)
    assert tuple(picture[90, 160]) == (0, 255, 0)
    assert hvs("view", scenes / "gone", out)[0] == 2
    assert hvs("view", scenes / "alpha", tmp_path / "view.nothing")[0] == 2
    assert hvs("view", scenes / "alpha", tmp_path / "gone" / "view.png")[0] == 1


def test_scenes_are_checked(hvs: Hvs, scenes: Path) -> None:
    code, out, _ = hvs("scenes", "check", scenes)
    assert code == 0 and "alpha: 1 object, 1 path, 3 episodes" in out and "no problem" in out
    picture = scenes / "beta" / "beta.jpg"
    picture.write_bytes(picture.read_bytes()[:2000])
    code, out, _ = hvs("scenes", "check", scenes)
    assert code == 1 and f"WRONG {picture}: truncated" in out
    (scenes / "alpha" / "annotation.json").write_text('[{"task": "", "yaw": [1, 2]}, {"task": "find it"}]')
    code, out, _ = hvs("scenes", "check", scenes)
    assert code == 1 and "item 0" in out and "item 1" in out and str(picture) in out and "3 problems" in out
    assert hvs("scenes", "check", scenes / "gone")[0] == 2


def run_scenes_check(scenes: Path, coding: str = "ascii", **more: Any) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "hvs_ros.cli.main", "scenes", "check", str(scenes)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "LC_ALL": "C", "PYTHONIOENCODING": coding}
    return subprocess.run(command, stderr=subprocess.PIPE, env=environment, timeout=60, check=False, **more)


@pytest.mark.parametrize("coding", ["ascii", "ascii:surrogateescape"])
def test_a_terminal_without_umlauts(tmp_path: Path, coding: str) -> None:
    write_scene(tmp_path / "b\u00fcro")
    done = run_scenes_check(tmp_path, coding, stdout=subprocess.PIPE)
    assert done.returncode == 0 and b"b\\xfcro: 1 object" in done.stdout and not done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_an_output_that_is_full(scenes: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = run_scenes_check(scenes, stdout=full)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [b"hvs scenes: No space left on device"]
