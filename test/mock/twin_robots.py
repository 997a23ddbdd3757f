"""A robot of the tests' own, and those whose URDFs are on PyPI, for the twin."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from hvs_ros.mock.twin.twin import Twin
from hvs_ros.mock.twin.urdf_chain import Chain, cut_chain
from hvs_ros.neck.robot import BaseFrame, HeadCameraMount, NeckJoint, Robot, RobotError
from hvs_ros.neck.robot_description import read_urdf
from hvs_ros.neck.robot_file import load_robot

NS = 1_000_000_000


def shipped(name: str) -> tuple[Robot, str]:
    """Return a robot that ships and its URDF; the test is skipped where the URDF's package is not installed."""
    robot = load_robot(name)
    try:
        return robot, read_urdf(robot.description)
    except RobotError as error:
        pytest.skip(str(error))


def pan_tilt_urdf(mass: float = 0.5, reach: float = 0.1) -> str:
    """Return a pan-tilt unit on a column: ``pan`` without stops, ``tilt`` from -1 to 1 rad, the camera ahead of it.

    Args:
        mass: kg of each link; 0: no inertia is given at all.
        reach: m, how far the camera is in front of the tilt axis.
    """
    inertial = (
        f"<inertial><origin xyz='0.03 0 0'/><mass value='{mass}'/>"
        "<inertia ixx='1e-3' iyy='1e-3' izz='1e-3' ixy='0' ixz='0' iyz='0'/></inertial>"
    )
    links = "".join(
        f"<link name='{name}'>{inertial if mass and name in ('panned', 'tilted', 'ballast') else ''}</link>"
        for name in ("base_link", "column", "panned", "tilted", "camera_optical_frame", "ballast", "empty")
    )
    return f"""<robot name='pan_tilt'>{links}
    <joint name='foot' type='fixed'><origin xyz='0 0 0.5'/><parent link='base_link'/><child link='column'/></joint>
    <joint name='pan' type='continuous'><origin xyz='0.1 0 0.5'/><parent link='column'/><child link='panned'/>
      <axis xyz='0 0 1'/><limit effort='9' velocity='5'/></joint>
    <joint name='tilt' type='revolute'><parent link='panned'/><child link='tilted'/>
      <axis xyz='0 1 0'/><limit lower='-1' upper='1' effort='9' velocity='5'/></joint>
    <joint name='lens' type='fixed'><origin xyz='{reach} 0 0' rpy='{-math.pi / 2} 0 {-math.pi / 2}'/>
      <parent link='tilted'/><child link='camera_optical_frame'/></joint>
    <joint name='swing' type='revolute'><origin xyz='0 0.2 0'/><parent link='tilted'/><child link='ballast'/>
      <axis xyz='1 0 0'/><limit lower='-1' upper='1' effort='9' velocity='5'/></joint>
    <joint name='spare' type='prismatic'><parent link='column'/><child link='empty'/>
      <axis xyz='1 0 0'/><limit lower='0' upper='1' effort='9' velocity='5'/></joint></robot>"""


PAN_TILT = Robot(
    "pan_tilt",
    BaseFrame("base_link"),
    HeadCameraMount("camera_optical_frame"),
    (NeckJoint("pan"), NeckJoint("tilt")),
)


def pan_tilt(mass: float = 0.5, reach: float = 0.1) -> Chain:
    return cut_chain(pan_tilt_urdf(mass, reach), PAN_TILT)


def twin_at(chain: Chain, position: Sequence[float]) -> Twin:
    """Return a twin that rests at these joint angles [rad]."""
    return Twin(chain, PAN_TILT.turn, 0, start=tuple(position))
