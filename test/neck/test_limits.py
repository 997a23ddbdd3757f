"""Where a head goes for goals inside and outside its range."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvs_ros.angles import wrap_rad
from hvs_ros.neck.limits import GazeLimits

angle = st.floats(-50.0, 50.0)
LIMITED = GazeLimits(-2.0, 1.5, -0.6, 0.9)
ROUND = GazeLimits()


@given(yaw=angle, now=angle)
def test_without_a_stop_the_short_way_is_taken(yaw: float, now: float) -> None:
    reach = ROUND.direction(yaw, 0.1, now=now)
    assert abs(reach.yaw - now) <= math.pi + 1e-9
    assert abs(wrap_rad(reach.yaw - yaw)) < 1e-9
    assert not reach.beyond


@given(yaw=angle, pitch=angle, now=st.floats(-2.0, 1.5))
def test_with_stops_the_joint_stays_between_them(yaw: float, pitch: float, now: float) -> None:
    reach = LIMITED.direction(yaw, pitch, now=now)
    assert -2.0 <= reach.yaw <= 1.5
    assert -0.6 <= reach.pitch <= 0.9
    reached = abs(wrap_rad(reach.yaw - yaw)) < 1e-5 and abs(reach.pitch - pitch) < 1e-5
    assert reached == (not reach.beyond)


@given(yaw=angle, now=st.floats(-2.0, 1.5))
def test_beyond_the_stops_the_nearest_one_is_taken(yaw: float, now: float) -> None:
    reach = LIMITED.direction(yaw, 0.0, now=now)
    nearest = min(abs(wrap_rad(yaw - limit)) for limit in (-2.0, 1.5))
    assert abs(wrap_rad(reach.yaw - yaw)) <= nearest + 1e-5


def test_a_limited_joint_goes_the_long_way_rather_than_through_its_stop() -> None:
    limits = GazeLimits(yaw_min=-3.0, yaw_max=3.0)
    assert limits.direction(-2.9, 0.0, now=2.9).yaw == pytest.approx(-2.9)
    # 2.9 + 0.6 is beyond the stop, but the same direction is in range from the other side.
    assert limits.turn(0.6, 0.0, now=(2.9, 0.0)).yaw == pytest.approx(3.5 - 2 * math.pi)


def test_more_than_a_turn_of_range_takes_the_nearer_of_two_angles() -> None:
    limits = GazeLimits(yaw_min=-4.0, yaw_max=2.0)
    assert limits.direction(2.5, 0.0, now=-3.0).yaw == pytest.approx(2.5 - 2 * math.pi)
    assert limits.direction(2.5, 0.0, now=2.0).yaw == pytest.approx(2.5 - 2 * math.pi)


def test_a_relative_turn_is_turned_as_told() -> None:
    assert ROUND.turn(2 * math.pi, 0.0, now=(1.0, 0.0)).yaw == pytest.approx(1.0 + 2 * math.pi)
    assert ROUND.turn(-4.0, 0.0, now=(1.0, 0.0)).yaw == pytest.approx(-3.0)


def test_what_is_beyond_is_named() -> None:
    reach = LIMITED.direction(math.pi, 1.5, now=0.0)
    assert "yaw 3.142 rad is outside -2.000 to 1.500" in reach.beyond
    assert "pitch 1.500 rad is outside -0.600 to 0.900" in reach.beyond


def test_straight_up_is_in_range_in_spite_of_rounding() -> None:
    assert ROUND.direction(0.0, -math.pi / 2 - 1e-9, now=0.0).beyond == ""
    assert ROUND.direction(0.0, -math.pi / 2 - 0.01, now=0.0).beyond != ""


@pytest.mark.parametrize(
    "limits", [{"yaw_min": 1.0, "yaw_max": -1.0}, {"pitch_min": -2.0}, {"pitch_max": float("nan")}]
)
def test_senseless_ranges_are_refused(limits: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"pitch|yaw"):
        GazeLimits(**limits)


@given(yaw=st.floats(-3.0, 3.0), pitch=st.floats(-1.5, 1.5))
def test_within_both_is_within_each(yaw: float, pitch: float) -> None:
    first, second = GazeLimits(-1.0, 2.0, -0.5, 1.0), GazeLimits(-2.5, 0.5, -1.0, 0.3)
    inside = [
        limits.yaw_min <= yaw <= limits.yaw_max and limits.pitch_min <= pitch <= limits.pitch_max
        for limits in (first, second, first.within(second), second.within(first))
    ]
    assert inside[2] == inside[3] == (inside[0] and inside[1])
    assert first.within(GazeLimits()) == first == GazeLimits().within(first)


def test_two_ranges_without_a_common_direction_are_refused() -> None:
    with pytest.raises(ValueError, match="yaw"):
        GazeLimits(-1.0, -0.5).within(GazeLimits(0.5, 1.0))
