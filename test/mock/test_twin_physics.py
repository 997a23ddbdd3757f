"""The twin's joints: their servos, their limits and their time."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twin_robots import NS, PAN_TILT, pan_tilt, shipped

from hvs_ros.mock.twin.controller import Waypoint
from hvs_ros.mock.twin.physics import NeckPhysics, TwinError
from hvs_ros.mock.twin.twin import Twin, TwinFaults, gaze_of
from hvs_ros.mock.twin.urdf_chain import cut_chain

MS = 1_000_000
ROBOTS = ("icub", "stretch", "vega")

pytest.importorskip("mujoco")


def settled(physics: NeckPhysics, goal: list[float], limit_rad: float = 0.01) -> float:
    """Return when the joints are at the goal for good [s], within two seconds from now."""
    begin, last = physics.now_ns, 0
    for step in range(1, 201):
        physics.advance(begin + step * 10 * MS)
        state = physics.state()
        assert np.isfinite(state.position).all() and np.isfinite(state.velocity).all()
        if np.abs(np.subtract(state.position, goal)).max() > limit_rad:
            last = step
    return last / 100


@pytest.mark.parametrize("name", ROBOTS)
def test_a_shipped_robot_goes_where_it_is_told_and_stays_there(name: str) -> None:
    robot, urdf = shipped(name)
    chain = cut_chain(urdf, robot)
    physics = NeckPhysics(chain, 0)
    for share in (0.7, 0.1, 0.5):
        goal = [low + share * (high - low) for low, high in chain.limits]
        # Torsos carry the arms: they are held.
        goal[len(robot.neck) :] = chain.neutral[len(robot.neck) :]
        for index, angle in enumerate(goal):
            physics.set_goal(index, angle)
        assert settled(physics, goal) < 1.0
        droop = np.abs(np.subtract(physics.state().position, goal)).max()
        assert math.degrees(droop) < 0.3


@pytest.mark.parametrize("name", [*ROBOTS, "pan_tilt"])
def test_its_camera_is_where_the_kinematics_of_the_robot_say(name: str) -> None:
    pytest.importorskip("pinocchio")
    from hvs_ros.neck.kinematics import GazeKinematics

    robot, urdf = shipped(name)
    kinematics, chain = GazeKinematics(urdf, robot), cut_chain(urdf, robot)
    physics = NeckPhysics(chain, 0)
    assert (chain.joints, chain.neutral) == (kinematics.joints, kinematics.neutral)
    random = np.random.default_rng(1)
    for _ in range(20):
        joints = tuple(random.uniform(max(limit.lower, -3.0), min(limit.upper, 3.0)) for limit in kinematics.limits)
        is_at, said = physics.camera(joints), kinematics.optical(joints)
        assert is_at.position == pytest.approx(said.position, abs=1e-9)
        assert is_at.rotation == pytest.approx(said.rotation, abs=1e-9)
        gaze, seen = kinematics.gaze(joints), gaze_of(is_at, robot.camera.turned)
        assert math.remainder(gaze.yaw - seen.yaw, 2 * math.pi) == pytest.approx(0.0, abs=1e-6)
        assert (seen.pitch, seen.roll) == pytest.approx((gaze.pitch, gaze.roll), abs=1e-6)


@settings(max_examples=30, deadline=None)
@given(pan=st.floats(-2.5, 2.5), tilt=st.floats(-1.0, 1.0), mass=st.sampled_from([0.0, 0.05, 2.0]))
def test_any_goal_is_reached_whatever_the_masses(pan: float, tilt: float, mass: float) -> None:
    physics = NeckPhysics(pan_tilt(mass), 0)
    physics.set_goal(0, pan)
    physics.set_goal(1, tilt)
    assert settled(physics, [pan, tilt]) < 1.2


def test_a_joint_stops_at_its_limit() -> None:
    physics = NeckPhysics(pan_tilt(), 0)
    physics.set_goal(1, 2.0)
    physics.advance(NS)
    assert physics.state().position[1] == pytest.approx(1.0, abs=0.1)


def test_how_often_it_is_asked_changes_nothing() -> None:
    often, once = (Twin(pan_tilt(), PAN_TILT.turn, 0, delay_ns=5 * MS) for _ in range(2))
    for twin in (often, once):
        twin.follow(0, ["pan", "tilt"], [Waypoint(0.4, (0.7, -0.3), (0.0, 0.0))])
    for moment in range(0, NS, 7 * MS):
        often.at(moment)
    assert often.state(NS) == once.state(NS)


def test_a_command_takes_effect_after_its_delay() -> None:
    twin = Twin(pan_tilt(mass=0.0), PAN_TILT.turn, 0, delay_ns=50 * MS)
    before = twin.state(100 * MS).position
    twin.forward(100 * MS, {"pan": 0.5})
    assert twin.state(150 * MS).position == pytest.approx(before, abs=1e-9)
    assert twin.state(170 * MS).position[0] > 0.005


def test_it_remembers_where_it_was() -> None:
    twin = Twin(pan_tilt(), PAN_TILT.turn, 0)
    twin.forward(0, {"pan": 1.0})
    then = [twin.state(moment * 10 * MS).position[0] for moment in range(30)]
    assert [twin.at(moment * 10 * MS).position[0] for moment in range(30)] == pytest.approx(then)
    assert then[10] < twin.at(101 * MS).position[0] < then[11]


def test_a_clock_that_jumps_leaves_the_joints_where_they_are() -> None:
    twin = Twin(pan_tilt(), PAN_TILT.turn, 0)
    twin.follow(0, ["pan"], [Waypoint(1.0, (1.0,), (0.0,))])
    halfway = twin.state(NS // 2).position
    for clock in (1_700_000_000 * NS, 3 * NS):
        assert twin.state(clock).position == halfway
    assert twin.state(3 * NS + NS).position[0] == pytest.approx(1.0, abs=0.01)


def test_its_base_turns_as_long_as_it_is_told_and_the_camera_with_it() -> None:
    twin = Twin(pan_tilt(), PAN_TILT.turn, 0)
    for moment in range(0, 2 * NS, 100 * MS):
        twin.turn_base(moment, 0.5)
    heading, velocity = twin.odometry(2 * NS)
    assert velocity == pytest.approx(0.5)
    assert heading == pytest.approx(1.0, abs=0.1)
    stopped, velocity = twin.odometry(4 * NS)
    assert (velocity, stopped < 1.5) == (0.0, True)
    assert twin.odometry(5 * NS)[0] == stopped
    world, base = (gaze_of(place, 0.0) for place in (twin.in_world(5 * NS), twin.in_base(5 * NS)))
    assert world.yaw - base.yaw == pytest.approx(stopped)
    assert twin.in_world(5 * NS).position[:2] == pytest.approx(
        (0.2 * math.cos(stopped), 0.2 * math.sin(stopped)), abs=1e-3
    )


class TestFaults:
    def test_a_joint_sticks(self) -> None:
        twin = Twin(pan_tilt(), PAN_TILT.turn, 0)
        twin.forward(0, {"pan": 0.3, "tilt": 0.3})
        twin.state(NS)
        twin.set_faults(NS, TwinFaults(stuck_joint="tilt"))
        twin.forward(NS, {"pan": -0.5, "tilt": -0.5})
        assert twin.state(2 * NS).position == pytest.approx((-0.5, 0.3), abs=0.01)
        twin.set_faults(2 * NS, TwinFaults())
        assert twin.state(3 * NS).position == pytest.approx((-0.5, -0.5), abs=0.01)

    def test_an_unknown_joint_cannot_stick(self) -> None:
        with pytest.raises(ValueError, match=r"'nose' is no joint of the twin; there are pan, tilt"):
            Twin(pan_tilt(), PAN_TILT.turn, 0).set_faults(0, TwinFaults(stuck_joint="nose"))

    def test_a_trajectory_ends_short(self) -> None:
        twin = Twin(pan_tilt(), PAN_TILT.turn, 0)
        twin.set_faults(0, TwinFaults(short_by=0.35))
        twin.follow(0, ["pan", "tilt"], [Waypoint(0.5, (-1.0, 0.2), (0.0, 0.0))])
        assert twin.state(2 * NS).position == pytest.approx((-0.65, 0.0), abs=0.01)

    def test_commands_are_ignored(self) -> None:
        twin = Twin(pan_tilt(), PAN_TILT.turn, 0)
        twin.set_faults(0, TwinFaults(ignore_commands=True))
        assert not twin.follow(0, ["pan"], [Waypoint(0.5, (1.0,))])
        assert not twin.forward(0, {"pan": 1.0})
        assert twin.state(NS).position[0] == pytest.approx(0.0, abs=1e-6)

    def test_a_motion_cannot_be_stopped(self) -> None:
        twin = Twin(pan_tilt(), PAN_TILT.turn, 0)
        twin.set_faults(0, TwinFaults(keep_moving=True))
        assert twin.follow(0, ["pan"], [Waypoint(1.0, (1.0,), (0.0,))])
        assert not twin.hold(NS // 2, ["pan"])
        assert twin.state(2 * NS).position[0] == pytest.approx(1.0, abs=0.01)
        assert twin.follow(2 * NS, ["pan"], [Waypoint(1.0, (0.5,), (0.0,))])


def test_a_command_into_a_stop_is_noticed() -> None:
    twin = Twin(pan_tilt(), PAN_TILT.turn, 0)
    assert twin.beyond({"pan": 9.0, "tilt": 1.0}) == ""
    assert twin.beyond({"pan": 9.0, "tilt": 1.1}) == "tilt to 1.100 rad, beyond -1.000 to 1.000"


def test_without_mujoco_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(TwinError, match=r"mujoco.*pip install -e '\.\[twin\]'") as caught:
        NeckPhysics(pan_tilt(), 0)
    assert "\n" not in str(caught.value)
