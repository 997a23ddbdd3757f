"""The record of a sign check, its four moves, what the pictures say of them, and what is to be looked at then."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvs_ros.neck.limits import GazeLimits
from hvs_ros.neck.robot import BaseFrame, BaseTurn, Commands, HeadCameraMount, NeckJoint, Robot
from hvs_ros.neck.seen_turn import SeenTurn, seen_turn
from hvs_ros.neck.sign_check import (
    LEAST_ANGLE,
    MOVE_ANGLE,
    SIGN_MOVES,
    passed,
    plan_sign_moves,
    record_pass,
    record_path,
    velocity_scale,
)
from hvs_ros.neck.sign_findings import Sight, WatchedMove, advice
from hvs_ros.panorama import Camera, Panorama, ViewSampler
from hvs_ros.panorama.reproject import GREY
from hvs_ros.search.view import Picture

ROBOT = Robot(
    name="mine",
    base=BaseFrame("base_link"),
    camera=HeadCameraMount("camera_optical_frame"),
    neck=(NeckJoint("pan"), NeckJoint("tilt", sign=-1)),
)
LEFT, RIGHT, UP, DOWN = SIGN_MOVES


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


# The record


def test_a_head_is_slow_until_somebody_has_watched_it(state: Path) -> None:
    assert not passed(ROBOT) and velocity_scale(ROBOT) == 0.2
    path = record_pass(ROBOT)
    assert path.parent == state / "hvs_ros" / "signs"
    assert passed(ROBOT) and velocity_scale(ROBOT) == 1.0


@pytest.mark.parametrize(
    "changed",
    [
        replace(ROBOT, neck=(NeckJoint("pan", sign=-1), ROBOT.neck[1])),
        replace(ROBOT, neck=(NeckJoint("pan", offset=0.1), ROBOT.neck[1])),
        replace(ROBOT, neck=(NeckJoint("pan", driver_name="tilt"), NeckJoint("tilt", driver_name="pan", sign=-1))),
        replace(ROBOT, camera=replace(ROBOT.camera, turned=math.pi / 2)),
        replace(ROBOT, base=BaseFrame("base_link", rpy=(0.0, 0.0, math.pi))),
        replace(ROBOT, commands=Commands("dynamixel", settings={"ids": [2, 1]})),
        replace(ROBOT, name="another"),
    ],
    ids=["sign", "offset", "joints exchanged", "camera turned", "base", "servos exchanged", "another robot"],
)
def test_what_decides_where_it_turns_has_to_be_watched_again(changed: Robot) -> None:
    record_pass(ROBOT)
    assert not passed(changed)
    record_pass(changed)
    assert passed(changed) and passed(ROBOT)


def test_what_does_not_decide_that_has_not() -> None:
    record_pass(ROBOT)
    camera = replace(ROBOT.camera, latency=0.08, image="/a/other")
    neck = (replace(ROBOT.neck[0], max_velocity=0.3, upper=0.9), ROBOT.neck[1])
    changed = replace(ROBOT, camera=camera, neck=neck, note="faster", joint_states="/a/joints", turn=BaseTurn("/a/v"))
    assert passed(changed)


@pytest.mark.parametrize("content", ["", "{", "[]", json.dumps({"fingerprint": "other"})])
def test_a_record_that_makes_no_sense_does_not_count(content: str) -> None:
    record_pass(ROBOT).write_text(content)
    assert not passed(ROBOT)


def test_the_state_folder_is_the_specification_s(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for value in ("", "relative"):
        monkeypatch.setenv("XDG_STATE_HOME", value)
        assert record_path(ROBOT).parent == tmp_path / ".local" / "state" / "hvs_ros" / "signs"


# The moves

angle = st.floats(-1.5, 1.5)


@given(st.tuples(angle, angle).map(sorted), st.tuples(angle, angle).map(sorted))
def test_moves_stay_within_what_the_head_can_reach(yaw: list[float], pitch: list[float]) -> None:
    limits = GazeLimits(*yaw, *pitch)
    moves = plan_sign_moves(limits)
    for planned in moves:
        for at_yaw, at_pitch in (planned.start, planned.target):
            assert limits.yaw_min - 1e-9 <= at_yaw <= limits.yaw_max + 1e-9
            assert limits.pitch_min - 1e-9 <= at_pitch <= limits.pitch_max + 1e-9
        dyaw, dpitch = (to - start for to, start in zip(planned.target, planned.start, strict=True))
        assert (dyaw * planned.move.yaw > 0) == bool(planned.move.yaw)
        assert (dpitch * planned.move.pitch > 0) == bool(planned.move.pitch)
        assert LEAST_ANGLE - 1e-9 <= abs(dyaw + dpitch) <= MOVE_ANGLE + 1e-9
    expected = 2 * (yaw[1] - yaw[0] >= 2 * LEAST_ANGLE) + 2 * (pitch[1] - pitch[0] >= 2 * LEAST_ANGLE)
    assert len(moves) == expected


def test_a_head_without_stops_begins_straight_ahead() -> None:
    assert {planned.start for planned in plan_sign_moves(GazeLimits())} == {(0.0, 0.0)}


# What the camera saw


def room(seed: int = 3) -> Panorama:
    rng = np.random.default_rng(seed)
    pixels = np.zeros((512, 1024, 3), np.uint8)
    for _ in range(400):
        x, y, w, h = (int(rng.integers(0, most)) for most in (1024, 512, 120, 90))
        pixels[y : y + h, x : x + w] = rng.integers(0, 255, 3)
    return Panorama.from_array(pixels)


def views(camera: Camera, start: tuple[float, float], turn: tuple[float, float]) -> tuple[Picture, Picture]:
    sampler = ViewSampler(room(), camera)
    return sampler.render(*start), sampler.render(start[0] + turn[0], start[1] + turn[1])


@pytest.mark.parametrize("camera", [Camera(640, 360, 100.0), Camera(320, 240, 55.0)])
@pytest.mark.parametrize("turn", [(10.0, 0.0), (-10.0, 0.0), (0.0, 10.0), (0.0, -6.0), (0.0, 0.0)])
@pytest.mark.parametrize("start", [(0.0, 0.0), (120.0, 25.0)])
def test_a_turn_is_seen(camera: Camera, turn: tuple[float, float], start: tuple[float, float]) -> None:
    seen = seen_turn(*views(camera, start, turn), camera.hfov_deg, math.radians(-start[1]))
    assert seen.clear
    assert (-math.degrees(seen.yaw), -math.degrees(seen.pitch)) == pytest.approx(turn, abs=0.7)


def test_what_a_real_camera_does_not_cover_is_left_out() -> None:
    before, after = views(Camera(640, 360, 100.0), (0.0, 0.0), (0.0, 10.0))
    for picture in (before, after):
        picture[:, :160] = picture[:, -160:] = GREY
        picture[:60] = picture[-60:] = GREY
    seen = seen_turn(before, after, 100.0)
    assert seen.clear and math.degrees(seen.pitch) == pytest.approx(-10.0, abs=0.7)


def test_a_white_wall_tells_nothing() -> None:
    rng = np.random.default_rng(0)
    wall = [np.asarray(rng.normal(200, 2, (240, 320, 3)), np.uint8) for _ in range(2)]
    assert not seen_turn(wall[0], wall[1], 60.0).clear
    assert not seen_turn(np.full_like(wall[0], GREY), np.full_like(wall[0], GREY), 60.0).clear


def watched(move: object, yaw: float = 0.0, pitch: float = 0.0, *, clear: bool = True) -> WatchedMove:
    """A move of 10 degrees as its name says, of which the camera saw this [degrees, REP-103]."""
    for known in SIGN_MOVES:
        if known is move:
            told = (known.yaw * MOVE_ANGLE, known.pitch * MOVE_ANGLE)
            joint = "pan" if known.yaw else "tilt"
            seen = SeenTurn(math.radians(yaw), math.radians(pitch), 0.9, clear)
            return WatchedMove(known, told, seen, (joint,))
    raise AssertionError(move)


RIGHT_SIGNS = [watched(LEFT, 9, 1), watched(RIGHT, -10), watched(UP, 0, -11), watched(DOWN, 1, 10)]


def test_right_signs_need_no_advice() -> None:
    assert {move.sight for move in RIGHT_SIGNS} == {Sight.AGREES}
    assert advice(RIGHT_SIGNS) == []


@pytest.mark.parametrize(
    ("moves", "says", "never"),
    [
        ([watched(LEFT, -10), watched(RIGHT, 10), *RIGHT_SIGNS[2:]], "left and right: look at `sign:` of pan", "tilt"),
        ([*RIGHT_SIGNS[:2], watched(UP, 0, 10), watched(DOWN, 0, -10)], "`sign:` of tilt", "pan"),
        ([watched(LEFT, -9), watched(RIGHT, 9), watched(UP, 0, 9), watched(DOWN, 0, -9)], "upside down", "sign:"),
        ([watched(LEFT, 0, 9), watched(RIGHT, 0, -9), watched(UP, 9), watched(DOWN, -9)], "pi/2", "sign:"),
        ([watched(LEFT), *RIGHT_SIGNS[1:]], "another camera", "sign:"),
        ([watched(LEFT, 18), *RIGHT_SIGNS[1:]], "calibrated", "sign:"),
        ([watched(LEFT, -10, clear=False), *RIGHT_SIGNS[1:]], "", "sign:"),
    ],
    ids=["pan", "tilt", "upside down", "on its side", "another camera", "wrong size", "nothing to see"],
)
def test_a_contradiction_points_at_a_value(moves: list[WatchedMove], says: str, never: str) -> None:
    told = advice(moves)
    assert (says in " ".join(told)) if says else not told
    assert never not in " ".join(told)


def test_a_head_that_did_not_turn_is_not_checked() -> None:
    still = WatchedMove(LEFT, (0.001, 0.0), SeenTurn(0.0, 0.0, 1.0, True))
    assert still.sight.wrong and "limits" in " ".join(advice([still]))


def test_what_the_operator_denies_points_at_a_joint() -> None:
    (line,) = advice(RIGHT_SIGNS, denied=["up"])
    assert line.startswith("up: ") and "tilt" in line
