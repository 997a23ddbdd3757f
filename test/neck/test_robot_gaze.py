"""A robot's neck, on joints that exist as numbers: what is judged to have arrived, and what to have gone wrong."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import pytest

pytest.importorskip("pinocchio")

from hvs_ros.neck.commands import Verdict
from hvs_ros.neck.description import two_axis_urdf
from hvs_ros.neck.heading_controller import TurnState
from hvs_ros.neck.joints import NS, Joints, JointSample
from hvs_ros.neck.kinematics import GazeKinematics
from hvs_ros.neck.limits import GazeLimits
from hvs_ros.neck.neck import Progress
from hvs_ros.neck.robot import BaseFrame, HeadCameraMount, NeckJoint, Robot
from hvs_ros.neck.robot_gaze import GazeRules, RobotGaze
from hvs_ros.neck.solver import GazeSolver
from hvs_ros.neck.trajectory import Trajectory
from hvs_ros.search.view import MoveOutcome

PERIOD_S = 0.01
RANGE = GazeLimits(-1.0, 1.0, -0.5, 0.6)


@dataclass
class Arm:
    """Joints and their controller: they follow the last trajectory exactly, unless something is wrong with them."""

    now_s: float = 100.0
    position: Joints = (0.0, 0.0)
    velocity: Joints = (0.0, 0.0)
    short: float = 0.0
    deaf: bool = False
    deaf_to_hold: bool = False
    begins_at_joints: bool = False
    says: Verdict | None = None
    executed: list[Trajectory] = field(default_factory=list)
    held: list[Joints] = field(default_factory=list)
    _trajectory: Trajectory | None = None
    _began_s: float = 0.0

    def problem(self) -> str:
        return ""

    def execute(self, trajectory: Trajectory) -> None:
        self.executed.append(trajectory)
        if not self.deaf and not (self.deaf_to_hold and self._trajectory is not None):
            self._trajectory, self._began_s = trajectory, self.now_s

    def hold(self, position: Joints) -> None:
        self.held.append(position)
        if not self.deaf_to_hold:
            self._trajectory, self.velocity = None, (0.0, 0.0)

    def verdict(self) -> Verdict | None:
        return self.says

    def close(self) -> None:
        pass

    def step(self) -> None:
        self.now_s += PERIOD_S
        if self._trajectory is not None:
            point = self._trajectory.at(self.now_s - self._began_s)
            self.position = (point.position[0] - self.short, point.position[1])
            self.velocity = point.velocity


class Bench:
    """A neck under test and its arm, in a time of their own."""

    def __init__(
        self,
        rules: GazeRules | None = None,
        base: Base | None = None,
        permitted: GazeLimits | None = None,
        arm: Arm | None = None,
    ) -> None:
        frames = {"base_frame": "base_link", "gaze_frame": "gaze", "optical_frame": "eye"}
        joints = tuple(NeckJoint(name, max_velocity=2.0, max_acceleration=8.0) for name in ("head_yaw", "head_pitch"))
        robot = Robot("pan_tilt", BaseFrame("base_link"), HeadCameraMount("eye"), joints)
        kinematics = GazeKinematics(two_axis_urdf(RANGE, 2.0, **frames), robot)
        self.arm = arm or Arm()
        self.gaze = RobotGaze(
            kinematics,
            GazeSolver(kinematics),
            self.arm,
            lambda: round(self.arm.now_s * NS),
            rules or GazeRules(),
            torso=False,
            reachable=RANGE,
            permitted=permitted,
            base=base,
        )
        self.silent = False
        self.run(0.2)

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds / PERIOD_S)):
            self.arm.step()
            if not self.silent:
                stamp = round(self.arm.now_s * NS)
                self.gaze.observe(JointSample(stamp, self.arm.position, self.arm.velocity))

    def go(self, yaw: float, pitch: float = 0.0, *, relative: bool = False) -> str:
        reach = self.gaze.reach(yaw, pitch, relative=relative)
        self.gaze.move(reach)
        return reach.beyond

    def finish(self, limit_s: float = 10.0) -> Progress:
        """Run until the move has settled or failed."""
        for _ in range(round(limit_s / PERIOD_S)):
            progress = self.gaze.progress()
            if progress.settled or progress.failure:
                return progress
            self.run(PERIOD_S)
        raise AssertionError(f"neither settled nor failed within {limit_s} s")


@dataclass
class Base:
    """A base that turns at once when it is told to go on."""

    pointing: float = 0.0
    target: float = 0.0
    moving: bool = False
    why: str = ""

    def heading(self) -> float:
        return self.pointing

    def destination(self) -> float:
        return self.target if self.moving else self.pointing

    def at(self, _stamp_ns: int) -> float:
        return self.pointing

    def rate(self) -> float:
        return 0.0

    def turn_to(self, heading: float) -> None:
        self.target, self.moving = heading, True

    def stop(self) -> None:
        self.moving = False

    def state(self) -> TurnState:
        return TurnState.TURNING if self.moving else TurnState.DONE

    def message(self) -> str:
        return self.why

    def arrive(self, short: float = 0.0) -> None:
        self.pointing, self.moving = self.target - short, False


def test_it_arrives_and_is_settled_by_several_joint_states_at_rest() -> None:
    bench = Bench(GazeRules(settle_s=0.2))
    assert bench.go(0.5, 0.2) == ""
    assert bench.gaze.settled_ns() is None
    progress = bench.finish()
    assert progress.settled and not progress.warning
    moment = bench.gaze.now()
    assert (moment.state.yaw, moment.state.pitch) == pytest.approx((0.5, 0.2), abs=1e-3)
    assert moment.settled
    (trajectory,) = bench.arm.executed
    ended_ns = round((100.2 + trajectory.duration) * NS)
    # Five joint states in a row after the motion's end, and the settling time.
    assert bench.gaze.settled_ns() >= ended_ns + 4 * round(PERIOD_S * NS) + round(0.2 * NS)


def test_a_look_commands_nothing_and_needs_fresh_joint_states() -> None:
    bench = Bench()
    now = round(bench.arm.now_s * NS)
    bench.go(0.0, relative=True)
    assert not bench.gaze.progress().settled
    assert bench.finish().settled
    assert bench.gaze.settled_ns() > now
    assert bench.arm.executed == []


def test_a_joint_that_hangs_a_little_does_not_creep() -> None:
    bench = Bench()
    bench.arm.short = 0.008
    bench.go(0.5)
    bench.finish()
    for _ in range(10):
        bench.go(0.0, relative=True)
        assert bench.finish().settled
    assert len(bench.arm.executed) == 1
    bench.go(0.1, relative=True)
    bench.finish()
    assert bench.arm.executed[-1].target[0] == pytest.approx(0.6, abs=1e-3)


def test_what_is_out_of_range_goes_to_the_nearest_direction_and_says_so() -> None:
    bench = Bench()
    beyond = bench.go(2.0, 0.1)
    assert "2.000" in beyond and "1.000" in beyond
    assert bench.finish().settled
    assert bench.gaze.now().state.yaw == pytest.approx(1.0, abs=1e-3)


def test_what_is_not_permitted_is_out_of_range_too() -> None:
    bench = Bench(permitted=GazeLimits(-0.3, 0.4, -0.1, 0.2))
    beyond = bench.go(0.9, 0.5)
    assert "yaw" in beyond and "pitch" in beyond
    assert bench.finish().settled
    state = bench.gaze.now().state
    assert (state.yaw, state.pitch) == pytest.approx((0.4, 0.2), abs=1e-3)


def test_a_newer_goal_takes_over_without_a_jump() -> None:
    bench = Bench()
    bench.go(0.9)
    bench.run(0.25)
    before = bench.arm.position, bench.arm.velocity
    bench.go(-0.5)
    start = bench.arm.executed[-1].at(0.0)
    assert start.position == pytest.approx(before[0], abs=0.03)
    assert start.velocity == pytest.approx(before[1], abs=0.1)
    assert bench.finish().settled


def test_success_short_of_the_goal_is_tried_again_and_then_named() -> None:
    bench = Bench()
    bench.arm.short, bench.arm.says = math.radians(20), Verdict(True)
    bench.go(0.8)
    failure = bench.finish().failure
    assert failure is not None
    assert failure.outcome is MoveOutcome.NOT_SETTLED
    assert "head_yaw" in failure.message and "20.0°" in failure.message
    assert len(bench.arm.executed) == 2


def test_a_second_try_that_arrives_is_an_arrival() -> None:
    bench = Bench()
    bench.arm.short = 0.3
    bench.go(0.8)
    while len(bench.arm.executed) < 2:
        bench.gaze.progress()
        bench.run(PERIOD_S)
    bench.arm.short = 0.0
    assert bench.finish().settled


def test_a_controller_that_aborts_at_the_goal_is_a_warning() -> None:
    bench = Bench()
    bench.go(0.4)
    bench.run(bench.arm.executed[0].duration)
    bench.arm.says = Verdict(False, "goal tolerance violated by 1e-5")
    progress = bench.finish()
    assert progress.settled
    assert "1e-5" in progress.warning
    assert len(bench.arm.executed) == 1


def test_a_controller_that_aborts_on_the_way_is_tried_again_and_then_a_fault() -> None:
    bench = Bench()
    bench.go(0.8)
    bench.run(0.3)
    bench.arm.says = Verdict(False, "path tolerance violated")
    failure = bench.finish().failure
    assert failure is not None
    assert failure.outcome is MoveOutcome.FAULT
    assert "path tolerance violated" in failure.message and "head_yaw" in failure.message
    assert len(bench.arm.executed) == 2


def test_joints_that_do_not_move_at_all_are_no_response_after_a_second() -> None:
    bench = Bench()
    bench.arm.deaf = True
    began = bench.arm.now_s
    bench.go(0.8)
    failure = bench.finish().failure
    assert failure is not None
    assert failure.outcome is MoveOutcome.NO_RESPONSE
    assert "mode" in failure.message
    assert 1.0 <= bench.arm.now_s - began < 1.1


def test_no_joint_states_no_motion() -> None:
    bench = Bench(GazeRules(stale_s=0.1))
    bench.go(0.8)
    bench.run(0.2)
    bench.silent = True
    bench.run(0.2)
    failure = bench.gaze.progress().failure
    assert failure is not None
    assert failure.outcome is MoveOutcome.FAULT
    assert "joint states" in failure.message
    bench.gaze.stop()
    assert bench.arm.held, "it is told to hold"


def test_joint_states_that_stop_are_not_taken_for_those_of_another_clock() -> None:
    bench = Bench(GazeRules(stale_s=0.1))
    bench.silent = True
    bench.run(0.15)
    assert bench.gaze.stale() == "the last joint states are 0.15 s old, 0.00 s when they came"


def test_joint_states_of_another_clock_are_named() -> None:
    bench = Bench()
    bench.gaze.observe(JointSample(round((bench.arm.now_s + 5.0) * NS), (0.0, 0.0), (0.0, 0.0)))
    assert "clock" in bench.gaze.stale()


def test_it_brakes_within_its_limits_and_stays() -> None:
    bench = Bench()
    bench.go(0.9)
    bench.run(0.3)
    bench.gaze.stop()
    braking = bench.arm.executed[-1]
    assert max(abs(axis.target - x) for axis, x in zip(braking.axes, bench.arm.position, strict=True)) < 0.5
    bench.run(0.6)
    assert bench.gaze.stopped()
    assert bench.gaze.stop_problem() == ""
    assert bench.arm.position == pytest.approx(braking.target)


def test_joints_that_move_on_after_a_stop_are_named() -> None:
    bench = Bench(GazeRules(stop_s=0.0))
    bench.go(0.9)
    bench.run(0.2)
    bench.arm.deaf_to_hold = True
    bench.gaze.stop()
    bench.run(0.1)
    assert not bench.gaze.stopped()
    assert "head_yaw" in bench.gaze.stop_problem()


def test_a_neck_that_was_never_commanded_has_nothing_to_stop() -> None:
    bench = Bench(GazeRules(stop_s=0.0, stale_s=0.0))
    bench.gaze.stop()
    bench.gaze.hold()
    assert bench.gaze.stopped()
    assert bench.gaze.stop_problem() == ""
    assert not bench.arm.executed and not bench.arm.held


def test_an_emergency_stop_holds_where_the_joints_are() -> None:
    bench = Bench()
    bench.go(0.9)
    bench.run(0.3)
    where = bench.arm.position
    bench.gaze.hold()
    assert bench.arm.held == [where]
    bench.run(0.2)
    assert bench.arm.position == where
    assert bench.gaze.stopped()


def test_a_base_turns_where_the_neck_is_not_enough() -> None:
    base = Base()
    bench = Bench(base=base)
    assert bench.go(math.pi) == ""
    assert base.moving
    bench.run(3.0)
    assert not bench.gaze.progress().settled, "the base is still on its way"
    turned_ns = round(bench.arm.now_s * NS)
    base.arrive(short=0.03)
    assert bench.finish().settled
    assert bench.gaze.settled_ns() > turned_ns, "a view shows the direction only once the base rests too"
    # The neck makes up for what the base is short of.
    now = bench.gaze.now()
    assert math.remainder(now.state.yaw - math.pi, 2 * math.pi) == pytest.approx(0.0, abs=1e-3)
    assert abs(bench.arm.position[0]) < 1.0
    assert now.turned == base.pointing


def test_a_base_that_fails_is_named() -> None:
    base = Base()
    bench = Bench(base=base)
    bench.go(math.pi)
    base.why, base.moving = "no odometry for 0.5 s", False
    failure = bench.finish().failure
    assert failure is not None
    assert "odometry" in failure.message
