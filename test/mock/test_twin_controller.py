"""What the twin makes of commands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvs_ros.mock.twin.controller import JointController, JointUnits, Waypoint
from hvs_ros.neck.joints import NS, JointSample
from hvs_ros.neck.motion import plan
from hvs_ros.neck.robot import NeckJoint
from hvs_ros.neck.trajectory import Trajectory


def at(time: float, position: float = 0.0, velocity: float = 0.0) -> JointSample:
    """Return a sample of two joints, b at rest at 1."""
    return JointSample(round(time * NS), (position, 1.0), (velocity, 0.0))


def controller() -> JointController:
    return JointController(["a", "b"], (0.0, 1.0))


def test_it_holds_until_it_is_told_something() -> None:
    assert controller().setpoints(at(5.0)) == [0.0, 1.0]


@given(start=st.floats(-3, 3), speed=st.floats(-1, 1), target=st.floats(-3, 3), share=st.floats(0, 1.2))
def test_it_follows_a_planned_motion_from_where_the_joint_is(
    start: float, speed: float, target: float, share: float
) -> None:
    motion = Trajectory((plan(start, speed, target, max_velocity=1.5, max_acceleration=5.0),))
    control = controller()
    points = [Waypoint(point.time, point.position, point.velocity) for point in motion.points(0.02)]
    control.follow(7 * NS, ["a"], points)
    control.setpoints(at(7.0, start, speed))
    time = motion.duration * share
    # Between the points, the plan's acceleration changes within a period: 5 * 0.02^2 / 2 at most.
    assert control.setpoints(at(7.0 + time))[0] == pytest.approx(motion.at(time).position[0], abs=1.5e-3)
    assert control.setpoints(at(7.0 + time))[1] == 1.0


def test_points_without_velocities_are_joined_by_straight_lines() -> None:
    control = controller()
    control.follow(0, ["a"], [Waypoint(1.0, (1.0,)), Waypoint(3.0, (0.0,))])
    assert [control.setpoints(at(time))[0] for time in (0.0, 0.25, 1.0, 2.0, 3.0, 9.0)] == pytest.approx(
        [0.0, 0.25, 1.0, 0.5, 0.0, 0.0]
    )


def test_of_a_trajectory_that_began_earlier_the_rest_is_run() -> None:
    control = controller()
    control.follow(10 * NS, ["a"], [Waypoint(1.0, (1.0,)), Waypoint(3.0, (2.0,))], begin_ns=8 * NS)
    assert control.setpoints(at(10.0, 0.5))[0] == 0.5
    assert control.setpoints(at(10.5))[0] == pytest.approx(1.25)
    assert control.setpoints(at(11.0))[0] == 2.0


def test_a_newer_command_takes_over() -> None:
    control = controller()
    control.follow(0, ["a"], [Waypoint(1.0, (1.0,), (0.0,))])
    control.setpoints(at(0.0))
    control.follow(NS // 2, ["a"], [Waypoint(1.0, (-1.0,), (0.0,))])
    assert control.setpoints(at(0.5, 0.47, 1.4))[0] == pytest.approx(0.47)
    assert control.setpoints(at(0.52))[0] > 0.47  # it goes on with its speed first
    assert control.setpoints(at(1.5))[0] == -1.0
    control.forward(2 * NS, {"b": 0.25})
    assert control.setpoints(at(2.0, -1.0)) == [-1.0, 0.25]


@pytest.mark.parametrize("empty", [True, False])
def test_it_stays_where_the_joint_is_on_hold_and_on_an_empty_trajectory(empty: bool) -> None:
    control = controller()
    control.follow(0, ["a"], [Waypoint(1.0, (1.0,))])
    control.setpoints(at(0.0))
    assert control.moving(NS // 2)
    if empty:
        control.follow(NS // 2, ["a"], [])
    else:
        control.hold(NS // 2, ["a"])
    assert control.setpoints(at(0.5, 0.4)) == [0.4, 1.0]
    assert control.setpoints(at(2.0, 0.3)) == [0.4, 1.0]
    assert not control.moving(NS // 2)


class TestUnits:
    joints = (NeckJoint("pan", driver_name="motor_1", sign=-1, offset=0.2), NeckJoint("tilt"))

    def test_a_drivers_values_become_the_urdfs(self) -> None:
        units = JointUnits(self.joints)
        named = units.named(["tilt", "motor_1"])
        assert [joint.name for joint in named] == ["tilt", "pan"]
        point = units.waypoint(named, 0.5, [0.1, 0.3], [1.0, 2.0])
        assert point == Waypoint(0.5, (0.1, pytest.approx(-0.1)), (1.0, -2.0))
        assert self.joints[0].to_driver(point.position[1]) == pytest.approx(0.3)
        assert units.waypoint(named, 0.5, [0.1, 0.3], []).velocity is None

    @pytest.mark.parametrize(
        ("names", "reason"),
        [(["pan"], "'pan' is not known here; motor_1, tilt are"), (["tilt", "tilt"], "named twice")],
    )
    def test_names_are_the_drivers(self, names: list[str], reason: str) -> None:
        with pytest.raises(ValueError, match=reason):
            JointUnits(self.joints).named(names)

    def test_each_joint_has_a_value(self) -> None:
        with pytest.raises(ValueError, match="1 positions for 2 joints"):
            JointUnits.waypoint(self.joints, 0.0, [0.1], [])
        with pytest.raises(ValueError, match="3 velocities for 2 joints"):
            JointUnits.waypoint(self.joints, 0.0, [0.1, 0.2], [0.0] * 3)
