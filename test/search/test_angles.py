from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvs_ros.angles import (
    OPTICAL_IN_GAZE,
    Direction,
    Quaternion,
    clamp_pitch_deg,
    gaze_quaternion,
    ros_angles,
    ros_turn,
    search_direction,
    search_turn_deg,
    wrap_rad,
    wrap_yaw_deg,
    yaw_difference_deg,
)

angles = st.floats(-1e6, 1e6)
pitches = st.floats(-90, 90)


@pytest.mark.parametrize(
    ("search", "ros"),
    [
        ((0, 0), (0, 0)),
        ((90, 0), (-math.pi / 2, 0)),  # right
        ((270, 0), (math.pi / 2, 0)),  # left
        ((0, 45), (0, -math.pi / 4)),  # up
        ((0, -45), (0, math.pi / 4)),  # down
        ((180, 0), (math.pi, 0)),
        ((359, 90), (math.radians(1), -math.pi / 2)),
    ],
)
def test_the_golden_table_of_signs(search: tuple[float, float], ros: tuple[float, float]) -> None:
    assert ros_angles(Direction(*search)) == pytest.approx(ros)
    back = search_direction(*ros)
    assert yaw_difference_deg(back.yaw_deg, search[0]) == pytest.approx(0, abs=1e-9)
    assert back.pitch_deg == pytest.approx(search[1])


@given(angles)
def test_a_wrapped_yaw_is_in_the_circle_and_the_same_direction(yaw: float) -> None:
    wrapped = wrap_yaw_deg(yaw)
    assert 0.0 <= wrapped < 360.0
    assert math.sin(math.radians(wrapped - yaw)) == pytest.approx(0, abs=1e-6)
    assert math.cos(math.radians(wrapped - yaw)) == pytest.approx(1)
    assert wrap_yaw_deg(wrapped) == wrapped


@pytest.mark.parametrize("yaw", [-1e-17, -0.0, 360.0, 720.0, -360.0])
def test_the_seam_wraps_to_zero(yaw: float) -> None:
    assert wrap_yaw_deg(yaw) == 0.0


@given(angles, angles)
def test_a_difference_is_the_shortest_turn(to: float, start: float) -> None:
    difference = yaw_difference_deg(to, start)
    assert -180.0 <= difference < 180.0
    assert abs(yaw_difference_deg(start + difference, to)) < 1e-6


@given(angles)
def test_pitch_clamps(pitch: float) -> None:
    assert clamp_pitch_deg(pitch) == min(90.0, max(-90.0, pitch))


@given(angles, pitches, st.floats(-3600, 3600), st.floats(-3600, 3600))
def test_turning_wraps_the_yaw_and_clamps_the_pitch(yaw: float, pitch: float, dyaw: float, dpitch: float) -> None:
    turned = Direction(yaw, pitch).turned(dyaw, dpitch)
    assert 0.0 <= turned.yaw_deg < 360.0 and -90.0 <= turned.pitch_deg <= 90.0
    assert yaw_difference_deg(turned.yaw_deg, yaw + dyaw) == pytest.approx(0, abs=1e-6)
    assert turned.pitch_deg == pytest.approx(min(90.0, max(-90.0, pitch + dpitch)))


@given(st.floats(0, 359.9), pitches)
def test_radians_and_back(yaw: float, pitch: float) -> None:
    back = search_direction(*ros_angles(Direction(yaw, pitch)))
    assert yaw_difference_deg(back.yaw_deg, yaw) == pytest.approx(0, abs=1e-9)
    assert back.pitch_deg == pytest.approx(pitch)


@given(angles)
def test_a_turn_is_not_wrapped(degrees: float) -> None:
    assert search_turn_deg(ros_turn(degrees)) == pytest.approx(degrees)
    assert -math.pi < wrap_rad(ros_turn(degrees)) <= math.pi


@given(st.floats(0, 359.9), pitches, st.floats(0, 359.9), pitches)
def test_the_angle_between_directions_is_that_of_their_vectors(a: float, b: float, c: float, d: float) -> None:
    one, other = Direction(a, b), Direction(c, d)
    assert one.angle_to_deg(other) == pytest.approx(other.angle_to_deg(one))
    cosine = float(np.clip(vector(one) @ vector(other), -1, 1))
    assert math.cos(math.radians(one.angle_to_deg(other))) == pytest.approx(cosine, abs=1e-9)


@given(st.floats(0, 359.9), st.floats(-89, 89), st.floats(-3, 3))
def test_the_gaze_frame_points_where_the_head_looks(yaw: float, pitch: float, roll: float) -> None:
    """REP-103 body axes: x forward, y left, z up; the optical frame's z is the gaze frame's x."""
    ros = ros_angles(Direction(yaw, pitch))
    rotation = gaze_quaternion(*ros, roll)
    assert sum(part * part for part in rotation) == pytest.approx(1)
    assert matrix(rotation) @ [1, 0, 0] == pytest.approx(vector(Direction(yaw, pitch)), abs=1e-9)
    assert matrix(OPTICAL_IN_GAZE) @ np.eye(3) == pytest.approx(np.array([[0, 0, 1], [-1, 0, 0], [0, -1, 0]]))


def vector(direction: Direction) -> np.ndarray:
    yaw, pitch = -math.radians(direction.yaw_deg), math.radians(direction.pitch_deg)
    return np.array([math.cos(pitch) * math.cos(yaw), math.cos(pitch) * math.sin(yaw), math.sin(pitch)])


def matrix(quaternion: Quaternion) -> np.ndarray:
    x, y, z, w = quaternion
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
