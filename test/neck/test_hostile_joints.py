"""A robot's neck whose driver tells nonsense, and goals that come at any moment: no command beyond the limits."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

pytest.importorskip("pinocchio")

from hypothesis import given, settings
from hypothesis import strategies as st
from test_robot_gaze import PERIOD_S, Arm, Bench

from hvs_ros.neck.joints import NS, Joints, JointSample
from hvs_ros.neck.robot import NeckJoint
from hvs_ros.neck.trajectory import Trajectory
from hvs_ros.nodes.commands.trajectory_message import MOST_POINTS, motion_message
from hvs_ros.search.view import MoveOutcome

VELOCITY, ACCELERATION = 2.0, 8.0
STOPS = ((-1.0, 1.0), (-0.5, 0.6))

LIES: dict[str, Callable[[random.Random, float], float]] = {
    "none": lambda _, v: v,
    "noise": lambda chance, v: v + chance.gauss(0.0, 0.5),
    "spikes": lambda chance, v: v if chance.random() < 0.8 else chance.uniform(-1e3, 1e3),
    "degrees": lambda _, v: math.degrees(v),
    "backwards": lambda _, v: -v,
    "always 0": lambda _, v: 0.0,
}


@pytest.mark.parametrize("lie", LIES)
@settings(max_examples=8)
@given(seed=st.integers(0, 2**32), begins_at_joints=st.booleans())
def test_no_command_is_beyond_the_limits_whatever_the_velocities_say(
    lie: str, seed: int, begins_at_joints: bool
) -> None:
    chance = random.Random(seed)
    bench = Bench()
    bench.arm.begins_at_joints = begins_at_joints
    _lie(bench, lambda v: LIES[lie](chance, v))
    for _ in range(12):
        bench.arm.executed.clear()
        at = bench.arm.position
        choice = chance.random()
        if choice < 0.8:
            yaw, pitch = chance.uniform(-1.3, 1.3), chance.uniform(-0.8, 0.8)
            reach = bench.gaze.reach(yaw, pitch, relative=chance.random() < 0.3)
            bench.gaze.move(reach, chance.choice([math.inf, 0.3, 1.0, 0.05]))
        elif choice < 0.9:
            bench.gaze.stop()
        else:
            bench.gaze.hold()
        for trajectory in bench.arm.executed:
            _is_within_limits(trajectory, at)
        bench.run(chance.expovariate(4.0))


def _lie(bench: Bench, lie: Callable[[float], float]) -> None:
    tell = bench.gaze.observe

    def observe(sample: JointSample) -> None:
        tell(JointSample(sample.stamp_ns, sample.position, tuple(map(lie, sample.velocity))))

    bench.gaze.observe = observe  # type: ignore[method-assign]


def _is_within_limits(trajectory: Trajectory, at: Joints) -> None:
    steps = 200
    for step in range(steps + 1):
        point = trajectory.at(trajectory.duration * step / steps)
        for x, v, (lower, upper), now in zip(point.position, point.velocity, STOPS, at, strict=True):
            assert min(lower, now) - 1e-6 <= x <= max(upper, now) + 1e-6
            assert abs(v) <= VELOCITY + 1e-6
    first = trajectory.at(0.0).position
    assert all(abs(x - now) <= VELOCITY * 0.021 + 1e-6 for x, now in zip(first, at, strict=True)), "it jumps"
    for axis in trajectory.axes:
        assert all(abs(phase.acceleration) <= ACCELERATION + 1e-6 for phase in axis.phases)
        for phase, after in zip(axis.phases, axis.phases[1:], strict=False):
            assert phase.at(phase.duration) == pytest.approx((after.position, after.velocity), abs=1e-6)


def test_a_goal_that_is_to_be_reached_in_years_is_a_motion_of_few_points_that_ends() -> None:
    bench = Bench()
    bench.gaze.move(bench.gaze.reach(0.8, 0.0, relative=False), 1e-300)
    message = motion_message([NeckJoint("pan"), NeckJoint("tilt")], bench.arm.executed[-1], 0.05)
    assert len(message.points) <= MOST_POINTS
    assert message.points[-1].positions[0] == pytest.approx(0.8, abs=1e-6)


def test_a_slow_motion_is_not_taken_for_none() -> None:
    bench = Bench()
    bench.gaze.move(bench.gaze.reach(0.3, 0.0, relative=False), 0.01)
    bench.run(1.2)
    assert bench.gaze.progress().failure is None
    assert bench.finish(60.0).settled


def test_a_slow_motion_that_does_not_begin_is_noticed() -> None:
    bench = Bench()
    bench.arm.deaf = True
    bench.gaze.move(bench.gaze.reach(0.3, 0.0, relative=False), 0.01)
    failure = bench.finish(5.0).failure
    assert failure is not None and failure.outcome is MoveOutcome.NO_RESPONSE


def test_a_clock_that_is_set_back_ends_the_move() -> None:
    bench = Bench()
    bench.go(0.8)
    bench.run(0.2)
    bench.arm.now_s -= 50.0
    bench.run(0.05)
    failure = bench.gaze.progress().failure
    assert failure is not None and failure.outcome is MoveOutcome.FAULT
    assert "clock was set back" in failure.message


def test_one_joint_state_from_the_future_does_not_keep_the_head_from_arriving() -> None:
    bench = Bench()
    bench.go(0.8)
    bench.run(0.2)
    ahead = round((bench.arm.now_s + 1000.0) * NS)
    bench.gaze.observe(JointSample(ahead, bench.arm.position, bench.arm.velocity))
    bench.run(PERIOD_S)
    assert bench.finish().settled


class Sagging(Arm):
    """A joint that hangs a little below its set-point, as one without integral gain does."""

    def hold(self, position: Joints) -> None:
        super().hold(position)
        self.position = (position[0] - 0.03, position[1])


def test_a_neck_that_is_told_to_hold_again_and_again_does_not_sink() -> None:
    bench = Bench(arm=Sagging())
    bench.go(0.8)
    bench.run(0.2)
    for _ in range(50):
        bench.gaze.hold()
        bench.run(0.02)
    assert len(bench.arm.held) == 50
    assert bench.arm.held[-1] == bench.arm.held[0]
