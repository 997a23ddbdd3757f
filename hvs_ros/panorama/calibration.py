"""Reads a camera's calibration file, so that a panorama head can see with a real camera's lens.

The format is the one that ROS's camera_calibration writes and camera_info_manager reads (``ost.yaml``)::

    image_width: 640
    image_height: 480
    camera_matrix: {rows: 3, cols: 3, data: [...]}
    distortion_model: plumb_bob
    distortion_coefficients: {rows: 1, cols: 5, data: [...]}
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from hvs_ros.panorama import Camera, CameraError


class CalibrationError(ValueError):
    """A file that holds no calibration; the message names it and what is wrong with it."""


def read_calibration(path: Path) -> Camera:
    """Return the camera that a calibration file describes.

    Raises:
        CalibrationError: it cannot be read, an entry is missing or malformed, or there can be no such camera.
    """
    try:
        content: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CalibrationError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise CalibrationError(f"{path}: not YAML: {error}") from error
    if not isinstance(content, dict):
        raise CalibrationError(f"{path}: no calibration; image_width, image_height, camera_matrix ... are expected")
    try:
        width, height = (_whole(content, name) for name in ("image_width", "image_height"))
        model = content.get("distortion_model", "plumb_bob")
        return Camera.from_camera_info(
            width, height, _data(content, "camera_matrix"), _data(content, "distortion_coefficients"), str(model)
        )
    except (CalibrationError, CameraError) as error:
        raise CalibrationError(f"{path}: {error}") from error


def _whole(content: dict[str, Any], name: str) -> int:
    value = content.get(name)
    if type(value) is not int:
        raise CalibrationError(f"'{name}' is {value!r}; a number of pixels is expected")
    return value


def _data(content: dict[str, Any], name: str) -> list[float]:
    entry = content.get(name)
    data = entry.get("data") if isinstance(entry, dict) else None
    if not isinstance(data, list) or not all(type(value) in (int, float) for value in data):
        raise CalibrationError(f"'{name}' has no list of numbers under 'data'")
    return [float(value) for value in data]
