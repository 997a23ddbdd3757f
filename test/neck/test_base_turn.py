"""How far a base turns for a gaze, and that it gets there whatever the base is like."""

from __future__ import annotations

import math
from collections import deque
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hvs_ros.angles import wrap_rad
from hvs_ros.mock.base import BaseFaults, SimulatedBase
from hvs_ros.neck.base_turn import MARGIN, RESERVE, share_turn
from hvs_ros.neck.heading import HeadingHistory, yaw_of
from hvs_ros.neck.heading_controller import HeadingController, SeenHeading, TurnFailure, TurnState
from hvs_ros.neck.joints import NS
from hvs_ros.neck.limits import GazeLimits
from hvs_ros.neck.robot import BaseTurn

PERIOD_S = 0.05
BASE = BaseTurn()
angle = st.floats(-20.0, 20.0)


def limits(low: float, high: float) -> GazeLimits:
    return GazeLimits(low, high, -0.5, 0.5)


@given(angle, angle, st.floats(-3.0, -0.01), st.floats(0.01, 3.0))
def test_base_and_neck_together_look_where_it_was_wanted(yaw: float, heading: float, low: float, high: float) -> None:
    neck = limits(low, high)
    share = share_turn(yaw, heading, neck)
    assert abs(wrap_rad(share.heading + share.neck_yaw - yaw)) < 1e-6
    assert neck.yaw_min - 1e-5 <= share.neck_yaw <= neck.yaw_max + 1e-5
    assert abs(share.heading - heading) <= math.pi + 1e-6
    if share.turns:
        # Well inside, and by no more than that needs: the neck is at the edge of what counts as well inside.
        kept = min(RESERVE, (high - low) / 2)
        edges = (low + kept, high - kept)
        assert min(abs(share.neck_yaw - edge) for edge in edges) < 1e-6
        # No other turn is smaller.
        for edge in edges:
            assert abs(share.heading - heading) <= abs(wrap_rad(yaw - heading - edge)) + 1e-5
    else:
        assert share.heading == heading


@given(st.floats(-0.96 + MARGIN, 0.96 - MARGIN), angle)
def test_the_base_stays_where_the_neck_is_enough(neck_yaw: float, heading: float) -> None:
    share = share_turn(heading + neck_yaw + 2 * math.pi, heading, limits(-0.96, 0.96))
    assert not share.turns
    assert share.neck_yaw == pytest.approx(neck_yaw, abs=1e-6)


def test_a_neck_without_a_stop_needs_no_base() -> None:
    share = share_turn(3.0, -1.0, limits(-math.pi, math.pi))
    assert not share.turns and share.neck_yaw == pytest.approx(wrap_rad(4.0))


def test_after_a_turn_small_looks_around_need_no_other() -> None:
    neck = limits(-0.96, 0.96)
    share = share_turn(math.pi, 0.0, neck)
    assert share.turns
    assert not any(share_turn(math.pi + d, share.heading, neck).turns for d in (-RESERVE + MARGIN, RESERVE - MARGIN))


class Drive:
    """A controller and a base in simulated time, at 20 Hz."""

    def __init__(self, faults: BaseFaults | None = None, turn: BaseTurn = BASE) -> None:
        self.turn = turn
        self.base = SimulatedBase(faults)
        self.controller = HeadingController(turn)
        self.time = 0.0
        self.commands: list[float] = [0.0]
        self.headings: list[float] = []
        self._odometry: deque[float] = deque(maxlen=4)
        self._seen: SeenHeading | None = None

    def step(self, *, odometry: bool = True) -> None:
        if odometry:
            self._odometry.append(self.base.odometry())
            rate = (self._odometry[-1] - self._odometry[0]) / (max(1, len(self._odometry) - 1) * PERIOD_S)
            self._seen = SeenHeading(self.time, self._odometry[-1], rate)
        self.commands.append(self.controller.update(self.time, self._seen))
        self.base.command(self.commands[-1])
        self.base.advance(PERIOD_S)
        self.headings.append(self.base.heading)
        self.time += PERIOD_S

    def turn_to(self, target: float, limit_s: float = 60.0) -> None:
        self.controller.start(target, self.time)
        while self.controller.state is TurnState.TURNING:
            assert self.time < limit_s, "no end"
            self.step()


faults = st.builds(
    BaseFaults,
    delay=st.floats(0.0, 0.15),
    lag=st.floats(0.0, 0.15),
    slip=st.floats(0.6, 1.1),
    dead_zone=st.one_of(st.just(0.0), st.floats(0.0, 0.12)),
)


@settings(max_examples=150, deadline=None)
@given(st.floats(-7.0, 7.0), faults)
@example(3.0, BaseFaults(delay=0.1, lag=0.1, dead_zone=0.1))
@example(0.03, BaseFaults(delay=0.1, dead_zone=0.1))
def test_it_arrives_and_stays_within_its_limits(target: float, faults: BaseFaults) -> None:
    drive = Drive(faults)
    drive.turn_to(target)
    assert drive.controller.state is TurnState.DONE, drive.controller.message
    drive.base.command(0.0)
    drive.base.advance(1.0)
    assert drive.base.heading == pytest.approx(target, abs=BASE.tolerance + 0.01)
    assert max(map(abs, drive.commands)) <= BASE.max_velocity + 1e-9
    changes = [abs(b - a) for a, b in pairwise(drive.commands)]
    assert max(changes, default=0.0) <= BASE.max_acceleration * PERIOD_S + 1e-9
    # Not beyond the target by much, and not back and forth.
    beyond = max((heading - target) * math.copysign(1.0, target) for heading in [0.0, *drive.headings])
    assert beyond < 0.1 or abs(target) < BASE.tolerance
    signs = [math.copysign(1.0, v) for v in drive.commands if v]
    assert sum(a != b for a, b in pairwise(signs)) <= 3


@settings(max_examples=60, deadline=None)
@given(st.floats(0.3, 6.0))
def test_on_a_good_base_it_takes_little_longer_than_it_must(target: float) -> None:
    drive = Drive(BaseFaults(delay=0.1, lag=0.05))
    drive.turn_to(target)
    assert drive.time < target / BASE.max_velocity + BASE.max_velocity / BASE.max_acceleration + 2.5


@settings(max_examples=60, deadline=None)
@given(st.floats(-3.0, 3.0), st.floats(-3.0, 3.0), st.integers(1, 80))
def test_a_newer_target_takes_over_without_a_jump(first: float, second: float, after: int) -> None:
    drive = Drive(BaseFaults(delay=0.1, lag=0.05))
    drive.controller.start(first, 0.0)
    for _ in range(after):
        drive.step()
    drive.turn_to(second)
    assert drive.controller.state is TurnState.DONE, drive.controller.message
    assert drive.base.heading == pytest.approx(second, abs=BASE.tolerance + 0.01)
    assert max(abs(b - a) for a, b in pairwise(drive.commands)) <= BASE.max_acceleration * PERIOD_S + 1e-9


def test_a_base_that_does_not_turn_fails_within_a_second() -> None:
    drive = Drive(BaseFaults(stuck=0.0))
    drive.turn_to(1.0)
    assert drive.controller.failure is TurnFailure.NO_RESPONSE
    assert drive.time < 1.2
    assert drive.commands[-1] == 0.0
    assert "/cmd_vel" in drive.controller.message and "/odom" in drive.controller.message


def test_a_base_that_gets_stuck_on_the_way_fails_too() -> None:
    drive = Drive(BaseFaults(delay=0.1, stuck=0.6))
    drive.turn_to(2.0)
    assert drive.controller.failure is TurnFailure.NO_RESPONSE
    assert drive.commands[-1] == 0.0
    assert "1.4" in drive.controller.message


def test_a_base_that_turns_the_wrong_way_is_stopped() -> None:
    drive = Drive(BaseFaults(slip=-1.0))
    drive.turn_to(1.0)
    assert drive.controller.failure is TurnFailure.WRONG_WAY
    assert drive.commands[-1] == 0.0 and drive.base.heading > -0.5


def test_without_odometry_it_is_not_turned() -> None:
    drive = Drive()
    drive.controller.start(1.0, 0.0)
    while drive.controller.state is TurnState.TURNING:
        drive.step(odometry=False)
    assert drive.controller.failure is TurnFailure.NO_ODOMETRY
    assert set(drive.commands) == {0.0} and 0.5 <= drive.time <= 0.7
    assert "/odom" in drive.controller.message


def test_when_odometry_ends_it_stops() -> None:
    drive = Drive()
    drive.controller.start(3.0, 0.0)
    for _ in range(20):
        drive.step()
    assert drive.commands[-1] > 0.3
    while drive.controller.state is TurnState.TURNING:
        drive.step(odometry=False)
    assert drive.controller.failure is TurnFailure.NO_ODOMETRY
    assert drive.commands[-1] == 0.0 and drive.time < 1.7


def test_too_slow_a_base_fails_in_time() -> None:
    drive = Drive(BaseFaults(slip=0.1))
    drive.turn_to(3.0)
    assert drive.controller.failure is TurnFailure.TIMEOUT
    assert drive.commands[-1] == 0.0 and drive.time < 20.0


def test_stop_is_zero_at_once() -> None:
    drive = Drive()
    drive.controller.start(3.0, 0.0)
    for _ in range(20):
        drive.step()
    drive.controller.stop(drive.time)
    assert drive.controller.state is TurnState.IDLE
    assert drive.controller.update(drive.time, None) == 0.0


@given(st.lists(st.floats(-0.4, 0.4), min_size=1, max_size=50), angle)
def test_the_heading_is_counted_from_the_first_odometry_and_not_wrapped(steps: list[float], first: float) -> None:
    history = HeadingHistory()
    yaw, stamp = first, 5 * NS
    history.add(stamp, wrap_rad(yaw))
    assert history.at(stamp) == 0.0 and history.at(stamp - 1) is None
    for step in steps:
        yaw, stamp = yaw + step, stamp + NS // 10
        history.add(stamp, wrap_rad(yaw))
    latest = history.latest()
    assert latest is not None and latest.heading == pytest.approx(sum(steps), abs=1e-6)
    half = history.at(stamp - NS // 20)
    assert half == pytest.approx(sum(steps) - steps[-1] / 2, abs=1e-6)


def test_beyond_the_newest_sample_the_heading_goes_on_for_a_moment() -> None:
    history = HeadingHistory()
    for index in range(10):
        history.add(index * NS // 20, 0.02 * index)
    newest = 9 * NS // 20
    assert history.rate() == pytest.approx(0.4)
    assert history.at(newest + NS // 10) == pytest.approx(0.18 + 0.04)
    assert history.at(newest + 100 * NS) == pytest.approx(0.18 + 0.08)


def test_odometry_that_is_reset_does_not_turn_the_head() -> None:
    history = HeadingHistory()
    for index in range(10):
        history.add(index * NS // 20, 2.0)
    history.add(10 * NS // 20, 0.0)
    history.add(11 * NS // 20, 0.01)
    latest = history.latest()
    assert history.resets == 1 and latest is not None and latest.heading == pytest.approx(0.01)


def test_a_clock_set_back_begins_anew_where_the_base_is() -> None:
    history = HeadingHistory()
    history.add(100 * NS, 0.0)
    history.add(101 * NS, 0.3)
    history.add(101 * NS, 0.7)
    history.add(2 * NS, 0.3)
    history.add(3 * NS, 0.4)
    assert history.at(3 * NS) == pytest.approx(0.4)
    assert history.at(NS) is None


@given(st.floats(-3.1, 3.1), st.floats(0.6, 2.0))
def test_the_yaw_of_a_quaternion(yaw: float, norm: float) -> None:
    z, w = norm * math.sin(yaw / 2), norm * math.cos(yaw / 2)
    found = yaw_of(0.0, 0.0, z, w)
    assert found is not None and found == pytest.approx(yaw, abs=1e-9)
    assert yaw_of(0.0, 0.0, 0.0, 0.0) is None and yaw_of(0.0, 0.0, math.nan, 1.0) is None
