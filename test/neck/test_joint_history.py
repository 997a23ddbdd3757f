"""Where the joints were at a moment: interpolated between samples, and not told where it is not known."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvs_ros.neck.joint_history import CLOCK_JUMP_S, EXTRAPOLATION_S, MAX_GAP_S, JointHistory
from hvs_ros.neck.joints import NS, JointSample

START = 1_700_000_000 * NS


def stamp(time: float) -> int:
    return START + round(time * NS)


def nod(time: float) -> tuple[float, float]:
    """Return a fast nod, position and velocity: 30 degrees to each side, 0.8 times a second."""
    w = 2 * math.pi * 0.8
    return math.radians(30) * math.sin(w * time), math.radians(30) * w * math.cos(w * time)


def sample(time: float, motion: Callable[[float], tuple[float, float]] = nod, *, told: bool = True) -> JointSample:
    position, velocity = motion(time)
    return JointSample(stamp(time), (position,), (velocity,) if told else ())


def recorded(rate: float, seconds: float = 2.0, *, told: bool = True) -> JointHistory:
    history = JointHistory()
    for index in range(round(rate * seconds) + 1):
        history.add(sample(index / rate, told=told))
    return history


@given(st.floats(0.0, 1.9), st.floats(0.02, 0.2))
def test_a_late_picture_finds_the_joints_of_its_exposure(exposed: float, latency: float) -> None:
    """A camera stamps on arrival, so much later; the head moves at up to 150 degrees per second."""
    history = recorded(50.0, 2.5)
    arrived = stamp(exposed + latency)
    found = history.at(arrived - round(latency * NS))
    assert found is not None
    assert found.position[0] == pytest.approx(nod(exposed)[0], abs=math.radians(0.01))
    assert found.velocity[0] == pytest.approx(nod(exposed)[1], abs=math.radians(1.0))


def test_without_the_latency_it_would_be_degrees_off() -> None:
    found = recorded(50.0).at(stamp(0.6 + 0.1))
    assert found is not None and abs(found.position[0] - nod(0.6)[0]) > math.radians(5)


@pytest.mark.parametrize(("rate", "worst_deg"), [(100.0, 0.01), (50.0, 0.05), (20.0, 0.3)])
def test_without_velocities_a_straight_line_does(rate: float, worst_deg: float) -> None:
    history = recorded(rate, told=False)
    errors = [abs(history.at(stamp(t / 997)).position[0] - nod(t / 997)[0]) for t in range(1900)]  # type: ignore[union-attr]
    assert math.degrees(max(errors)) < worst_deg


@given(st.floats(0.0, 0.1))
def test_velocities_that_the_driver_only_fills_in_are_not_used(time: float) -> None:
    history = JointHistory()
    for when, position in ((0.0, 0.0), (0.1, 0.2)):
        history.add(JointSample(stamp(when), (position,), (0.0,)))
    found = history.at(stamp(time))
    assert found is not None and found.position[0] == pytest.approx(2.0 * time, abs=1e-6)


@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(-2, 2), st.floats(-2, 2), st.floats(0, 1))
def test_what_it_tells_goes_from_sample_to_sample_without_leaps(
    a: float, b: float, va: float, vb: float, part: float
) -> None:
    history, span = JointHistory(), 0.05
    history.add(JointSample(stamp(0.0), (a,), (va,)))
    history.add(JointSample(stamp(span), (b,), (vb,)))
    for time, position in ((0.0, a), (span, b)):
        found = history.at(stamp(time))
        assert found is not None and found.position[0] == pytest.approx(position, abs=1e-9)
    found = history.at(stamp(part * span))
    assert found is not None
    # A cubic leaves the straight line by 4/27 of its ends' slopes at most, and absurd slopes are not used.
    slack = 8 / 27 * span * (max(abs(va), abs(vb)) + abs(b - a) / span) + 1e-9
    assert min(a, b) - slack <= found.position[0] <= max(a, b) + slack


def test_a_joint_without_limits_is_interpolated_the_short_way() -> None:
    history = JointHistory(continuous=(1,))
    history.add(JointSample(stamp(0.0), (3.0, 3.1), ()))
    history.add(JointSample(stamp(0.1), (-3.0, -3.1), ()))
    found = history.at(stamp(0.05))
    assert found is not None
    assert found.position[0] == pytest.approx(0.0)
    assert math.cos(found.position[1]) == pytest.approx(-1.0)


def test_nothing_is_told_outside_of_what_is_known() -> None:
    history = JointHistory()
    assert history.at(START) is None and history.last is None
    history = recorded(50.0)
    end = sample(2.0)
    assert history.last == end
    assert history.at(stamp(-0.001)) is None
    later = history.at(stamp(2.0 + EXTRAPOLATION_S / 2))
    assert later is not None
    assert later.position[0] == pytest.approx(nod(2.0 + EXTRAPOLATION_S / 2)[0], abs=math.radians(0.1))
    assert history.at(stamp(2.0 + EXTRAPOLATION_S + 0.001)) is None


def test_nothing_is_told_of_a_gap() -> None:
    history = JointHistory()
    history.add(sample(0.0))
    history.add(sample(MAX_GAP_S + 0.1))
    assert history.at(stamp(0.2)) is None
    assert history.at(stamp(0.0)) == sample(0.0)
    history.add(sample(0.3))
    assert history.at(stamp(0.2)) is not None


@given(st.permutations(range(12)))
def test_the_order_of_arrival_does_not_matter(order: list[int]) -> None:
    history, sorted_history = JointHistory(), JointHistory()
    for index in order:
        history.add(sample(index * 0.05))
    for index in range(12):
        sorted_history.add(sample(index * 0.05))
    for time in (0.01, 0.26, 0.5, 0.55):
        assert history.at(stamp(time)) == sorted_history.at(stamp(time)) is not None
    assert history.last == sample(0.55)


def test_of_equal_stamps_the_last_one_counts() -> None:
    history = JointHistory()
    history.add(JointSample(START, (1.0,), (0.0,)))
    history.add(JointSample(START, (2.0,), (0.0,)))
    assert len(history) == 1
    assert history.at(START) == JointSample(START, (2.0,), (0.0,))


def test_only_the_last_seconds_are_kept() -> None:
    history = JointHistory(keep_s=1.0)
    for index in range(500):
        history.add(sample(index / 100))
    assert len(history) == 101
    assert history.at(stamp(3.5)) is None and history.at(stamp(4.5)) is not None
    history.add(sample(1.0 + 4.99 - CLOCK_JUMP_S / 2))
    assert history.last is not None and history.last.stamp_ns >= stamp(4.99)


def test_a_clock_that_was_set_back_begins_anew() -> None:
    history = recorded(50.0, 4.0)
    history.add(sample(0.5))
    assert len(history) == 1 and history.last == sample(0.5)
    # One stamp far in the future does not stay the last one for ever.
    history.add(sample(1000.0))
    history.add(sample(0.52))
    history.add(sample(0.54))
    assert history.at(stamp(0.53)) is not None and history.last == sample(0.54)


def test_another_number_of_joints_begins_anew() -> None:
    history = recorded(50.0)
    history.add(JointSample(stamp(2.02), (0.0, 0.0), (0.0, 0.0)))
    assert len(history) == 1


def test_it_is_read_while_it_is_written() -> None:
    history, done = JointHistory(keep_s=0.2), threading.Event()
    told: list[JointSample] = []

    def read() -> None:
        while not done.is_set():
            last = history.last
            if last is not None and (found := history.at(last.stamp_ns - NS // 20)) is not None:
                told.append(found)

    reader = threading.Thread(target=read)
    reader.start()
    for index in range(20000):
        history.add(sample(index / 100))
    done.set()
    reader.join(10)
    for found in told:
        assert found.position[0] == pytest.approx(nod((found.stamp_ns - START) / NS)[0], abs=1e-3)
    assert all(a.stamp_ns <= b.stamp_ns for a, b in pairwise(told))
