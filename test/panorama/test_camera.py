from __future__ import annotations

import math

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvs_ros.panorama import EVALUATION, TRAINING, Camera, CameraError

KINECT = (0.46, -2.71, 5e-4, -3e-4, 1.62, 0.34, -2.53, 1.54)
"""What rational_polynomial cameras have: large coefficients that nearly cancel."""

K = (450.0, 0.0, 322.0, 0.0, 455.0, 236.0, 0.0, 0.0, 1.0)


def test_the_benchmark_cameras() -> None:
    assert EVALUATION.fx == pytest.approx(805.536, abs=1e-3) and EVALUATION.fy == EVALUATION.fx
    assert TRAINING.fx == pytest.approx(537.024, abs=1e-3)
    assert (EVALUATION.cx, EVALUATION.cy) == (960, 540)


def test_camera_info_counts_from_pixel_centres() -> None:
    assert EVALUATION.k[2] == 959.5 and EVALUATION.k[5] == 539.5
    again = Camera.from_camera_info(1920, 1080, EVALUATION.k, EVALUATION.d, EVALUATION.distortion_model)
    assert again.cx == EVALUATION.cx and again.hfov_deg == pytest.approx(100)
    assert EVALUATION.p == (*EVALUATION.k[:3], 0, *EVALUATION.k[3:6], 0, 0, 0, 1, 0)


@given(st.floats(-0.35, 0.2), st.floats(-0.05, 0.1), st.floats(-0.01, 0.01), st.floats(-0.01, 0.01))
def test_plumb_bob_is_opencvs(k1: float, k2: float, p1: float, p2: float) -> None:
    d = (k1, k2, p1, p2, 0.0)
    camera = Camera.from_camera_info(640, 480, K, d)
    rays = np.random.default_rng(0).uniform((-0.5, -0.4, 1), (0.5, 0.4, 1), (50, 3))
    u, v = camera.project(rays)
    theirs = cv2.projectPoints(rays, np.zeros(3), np.zeros(3), np.reshape(K, (3, 3)), np.array(d))[0][:, 0]
    seen = np.isfinite(u)
    assert np.allclose(np.stack([u, v], -1)[seen], theirs[seen] + 0.5, atol=1e-6)


@given(st.floats(-0.1, 0.1), st.floats(-0.02, 0.02))
def test_equidistant_is_opencvs(k1: float, k2: float) -> None:
    d = (k1, k2, 0.0, 0.0)
    camera = Camera.from_camera_info(640, 480, K, d, "equidistant")
    rays = np.random.default_rng(0).uniform((-0.9, -0.7, 1), (0.9, 0.7, 1), (50, 3))
    u, v = camera.project(rays)
    theirs = cv2.fisheye.projectPoints(rays[:, None], np.zeros(3), np.zeros(3), np.reshape(K, (3, 3)), np.array(d))[0]
    seen = np.isfinite(u)
    assert seen.any()
    assert np.allclose(np.stack([u, v], -1)[seen], theirs[:, 0][seen] + 0.5, atol=1e-6)


@given(st.lists(st.floats(-0.02, 0.02), min_size=8, max_size=8))
def test_rational_polynomial_is_opencvs(off: list[float]) -> None:
    d = [value + other for value, other in zip(KINECT, off, strict=True)]
    camera = Camera.from_camera_info(640, 480, K, d, "rational_polynomial")
    assert camera.d == tuple(d) and camera.distortion_model == "rational_polynomial"
    rays = np.random.default_rng(0).uniform((-0.5, -0.4, 1), (0.5, 0.4, 1), (50, 3))
    u, v = camera.project(rays)
    theirs = cv2.projectPoints(rays, np.zeros(3), np.zeros(3), np.reshape(K, (3, 3)), np.array(d))[0][:, 0]
    seen = np.isfinite(u)
    assert seen.sum() > 25
    assert np.allclose(np.stack([u, v], -1)[seen], theirs[seen] + 0.5, atol=1e-6)


@given(
    st.sampled_from(
        [
            ("plumb_bob", (-0.3, 0.1, 1e-3, 2e-3, -0.01)),
            ("rational_polynomial", KINECT),
            ("equidistant", (-0.05, 0.01, 0.0, 0.0)),
        ]
    ),
    st.floats(0, 640),
    st.floats(0, 480),
)
def test_distortion_is_inverted(lens: tuple[str, tuple[float, ...]], u: float, v: float) -> None:
    camera = Camera.from_camera_info(640, 480, K, lens[1], lens[0])
    ray = camera.rays(u, v)
    assert np.isfinite(ray).all()
    assert np.allclose(camera.project(ray), (u, v), atol=1e-5)


def test_a_folded_polynomial_answers_nan_instead_of_a_mirrored_point() -> None:
    camera = Camera.from_camera_info(640, 480, (300, 0, 319.5, 0, 300, 239.5, 0, 0, 1), (-0.5, 0.0, 0.0, 0.0, 0.0))
    assert np.isnan(camera.rays(0.0, 0.0)).any()
    assert np.isnan(camera.project(np.array([2.0, 0.0, 1.0]))).all()
    assert np.isfinite(camera.rays(320.0, 240.0)).all()


def test_a_rational_polynomial_ends_where_it_turns_back_or_has_a_pole() -> None:
    k = (300.0, 0.0, 319.5, 0.0, 300.0, 239.5, 0.0, 0.0, 1.0)
    same = Camera.from_camera_info(640, 480, k, (-0.5, 0, 0, 0, 0, 0, 0, 0), "rational_polynomial")
    bob = Camera.from_camera_info(640, 480, k, (-0.5, 0, 0, 0, 0))
    pole = Camera.from_camera_info(640, 480, k, (0, 0, 0, 0, 0, -1.0, 0, 0), "rational_polynomial")
    for x in np.linspace(0.0, 3.0, 61):
        ray = np.array([x, 0.0, 1.0])
        np.testing.assert_allclose(same.project(ray), bob.project(ray))
        assert np.isfinite(pole.project(ray)[0]) == (x < 1.0)
    assert np.isfinite(pole.rays(320.0, 240.0)).all()


def test_a_fisheye_sees_behind_itself() -> None:
    camera = Camera.from_camera_info(1000, 1000, (200, 0, 499.5, 0, 200, 499.5, 0, 0, 1), (), "equidistant")
    assert camera.hfov_deg == pytest.approx(math.degrees(500 / 200 * 2))
    assert camera.rays(0.0, 500.0)[2] < 0


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((640, 480, (1,) * 8), "k has 8 values"),
        ((640, 480, (0,) * 9), "not calibrated"),
        ((640, 480, (*K[:8], math.nan)), "NaN"),
        ((640, 480, (450, 3, *K[2:])), "skew"),
        ((640, 480, K, (0.1,)), "plumb_bob has 1"),
        ((640, 480, K, (0.1,), "equidistant"), "equidistant has 1"),
        ((640, 480, K, (0.1,) * 5, "rational_polynomial"), "rational_polynomial has 5"),
        ((640, 480, K, (), "thin_prism"), "'thin_prism' is not known"),
        ((0, 480, K), "width is 0"),
    ],
)
def test_impossible_cameras_are_refused(arguments: tuple[object, ...], reason: str) -> None:
    with pytest.raises(CameraError, match=reason):
        Camera.from_camera_info(*arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("hfov", [0.0, 180.0, -10.0, math.nan])
def test_impossible_fields_of_view_are_refused(hfov: float) -> None:
    with pytest.raises(CameraError, match="hfov"):
        Camera(640, 480, hfov)
