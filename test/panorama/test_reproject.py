"""A real camera's picture, brought to the policy's camera, shows everything where that camera would have seen it."""

from __future__ import annotations

import math
import threading

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from panorama_reference import smooth_picture

from hvs_ros.angles import Direction
from hvs_ros.panorama import Camera, Panorama, ViewSampler, direction_to_pixel, pixel_to_direction
from hvs_ros.panorama.reproject import GREY, KEPT_ROLLS, ROLL_STEP_DEG, Reprojector

TARGET = Camera(320, 180, 100.0)
PLAIN = Camera(640, 480, 62.0)
WEBCAM = Camera.from_camera_info(640, 480, (450, 0, 322, 0, 455, 236, 0, 0, 1), (-0.28, 0.07, 1e-3, -2e-3, 0))
WIDE_WEBCAM = Camera.from_camera_info(640, 480, (300, 0, 310, 0, 302, 247, 0, 0, 1), (-0.25, 0.05, 0, 0, 0))
FISHEYE = Camera.from_camera_info(800, 600, (300, 0, 401, 0, 300, 299, 0, 0, 1), (-0.02, 3e-3, 0, 0), "equidistant")
KINECT_D = (0.46, -2.71, 5e-4, -3e-4, 1.62, 0.34, -2.53, 1.54)
KINECT = Camera.from_camera_info(640, 480, (305, 0, 318, 0, 305, 241, 0, 0, 1), KINECT_D, "rational_polynomial")
CAMERAS = {"pinhole": PLAIN, "webcam": WEBCAM, "wide webcam": WIDE_WEBCAM, "fisheye": FISHEYE, "kinect": KINECT}
PANORAMA = Panorama.from_array(smooth_picture(2048, 1024, blur=6.0))
AHEAD = Direction(0.0, 0.0)

cameras = st.sampled_from(list(CAMERAS.values()))
rolls = st.integers(-9000, 9000).map(lambda step: math.radians(step * ROLL_STEP_DEG))


def picture_of(camera: Camera, seed: int = 0) -> NDArray[np.uint8]:
    """Return a picture in which no colour is the grey of what was not seen."""
    noise = np.random.default_rng(seed).integers(0, 100, (camera.height, camera.width, 3), np.uint8)
    return noise


@pytest.mark.parametrize("camera", CAMERAS.values(), ids=CAMERAS)
@pytest.mark.parametrize("roll_deg", [0.0, 7.5, -31.0, 90.0, 180.0])
def test_it_shows_what_the_target_would_see(camera: Camera, roll_deg: float) -> None:
    """The source camera, rolled, and the target, level, look into the same panorama."""
    taken = ViewSampler(PANORAMA, camera).render(40.0, -20.0, roll_deg)
    reprojector = Reprojector(camera, TARGET)
    got = reprojector.view(taken, math.radians(roll_deg))
    direct = ViewSampler(PANORAMA, TARGET).render(40.0, -20.0)
    real = np.isfinite(reprojector.coordinates(math.radians(roll_deg))[0])
    assert got.image.shape == direct.shape and got.image.dtype == np.uint8
    assert got.covered == pytest.approx(np.mean(real)) and got.covered > 0.15
    difference = np.abs(got.image.astype(int) - direct)[real]
    # Sampled twice, it is a little softer than the direct view; half a pixel of shift would make the mean 1.4.
    assert np.mean(difference) < 0.6
    assert np.all(got.image[~real] == GREY)


@settings(max_examples=40, deadline=None)
@given(cameras, rolls)
def test_every_pixel_is_taken_from_its_own_direction(camera: Camera, roll: float) -> None:
    x, y = Reprojector(camera, TARGET).coordinates(roll)
    u, v = np.meshgrid(np.arange(TARGET.width) + 0.5, np.arange(TARGET.height) + 0.5)
    inner = (x > 0) & (x < camera.width - 1) & (y > 0) & (y < camera.height - 1)
    assert inner.any()
    there = pixel_to_direction(camera, AHEAD, x[inner] + 0.5, y[inner] + 0.5, math.degrees(roll))
    back = direction_to_pixel(TARGET, AHEAD, *there)
    assert np.max(np.hypot(back[0] - u[inner], back[1] - v[inner])) < 0.01


@settings(max_examples=40, deadline=None)
@given(cameras, rolls, st.integers(0, TARGET.width - 1), st.integers(0, TARGET.height - 1))
def test_a_pixel_is_real_if_and_only_if_the_camera_saw_it(camera: Camera, roll: float, i: int, j: int) -> None:
    direction = pixel_to_direction(TARGET, AHEAD, i + 0.5, j + 0.5)
    u, v = direction_to_pixel(camera, AHEAD, *direction, math.degrees(roll))
    at_the_edge = min(abs(u), abs(u - camera.width), abs(v), abs(v - camera.height)) < 1e-3
    got = Reprojector(camera, TARGET).view(picture_of(camera), roll)
    assert at_the_edge or bool(camera.contains(u, v)) == bool(np.all(got.image[j, i] != GREY))


@settings(max_examples=12, deadline=None)
@given(st.floats(-400, 400))
def test_a_dot_comes_out_where_it_is_whatever_the_roll(roll_deg: float) -> None:
    """A dot 12 degrees to the right and 5 up of the line of sight, in the picture of a camera on its side, too."""
    u, v = direction_to_pixel(WEBCAM, AHEAD, 12.0, 5.0, roll_deg)
    picture = np.zeros((WEBCAM.height, WEBCAM.width, 3), np.uint8)
    # OpenCV counts from pixel centres, here in 1/16 pixel.
    middle = round(16 * (float(u) - 0.5)), round(16 * (float(v) - 0.5))
    cv2.circle(picture, middle, 16 * 9, (250,) * 3, -1, cv2.LINE_AA, 4)
    fine = Camera(1280, 720, 100.0)
    image = Reprojector(WEBCAM, fine).view(picture, math.radians(roll_deg)).image[:, :, 0].astype(float)
    image[image == GREY] = 0
    rows, columns = np.indices(image.shape) + 0.5
    found = (image * columns).sum() / image.sum(), (image * rows).sum() / image.sum()
    wanted = direction_to_pixel(fine, AHEAD, 12.0, 5.0)
    assert np.hypot(found[0] - wanted[0], found[1] - wanted[1]) < 0.6


@pytest.mark.parametrize(
    ("roll_deg", "corner"),
    [(0.0, (0, 0)), (90.0, (-1, 0)), (-90.0, (0, -1)), (180.0, (-1, -1))],
    ids=["level", "on its right side", "on its left side", "upside down"],
)
def test_signs_of_the_roll(roll_deg: float, corner: tuple[int, int]) -> None:
    """What is at the top left of the world, seen by a camera whose right side is down, is at its picture's bottom left.

    The right side of its picture is the world's down, so the world's up is at the left, and the world's left below.
    """
    camera = Camera(200, 200, 60.0)
    picture = np.zeros((200, 200, 3), np.uint8)
    rows = slice(0, 60) if corner[0] == 0 else slice(140, 200)
    columns = slice(0, 60) if corner[1] == 0 else slice(140, 200)
    picture[rows, columns] = 250
    image = Reprojector(camera, Camera(200, 200, 60.0)).view(picture, math.radians(roll_deg)).image
    assert image[20, 20].tolist() == [250] * 3
    assert image[-20, 20].tolist() == image[20, -20].tolist() == image[-20, -20].tolist() == [0] * 3


def test_the_border_is_not_blended_with_the_grey() -> None:
    white = np.full((PLAIN.height, PLAIN.width, 3), 255, np.uint8)
    image = Reprojector(PLAIN, TARGET).view(white, math.radians(20)).image
    assert set(np.unique(image)) == {GREY, 255}


def test_nothing_is_taken_from_beyond_the_lens() -> None:
    """This lens folds back at 46 degrees: the bare formula would show the picture's middle again further out."""
    folding = Camera.from_camera_info(640, 480, (300, 0, 320, 0, 300, 240, 0, 0, 1), (-0.31, 0, 0, 0, 0))
    wide = Camera(400, 400, 150.0)
    image = Reprojector(folding, wide).view(picture_of(folding)).image
    assert np.all(image[200, :20] == GREY) and np.all(image[200, -20:] == GREY)
    u = np.arange(400) + 0.5
    yaw, _ = pixel_to_direction(wide, AHEAD, u, 200.5)
    angle = np.abs((np.asarray(yaw) + 180) % 360 - 180)
    real = np.all(image[200] != GREY, axis=1)
    assert angle[real].max() <= math.degrees(math.atan(math.sqrt(1 / (3 * 0.31)))) + 0.01


def test_a_camera_that_sees_more_covers_everything() -> None:
    got = Reprojector(FISHEYE, TARGET).view(picture_of(FISHEYE))
    assert got.covered == 1.0
    assert "grey" not in got.made


def test_what_it_says_for_the_record() -> None:
    reprojector = Reprojector(WEBCAM, TARGET)
    got = reprojector.view(picture_of(WEBCAM), 0.0)
    grey = round(100 * (1 - got.covered))
    assert got.made == (
        f"re-projected from 640x480, {WEBCAM.hfov_deg:.1f}° (plumb_bob); {grey} % of it is grey:"
        " beyond the camera's field of view"
    )
    assert ", turned back by 90.00°;" in reprojector.view(picture_of(WEBCAM), math.pi / 2).made


def test_prefilter_averages_and_says_so() -> None:
    """Stripes that are finer than the target's pixels come out as their mean; bilinear alone makes moire of them."""
    fine = Camera(1920, 1080, 60.0)
    stripes = np.zeros((1080, 1920, 3), np.uint8)
    stripes[:, ::2] = 255
    plain = Reprojector(fine, TARGET).view(stripes)
    smooth = Reprojector(fine, TARGET, prefilter=True).view(stripes)
    real = np.isfinite(Reprojector(fine, TARGET).coordinates()[0])
    assert np.std(plain.image[real]) > 50
    assert np.abs(smooth.image[real].astype(int) - 128).max() <= 16
    assert smooth.covered == pytest.approx(plain.covered, abs=1e-3)
    assert ", prefilter 12;" in smooth.made and "prefilter" not in plain.made


def test_prefilter_leaves_directions_where_they_are() -> None:
    camera = Camera(1283, 721, 60.0)
    taken = ViewSampler(PANORAMA, camera).render(40.0, -20.0, 10.0)
    direct = ViewSampler(PANORAMA, TARGET).render(40.0, -20.0)
    reprojector = Reprojector(camera, TARGET, prefilter=True)
    got = reprojector.view(taken, math.radians(10.0))
    real = np.isfinite(reprojector.coordinates(math.radians(10.0))[0])
    assert np.mean(np.abs(got.image.astype(int) - direct)[real]) < 2.5


def test_wrong_pictures_and_angles_are_refused() -> None:
    reprojector = Reprojector(PLAIN, TARGET)
    with pytest.raises(ValueError, match="640x480"):
        reprojector.view(np.zeros((240, 320, 3), np.uint8))
    with pytest.raises(ValueError, match="finite"):
        reprojector.view(picture_of(PLAIN), math.nan)


def test_maps_are_kept_for_a_few_rolls_and_shared_by_threads() -> None:
    reprojector = Reprojector(PLAIN, TARGET)
    picture = picture_of(PLAIN)
    wanted = {roll: reprojector.view(picture, math.radians(roll)).image for roll in range(2 * KEPT_ROLLS)}
    wrong: list[int] = []

    def check(first: int) -> None:
        for turn in range(4 * KEPT_ROLLS):
            roll = (first + turn) % len(wanted)
            if not np.array_equal(reprojector.view(picture, math.radians(roll + 360 * turn)).image, wanted[roll]):
                wrong.append(roll)

    threads = [threading.Thread(target=check, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not wrong
    assert len(reprojector._maps) <= KEPT_ROLLS
