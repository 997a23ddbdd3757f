"""Cameras cross to CameraInfo and back."""

from __future__ import annotations

import pytest
from sensor_msgs.msg import CameraInfo
from std_msgs.msg import Header

from hvs_ros.nodes.camera_info import camera_info, info_camera
from hvs_ros.panorama import EVALUATION, CameraError


def test_the_benchmarks_camera() -> None:
    info = camera_info(EVALUATION, Header(frame_id="camera"))
    assert (info.width, info.height, info.header.frame_id) == (1920, 1080, "camera")
    assert info.k[0] == info.k[4] == pytest.approx(805.536, abs=1e-3)
    # CameraInfo counts from the centre of the first pixel.
    assert (info.k[2], info.k[5]) == (959.5, 539.5)
    assert info.distortion_model == "plumb_bob"
    assert not any(info.d)
    assert list(info.p[:3]) == list(info.k[:3])


def test_there_and_back() -> None:
    camera = info_camera(camera_info(EVALUATION, Header()))
    assert (camera.width, camera.height) == (1920, 1080)
    assert camera.hfov_deg == pytest.approx(100.0)
    assert camera.fx == pytest.approx(EVALUATION.fx)
    assert camera.cx == pytest.approx(EVALUATION.cx)


def test_an_uncalibrated_camera_is_refused() -> None:
    with pytest.raises(CameraError, match="not calibrated"):
        info_camera(CameraInfo(width=640, height=480))
