"""``hvs calibrate-latency``: what it refuses, what it says of a measurement, and one on a twin of known latency."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hvs_command import Command
from hypothesis import given
from hypothesis import strategies as st

from hvs_ros.cli.calibrate_latency import conclusion
from hvs_ros.neck.latency import LatencyEstimate
from hvs_ros.neck.limits import GazeLimits
from hvs_ros.neck.robot import BaseFrame, HeadCameraMount, NeckJoint, Robot
from hvs_ros.neck.sweeps import AMPLITUDE, plan_sweeps

Hvs = Callable[..., tuple[int, str, str]]
Start = Callable[..., Command]

ROBOT = Robot("robbie", BaseFrame("base"), HeadCameraMount("eye", latency=0.05), (NeckJoint("pan"),))


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether this user's robots have had their signs checked is no matter of the test's."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@given(st.floats(-3.0, 2.9), st.floats(0.1, 6.0), st.integers(1, 6))
def test_sweeps_stay_within_reach(low: float, width: float, count: int) -> None:
    limits = GazeLimits(low, low + width, -0.3, 0.4)
    sweeps = plan_sweeps(limits, count)
    assert len(sweeps) == 2 * count + 1
    assert all(limits.yaw_min <= yaw <= limits.yaw_max and pitch == 0.0 for yaw, pitch in sweeps)
    yaws = [yaw for yaw, _ in sweeps]
    assert max(yaws) - min(yaws) == pytest.approx(min(2 * AMPLITUDE, max(0.0, width - 2 * 0.035)), abs=0.01)


def test_it_looks_ahead_where_the_head_can() -> None:
    assert plan_sweeps(GazeLimits(-1.0, 1.0, -0.3, 0.4), 2)[-1] == (0.0, 0.0)
    yaw, pitch = plan_sweeps(GazeLimits(0.5, 1.5, 0.1, 0.4), 2)[-1]
    assert 0.5 < yaw - AMPLITUDE < 0.6 and pitch == 0.1


def test_it_prints_the_line_for_the_yaml() -> None:
    estimate = LatencyEstimate(0.0832, 0.004, 0.981, 1.02, 402)
    lines = conclusion(ROBOT, estimate)
    assert lines[-1] == "    latency: 0.083" and "robbie.yaml says 0.05 s" in lines[-2]
    assert "0.083 s ± 0.004 s" in lines[0] and "0.98" in lines[0] and "402" in lines[0]


def test_a_right_value_is_said_to_be_right() -> None:
    lines = conclusion(ROBOT, LatencyEstimate(0.053, 0.004, 0.98, 1.0, 400))
    assert lines[-1] == "robbie.yaml says 0.05 s, which is right"


def test_stamps_that_are_early_are_a_matter_of_clocks() -> None:
    lines = conclusion(
        replace(ROBOT, camera=replace(ROBOT.camera, latency=0.0)), LatencyEstimate(-0.03, 0.004, 0.98, 1.0, 400)
    )
    assert "clocks" in " ".join(lines) and "-0.030 s" in lines[0]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--robot", "nobody"), "there is no robot 'nobody'"),
        (("--robot", "icub", "--scene", "hall"), "add --twin"),
        (("--robot", "icub", "--twin", "--scenes", "/nowhere"), "/nowhere"),
        (("--robot", "icub", "--sweeps", "0"), "--sweeps"),
    ],
)
def test_what_cannot_be_is_refused_at_once(hvs: Hvs, arguments: tuple[str, ...], says: str) -> None:
    pytest.importorskip("rclpy")
    code, _, err = hvs("calibrate-latency", *arguments)
    assert code == 2 and says in err


def test_nothing_real_is_started_without_a_word(hvs: Hvs, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rclpy")
    monkeypatch.setattr("hvs_ros.cli.head_specs.require_packages", lambda *_, **__: None)
    code, out, _ = hvs("calibrate-latency", "--robot", "icub")
    assert code == 0 and "nothing was moved: --confirm was not given" in out


def test_without_a_head_it_says_what_it_waited_for(start: Start) -> None:
    run = start("calibrate-latency", "--robot", "icub", "--running", "--wait", 1)
    assert run.wait() == 1
    assert "gave up after 1 s: waiting for head/robot_head" in run.output and "Traceback" not in run.output


def test_the_twins_latency_is_found(start: Start, tmp_path: Path) -> None:
    for package in ("pinocchio", "mujoco", "icub_models"):
        pytest.importorskip(package)
    # Stamps are those of arrival, as many drivers have them.
    parameters = tmp_path / "twin.yaml"
    parameters.write_text(
        "/**/neck_twin:\n"
        "  ros__parameters: {arrival_stamps: true, latency: 0.09, width: 320, height: 240, image_rate: 30.0}\n"
    )
    run = start("calibrate-latency", "--robot", "icub", "--twin", "--sweeps", 2, "--params-file", parameters)
    assert run.wait() == 0, run.output
    found = re.search(r"latency: (\d\.\d+)$", run.output, re.MULTILINE)
    assert found and float(found[1]) == pytest.approx(0.09, abs=0.015), run.output
