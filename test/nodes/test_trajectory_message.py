"""Motions as controllers get them, run by what the twin takes for a controller."""

from __future__ import annotations

from itertools import pairwise

import pytest

from hvs_ros.mock.twin.controller import JointController, Waypoint
from hvs_ros.neck.joints import NS, JointSample
from hvs_ros.neck.robot import NeckJoint
from hvs_ros.neck.trajectory import Trajectory, plan_stop_together, plan_together
from hvs_ros.nodes.commands.trajectory_message import motion_message
from hvs_ros.nodes.convert import duration_s

PERIOD, ACCELERATION, SPEED = 0.05, 3.0, 1.0
STEP_NS = NS // 1000


def to(target: float, velocity: float = SPEED) -> Trajectory:
    return plan_together([0.0], [velocity], [target], max_velocity=[SPEED], max_acceleration=[ACCELERATION])


def times(motion: Trajectory) -> list[float]:
    return [duration_s(point.time_from_start) for point in motion_message([NeckJoint("pan")], motion, PERIOD).points]


def largest_acceleration(motion: Trajectory, late_s: float) -> float:
    """Return it [rad/s^2], of joints that went on at SPEED until the controller heard of the motion."""
    message = motion_message([NeckJoint("pan")], motion, PERIOD)
    points = [Waypoint(duration_s(p.time_from_start), tuple(p.positions), tuple(p.velocities)) for p in message.points]
    controller = JointController(["pan"], (0.0,))
    controller.follow(0, ["pan"], points)
    count = round((points[-1].time + 0.1) * NS / STEP_NS)
    told = [
        controller.setpoints(JointSample(index * STEP_NS, (SPEED * late_s,), (SPEED,)))[0] for index in range(count)
    ]
    speeds = [(after - before) * NS / STEP_NS for before, after in pairwise([told[0] - SPEED * STEP_NS / NS, *told])]
    return max(abs(after - before) * NS / STEP_NS for before, after in pairwise(speeds))


def test_from_rest_a_point_is_given_each_period() -> None:
    assert times(to(0.9, velocity=0.0))[0] == pytest.approx(PERIOD, rel=0.05)


@pytest.mark.parametrize(
    "motion",
    [to(0.9), to(0.3), to(-1.0), plan_stop_together([0.0], [SPEED], max_acceleration=[ACCELERATION])],
    ids=["onward", "a little further", "back", "stop"],
)
def test_a_motion_that_takes_over_begins_gently_although_it_is_heard_late(motion: Trajectory) -> None:
    assert largest_acceleration(motion, 0.0) < 1.5 * ACCELERATION
    # With a point each period it would be twelve times the limit.
    assert largest_acceleration(motion, 0.015) < 2.5 * ACCELERATION
    assert largest_acceleration(motion, 0.04) < 5 * ACCELERATION


def test_the_end_is_always_given() -> None:
    last = motion_message([NeckJoint("pan")], brief := to(0.17, velocity=SPEED), PERIOD).points[-1]
    assert (list(last.positions), list(last.velocities)) == ([pytest.approx(brief.target[0])], [0.0])
    assert duration_s(last.time_from_start) == pytest.approx(brief.duration)
