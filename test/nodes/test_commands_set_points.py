"""Motions as set-points: they follow the motion, never jump, and stop where they are told to."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvs_ros.neck.joints import Joints
from hvs_ros.neck.robot import NeckJoint
from hvs_ros.neck.trajectory import Trajectory, plan_together
from hvs_ros.nodes.commands.set_points import FADE_LIMIT_RAD, FADE_S, MAX_PERIODS, SetPoints

PERIOD = 0.02
HOLD_TIME = 0.1
VELOCITY, ACCELERATION = 1.0, 4.0
angle = st.floats(-2.0, 2.0)


class Clock:
    """Goes on by a period each time, or as it is told."""

    def __init__(self, *steps: float) -> None:
        self.now = 100.0
        self._steps = iter(steps)

    def __call__(self) -> float:
        self.now += next(self._steps, PERIOD)
        return self.now


def pan(*steps: float, lower: float = -math.inf, upper: float = math.inf) -> SetPoints:
    return SetPoints((NeckJoint("pan", lower=lower, upper=upper),), PERIOD, HOLD_TIME, Clock(*steps))


def move(start: float, target: float, velocity: float = 0.0) -> Trajectory:
    return plan_together([start], [velocity], [target], max_velocity=[VELOCITY], max_acceleration=[ACCELERATION])


def rest_of(points: SetPoints) -> Iterator[float]:
    while (point := points.next()) is not None:
        yield point[0]


def steps_of(points: list[float]) -> float:
    return max((abs(after - before) for before, after in pairwise(points)), default=0.0)


def test_nothing_is_sent_before_the_first_motion() -> None:
    assert pan().next() is None


@given(angle, angle)
def test_a_motion_goes_to_its_target_and_stays_a_while(start: float, target: float) -> None:
    points = pan()
    points.execute(motion := move(start, target))
    sent = list(rest_of(points))
    assert sent[0] == motion.at(PERIOD).position[0]
    assert sent[-1] == target
    assert (len(sent) - 1) * PERIOD == pytest.approx(motion.duration + HOLD_TIME, abs=2 * PERIOD)
    assert steps_of([start, *sent]) <= VELOCITY * PERIOD + 1e-9


@given(angle, angle, st.floats(0.0, 1.0), st.floats(-0.2, 0.2))
def test_a_newer_motion_takes_over_without_a_jump(first: float, second: float, when: float, lag: float) -> None:
    points = pan()
    points.execute(motion := move(0.0, first))
    sent = [0.0]
    while len(sent) == 1 or len(sent) * PERIOD < motion.duration * when:
        point = points.next()
        assert point is not None
        sent.append(point[0])
    # It is planned from where the joint is, behind the set-point.
    velocity = motion.at(len(sent) * PERIOD).velocity[0]
    points.execute(move(sent[-1] - lag, second, velocity))
    sent += rest_of(points)
    assert sent[-1] == second
    assert steps_of(sent) <= (VELOCITY + 1.5 * abs(lag) / FADE_S) * PERIOD + 1e-9


def test_a_joint_that_somebody_else_has_moved_starts_where_it_is() -> None:
    points = pan()
    points.execute(move(0.0, 1.0))
    list(rest_of(points))
    away = 1.0 + 2 * FADE_LIMIT_RAD
    points.execute(move(away, away + 0.5))
    assert abs(next(rest_of(points)) - away) <= VELOCITY * PERIOD


def test_a_hold_is_the_next_set_point() -> None:
    points = pan()
    points.execute(move(0.0, 2.0))
    for _ in range(20):
        points.next()
    points.hold((0.1,))
    sent = list(rest_of(points))
    assert set(sent) == {0.1}
    assert (len(sent) - 1) * PERIOD == pytest.approx(HOLD_TIME, abs=PERIOD)


def test_a_hold_without_repetition_is_sent_once() -> None:
    points = SetPoints((NeckJoint("pan"),), PERIOD, 0.0, Clock())
    points.hold((0.3,))
    assert list(rest_of(points)) == [0.3]


@given(st.lists(st.floats(-5.0, 5.0), max_size=300))
def test_a_clock_that_jumps_or_stands_still_makes_no_jump(steps: list[float]) -> None:
    points = pan(*steps)
    points.execute(move(0.0, 2.0))
    sent = [0.0, *rest_of(points)]
    assert sent[-1] == 2.0 and sent == sorted(sent)
    assert steps_of(sent) <= MAX_PERIODS * PERIOD * VELOCITY + 1e-9


def test_a_clock_that_stands_still_keeps_the_set_point() -> None:
    points = pan(0.0, *[0.0] * 50)
    points.execute(move(0.0, 2.0))
    assert len({points.next() for _ in range(50)}) == 1


def test_what_is_faded_out_stays_in_range() -> None:
    points = pan(upper=1.0)
    points.execute(move(0.0, 1.0))
    list(rest_of(points))
    points.execute(move(0.9, 1.0))
    assert max(rest_of(points)) <= 1.0


def test_after_clear_nothing_is_remembered() -> None:
    points = pan()
    points.execute(move(0.0, 2.0))
    points.next()
    points.clear()
    assert points.next() is None
    points.execute(move(0.2, 0.4))
    first: Joints | None = points.next()
    assert first is not None and abs(first[0] - 0.2) < VELOCITY * PERIOD
