from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from panorama_reference import SHARED, angle_deg

from hvs_ros.angles import Direction
from hvs_ros.panorama import (
    EVALUATION,
    Camera,
    direction_to_pixel,
    pixel_to_direction,
    view_box_to_panorama,
    visible_fraction,
)

yaws = st.floats(-400, 800)
pitches = st.floats(-90, 90)
rolls = st.floats(-180, 180)
cameras = st.sampled_from(
    [
        EVALUATION,
        Camera(640, 480, 60.0),
        Camera.from_camera_info(640, 480, (450, 0, 322, 0, 455, 236, 0, 0, 1), (-0.28, 0.07, 1e-3, -2e-3, 0)),
        Camera.from_camera_info(800, 600, (300, 0, 401, 0, 300, 299, 0, 0, 1), (-0.02, 3e-3, 0, 0), "equidistant"),
    ]
)


@pytest.mark.skipif(not SHARED.is_dir(), reason="../shared not there")
def test_agrees_with_the_reference_directions() -> None:
    rows = json.loads((SHARED / "reference" / "pinhole_directions.json").read_text())["rows"]
    for row in rows:
        camera = Camera(row["width"], row["height"], row["hfov_deg"])
        gaze = Direction(row["yaw_deg"], row["pitch_deg"])
        yaw, pitch = pixel_to_direction(camera, gaze, row["u"], row["v"])
        assert angle_deg(yaw, pitch, row["lon_deg"], row["lat_deg"]) < 1e-4
        u, v = direction_to_pixel(camera, gaze, row["lon_deg"], row["lat_deg"])
        assert np.hypot(u - row["u"], v - row["v"]) < 0.01


@given(cameras, yaws, pitches, rolls, st.floats(0, 1), st.floats(0, 1))
def test_pixel_to_direction_and_back(
    camera: Camera, yaw: float, pitch: float, roll: float, across: float, down: float
) -> None:
    gaze, u, v = Direction(yaw, pitch), across * camera.width, down * camera.height
    there = pixel_to_direction(camera, gaze, u, v, roll)
    back = direction_to_pixel(camera, gaze, *there, roll)
    assert 0 <= there[0] < 360
    assert np.hypot(back[0] - u, back[1] - v) < 1e-4


def test_signs() -> None:
    centre = EVALUATION.width / 2, EVALUATION.height / 2
    yaw, pitch = pixel_to_direction(EVALUATION, Direction(10, 0), centre[0] + 100, centre[1])
    assert yaw > 10
    yaw, pitch = pixel_to_direction(EVALUATION, Direction(10, 0), centre[0], centre[1] - 100)
    assert pitch > 0
    # A camera whose right side is down shows at its right what lies below.
    yaw, pitch = pixel_to_direction(EVALUATION, Direction(10, 0), centre[0] + 100, centre[1], roll_deg=20)
    assert pitch < 0


def test_what_is_behind_has_no_pixel() -> None:
    u, v = direction_to_pixel(EVALUATION, Direction(0, 0), [0.0, 180.0, 60.0], [0.0, 0.0, 0.0])
    assert np.isnan(u[1]) and np.isnan(v[1])
    assert list(EVALUATION.contains(u, v)) == [True, False, False]


@given(st.floats(0, 360), st.floats(-90, 90), st.floats(0, 0.9), st.floats(0, 0.9), st.floats(0.02, 0.5))
def test_a_view_box_encloses_its_pixels_tightly(yaw: float, pitch: float, left: float, top: float, size: float) -> None:
    camera, gaze = EVALUATION, Direction(yaw, pitch)
    box = np.array([left, top, min(1, left + size), min(1, top + size)]) * np.tile([camera.width, camera.height], 2)
    found = view_box_to_panorama(camera, gaze, box)
    t = np.linspace(0, 1, 41)
    u, v = np.meshgrid(box[0] + (box[2] - box[0]) * t, box[1] + (box[3] - box[1]) * t)
    yaws_in, pitches_in = pixel_to_direction(camera, gaze, u, v)
    low, high = found.pitch_deg
    assert pitches_in.min() >= low - 1e-3 and pitches_in.max() <= high + 1e-3
    start, end = found.yaw_deg
    if (start, end) == (0.0, 360.0):
        assert high == 90.0 or low == -90.0
        return
    width = (end - start) % 360
    # Seen from the interval's middle no pixel is further away than half its width, and one is that far.
    away = np.abs((yaws_in - (start + width / 2) + 180) % 360 - 180)
    assert away.max() <= width / 2 + 1e-3
    border = np.concatenate([away[0], away[-1], away[:, 0], away[:, -1]])
    assert border.max() > width / 2 * 0.95


def test_view_boxes_are_vectorised_and_cross_the_seam() -> None:
    boxes = [[900, 500, 1000, 600], [0, 0, 1920, 1080]]
    found = view_box_to_panorama(EVALUATION, Direction(180, 0), boxes)
    assert found.yaw_deg.shape == (2, 2)
    assert found.yaw_deg[1] == pytest.approx([130, 230])
    assert view_box_to_panorama(EVALUATION, Direction(0, 0), boxes[1]).yaw_deg == pytest.approx([310, 50])


def test_a_view_box_around_a_pole_spans_the_circle() -> None:
    up = view_box_to_panorama(EVALUATION, Direction(30, 80), [0, 0, 1920, 1080])
    assert tuple(up.yaw_deg) == (0, 360) and up.pitch_deg[1] == 90
    down = view_box_to_panorama(EVALUATION, Direction(30, -90), [900, 500, 1000, 600])
    assert tuple(down.yaw_deg) == (0, 360) and down.pitch_deg[0] == -90


def test_an_inverted_view_box_is_refused() -> None:
    with pytest.raises(ValueError, match="right edge left"):
        view_box_to_panorama(EVALUATION, Direction(0, 0), [10, 0, 5, 5])


def test_visible_fraction() -> None:
    ahead = Direction(0, 0)
    assert visible_fraction(EVALUATION, ahead, (350, 10), (-5, 5)) == 1
    assert visible_fraction(EVALUATION, ahead, (170, 190), (-5, 5)) == 0
    assert visible_fraction(EVALUATION, ahead, (40, 60), (-5, 5)) == pytest.approx(0.5, abs=0.02)
    assert visible_fraction(EVALUATION, ahead, (45, 65)) == pytest.approx(0.25, abs=0.02)


@pytest.mark.skipif(not SHARED.is_dir(), reason="../shared not there")
def test_visible_fraction_explains_every_annotated_level() -> None:
    checked = 0
    for path in sorted((SHARED / "panoramas").glob("*/annotation.json")):
        for item in json.loads(path.read_text()):
            for start, level in zip(item["initial yaw"], item["level"], strict=True):
                if "pitch" in item:
                    seen = visible_fraction(EVALUATION, Direction(start, 0), item["yaw"], item["pitch"])
                    expected = 0 if seen >= 0.5 else 1 if seen > 0 else 2
                else:
                    middle = item["yaw"][0] + (item["yaw"][1] - item["yaw"][0]) % 360 / 2
                    expected = 0 if visible_fraction(EVALUATION, Direction(start, 0), (middle, middle)) else 1
                assert level == expected, (path, item["task"], start)
                checked += 1
    assert checked > 100
