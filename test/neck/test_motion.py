"""Motion profiles keep their limits, arrive, and take over from each other without a jump."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvs_ros.neck.joints import NS
from hvs_ros.neck.motion import AxisMotion, plan, plan_stop
from hvs_ros.neck.simulated import MotionLimits, SimulatedNeck

position = st.floats(-10.0, 10.0)
limit = st.floats(0.1, 20.0)
fraction = st.floats(0.0, 1.0)


def samples(motion: AxisMotion, count: int = 200) -> list[tuple[float, float, float]]:
    times = [motion.duration * index / count for index in range(count + 1)]
    return [(time, *motion.at(time)) for time in times]


@given(position, position, limit, limit, fraction)
def test_it_starts_as_it_is_arrives_at_rest_and_keeps_the_limits(
    start: float, target: float, v: float, a: float, f: float
) -> None:
    velocity = v * (2 * f - 1)
    motion = plan(start, velocity, target, max_velocity=v, max_acceleration=a)
    assert motion.at(0.0) == pytest.approx((start, velocity), abs=1e-9) or motion.duration == 0.0
    assert motion.at(motion.duration) == (target, 0.0)
    points = samples(motion)
    step = motion.duration / 200
    for (_, p, s), (_, q, r) in pairwise(points):
        assert abs(s) <= v * (1 + 1e-9)
        assert abs(r - s) <= a * step + 1e-6
        assert abs(q - p) <= v * step + 1e-6


@given(position, position, limit, limit)
def test_it_is_the_fastest_from_rest(start: float, target: float, v: float, a: float) -> None:
    way = abs(target - start)
    fastest = 2 * math.sqrt(way / a) if way < v * v / a else way / v + v / a
    motion = plan(start, 0.0, target, max_velocity=v, max_acceleration=a)
    assert motion.duration == pytest.approx(fastest, rel=1e-6, abs=1e-6)


@given(position, position, position, limit, limit, fraction)
def test_a_newer_target_takes_over_without_a_jump(
    start: float, first: float, second: float, v: float, a: float, f: float
) -> None:
    before = plan(start, 0.0, first, max_velocity=v, max_acceleration=a)
    state = before.at(before.duration * f)
    after = plan(*state, second, max_velocity=v, max_acceleration=a)
    assert after.at(1e-9) == pytest.approx(state, abs=1e-6) or after.duration == 0.0
    # A motion between two points inside a range never leaves the range, whenever it is taken over.
    low, high = min(start, first, second), max(start, first, second)
    assert all(low - 1e-6 <= p <= high + 1e-6 for _, p, _ in samples(after))


@given(position, st.floats(-5.0, 5.0), limit)
def test_a_stop_brakes_as_hard_as_allowed(start: float, velocity: float, a: float) -> None:
    motion = plan_stop(start, velocity, max_acceleration=a)
    assert motion.duration == pytest.approx(abs(velocity) / a)
    assert motion.target == pytest.approx(start + velocity * abs(velocity) / (2 * a), abs=1e-9)


@given(position, position, limit, limit, st.floats(1.1, 5.0))
def test_too_fast_for_a_slower_goal_brakes_first(start: float, target: float, v: float, a: float, f: float) -> None:
    motion = plan(start, v * f, target, max_velocity=v, max_acceleration=a)
    assert max(abs(speed) for _, _, speed in samples(motion)) <= v * f * (1 + 1e-9)
    assert motion.at(motion.duration) == (target, 0.0)
    assert motion.at(motion.duration - 1e-9)[0] == pytest.approx(target, abs=1e-4)


def test_without_limits_it_is_there_at_once() -> None:
    motion = plan(1.0, 0.0, 2.0, max_velocity=math.inf, max_acceleration=math.inf)
    assert motion.duration == 0.0
    assert motion.at(0.0) == (2.0, 0.0)


def test_without_an_acceleration_limit_it_cruises_all_the_way() -> None:
    motion = plan(1.0, 9.0, 2.0, max_velocity=0.5, max_acceleration=math.inf)
    assert motion.duration == pytest.approx(2.0)
    assert motion.at(1.0) == pytest.approx((1.5, 0.5))


def test_the_neck_says_when_it_will_be_at_rest() -> None:
    neck = SimulatedNeck(0.0, 0.0, MotionLimits(1.0, 2.0))
    neck.move(NS, 2.0, -0.1)
    assert neck.rest_ns() == pytest.approx(NS + 2.5 * NS, abs=10)
    assert neck.state(NS + NS // 4).yaw_velocity == pytest.approx(0.5)
    end = neck.state(neck.rest_ns())
    assert (end.yaw, end.pitch, end.yaw_velocity) == (2.0, -0.1, 0.0)


def test_the_neck_stops_and_stays() -> None:
    neck = SimulatedNeck(0.0, 0.0, MotionLimits(1.0, 2.0))
    neck.move(0, 2.0, 0.0)
    neck.stop(NS)
    assert neck.rest_ns() == pytest.approx(1.5 * NS, abs=10)
    assert neck.state(2 * NS).yaw == neck.state(9 * NS).yaw == pytest.approx(1.0)


def test_a_move_to_where_it_rests_does_not_disturb_the_rest() -> None:
    neck = SimulatedNeck(0.0, 0.0, MotionLimits(1.0, 2.0))
    neck.move(0, 2.0, 0.0)
    since = neck.rest_ns()
    neck.move(9 * NS, 2.0, 0.0)
    assert neck.rest_ns() == since
    # Passing through the target is not resting there.
    neck.move(10 * NS, 0.0, 0.0)
    passing = neck.state(11 * NS)
    neck.move(11 * NS, passing.yaw, passing.pitch)
    assert neck.rest_ns() > 11 * NS
    assert neck.state(neck.rest_ns()).yaw == pytest.approx(passing.yaw)


def test_a_clock_set_back_does_not_freeze_the_neck() -> None:
    neck = SimulatedNeck(0.0, 0.0, MotionLimits(1.0, 2.0))
    neck.move(100 * NS, 2.0, 0.0)
    assert neck.state(NS).yaw == 0.0
    assert neck.rest_ns() < 4 * NS
    assert neck.state(4 * NS).yaw == 2.0
