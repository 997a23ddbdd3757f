"""The robots that ship: what their files say fits their URDFs, and turns the way it should."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from hvs_ros.neck.robot import Description, RobotError
from hvs_ros.neck.robot_description import find_urdf, read_urdf
from hvs_ros.neck.robot_file import load_robot, robot_names

WITH_URDF = {"icub", "stretch", "vega", "pan_tilt"}


def test_the_robots_of_the_documentation_are_there() -> None:
    assert {*WITH_URDF, "tiago", "nao", "pepper", "reachy2", "booster_t1"} <= set(robot_names())


@pytest.mark.parametrize("name", robot_names())
def test_what_was_never_tried_says_so(name: str) -> None:
    robot = load_robot(name)
    assert robot.note
    assert (robot.tried == "no") == ("not tried on hardware" in robot.note)
    assert bool(robot.description.file) == (name in WITH_URDF)


@pytest.mark.parametrize("name", robot_names())
def test_its_limits_are_those_of_a_head_and_not_of_a_file(name: str) -> None:
    for joint in load_robot(name).joints:
        assert 0.05 <= joint.max_velocity <= 3.0
        assert 0.3 <= joint.max_acceleration <= 15.0
        assert joint.tolerance <= 0.05


# What each joint does to yaw, pitch and roll when it turns a little from neutral (REP-103 signs).
TURNS = {
    "icub": {"neck_yaw": "yaw", "neck_pitch": "-pitch", "neck_roll": "roll", "torso_yaw": "-yaw"},
    "stretch": {"joint_head_pan": "yaw", "joint_head_tilt": "-pitch"},
    "vega": {"head_j2": "yaw", "head_j3": "-pitch", "head_j1": "pitch"},
    "pan_tilt": {"pan": "yaw", "tilt": "pitch"},
}


@pytest.mark.parametrize("name", sorted(WITH_URDF))
def test_joints_turn_the_gaze_as_the_robot_is_built(name: str) -> None:
    pytest.importorskip("pinocchio")
    from heads import real

    kinematics = real(name)
    neutral = kinematics.gaze(kinematics.neutral)
    assert (neutral.yaw, neutral.pitch, neutral.roll) == pytest.approx((0.0, 0.0, 0.0), abs=1e-4)
    for joint, turns in TURNS[name].items():
        index = kinematics.joints.index(joint)
        q = list(kinematics.neutral)
        q[index] += 0.1
        state = kinematics.gaze(tuple(q))
        got = {"yaw": state.yaw, "pitch": state.pitch, "roll": state.roll}
        wanted = -0.1 if turns.startswith("-") else 0.1
        assert got[turns.lstrip("-")] == pytest.approx(wanted, abs=5e-3)
    for limit in kinematics.limits:
        assert limit.lower < limit.upper
        assert limit.max_velocity < 5.0


def test_a_urdf_that_is_not_installed_names_the_package_and_the_extra() -> None:
    with pytest.raises(RobotError, match=r"nothing-urdf, a pip .* not installed: pip install -e '.\[twin\]'"):
        find_urdf(Description("a.urdf", package="nothing-urdf", module="no_such_module"))
    with pytest.raises(RobotError, match=r"no .*nowhere/model\.urdf: icub-models, a pip package, is not installed"):
        find_urdf(Description("nowhere/model.urdf", package="icub-models"))


def test_a_urdf_that_is_nowhere_is_named(tmp_path: Path) -> None:
    with pytest.raises(RobotError, match="start robot_state_publisher, or give a file"):
        find_urdf(Description())
    with pytest.raises(RobotError, match=rf"description.file is {tmp_path}/none\.urdf, and there is no such file"):
        find_urdf(Description(str(tmp_path / "none.urdf")))


def test_a_file_of_the_users_is_read(tmp_path: Path) -> None:
    (tmp_path / "mine.urdf").write_text("<robot/>")
    assert read_urdf(Description(str(tmp_path / "mine.urdf"))) == "<robot/>"


def test_stretch_reaches_what_its_documentation_says() -> None:
    pytest.importorskip("pinocchio")
    from heads import real

    from hvs_ros.neck.reach import reachable
    from hvs_ros.neck.solver import GazeSolver

    kinematics = real("stretch")
    limits = reachable(GazeSolver(kinematics), kinematics.neutral)
    assert (limits.yaw_min, limits.yaw_max) == pytest.approx((-3.9, 1.5), abs=1e-3)
    assert (limits.pitch_min, limits.pitch_max) == pytest.approx((-0.79, 1.53), abs=1e-3)
    assert not limits.yaw_continuous
    assert math.degrees(limits.yaw_max - limits.yaw_min) < 360
