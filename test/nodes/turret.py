"""A robot for tests: a head that turns all round and from straight up to straight down, its camera in its centre."""

from __future__ import annotations

import math
from pathlib import Path

from hvs_ros.neck.description import two_axis_urdf
from hvs_ros.neck.limits import GazeLimits

ROBOT = """\
base: {link: base_link}
camera: {frame: camera_optical_frame, image: /camera/image_raw, info: /camera/camera_info}
neck:
  - {name: head_yaw, max_velocity: 3.0, max_acceleration: 12.0}
  - {name: head_pitch, max_velocity: 3.0, max_acceleration: 12.0}
description: {file: turret.urdf}
commands: {backend: joint_trajectory, topic: /neck_controller/joint_trajectory}
"""


def write_turret(folder: Path, robot: str = ROBOT) -> Path:
    """Write the robot's YAML and URDF into a folder and return the former."""
    frames = {"base_frame": "base_link", "gaze_frame": "gaze", "optical_frame": "camera_optical_frame"}
    (folder / "turret.urdf").write_text(two_axis_urdf(GazeLimits(), math.inf, **frames))
    path = folder / "turret.yaml"
    path.write_text(robot)
    return path
