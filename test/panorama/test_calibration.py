"""A real camera's calibration file becomes a camera, or is refused with the reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from hvs_ros.panorama.calibration import CalibrationError, read_calibration

GOOD: dict[str, Any] = {
    "image_width": 640,
    "image_height": 480,
    "camera_name": "head",
    "camera_matrix": {"rows": 3, "cols": 3, "data": [500, 0, 320.5, 0, 501.0, 239.5, 0, 0, 1]},
    "distortion_model": "plumb_bob",
    "distortion_coefficients": {"rows": 1, "cols": 5, "data": [-0.2, 0.05, 0.001, 0.0, 0.0]},
}


def written(path: Path, **changes: Any) -> Path:
    path.write_text(yaml.safe_dump(GOOD | changes))
    return path


def test_a_calibration(tmp_path: Path) -> None:
    camera = read_calibration(written(tmp_path / "ost.yaml"))
    assert (camera.width, camera.height) == (640, 480)
    assert (camera.fx, camera.fy) == (500.0, 501.0)
    assert camera.k[2] == 320.5
    assert camera.d == pytest.approx((-0.2, 0.05, 0.001, 0.0, 0.0))
    assert 60.0 < camera.hfov_deg < 75.0


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"image_width": "wide"}, "image_width"),
        ({"image_height": None}, "image_height"),
        ({"camera_matrix": [1, 2]}, "camera_matrix"),
        ({"camera_matrix": {"data": [1.0, 2.0]}}, "9"),
        ({"camera_matrix": {"data": [0.0] * 9}}, "not calibrated"),
        ({"distortion_model": "rational_polynomial"}, "rational_polynomial"),
        ({"distortion_coefficients": {"data": ["a"]}}, "distortion_coefficients"),
    ],
)
def test_a_bad_calibration_is_refused(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    path = written(tmp_path / "ost.yaml", **changes)
    with pytest.raises(CalibrationError, match=reason) as caught:
        read_calibration(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("text", ["[1, 2", "just words", ""])
def test_what_is_no_calibration_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "ost.yaml"
    path.write_text(text)
    with pytest.raises(CalibrationError, match=r"ost\.yaml"):
        read_calibration(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CalibrationError, match=r"none\.yaml.*No such file"):
        read_calibration(tmp_path / "none.yaml")
