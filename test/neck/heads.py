"""Heads for tests: URDFs made up for them, and those of real robots where their packages are installed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import pytest

from hvs_ros.neck.kinematics import GazeKinematics
from hvs_ros.neck.robot import BaseFrame, HeadCameraMount, NeckJoint, Robot, RobotError
from hvs_ros.neck.robot_description import read_urdf
from hvs_ros.neck.robot_file import load_robot

OPTICAL = "-1.5707963267948966 0 -1.5707963267948966"


@dataclass(frozen=True)
class Joint:
    """A joint of a made-up head, one on top of the other."""

    name: str
    axis: str
    kind: str = "revolute"
    lower: float | str = -1.0
    upper: float = 1.0
    rpy: str = "0 0 0"
    more: str = ""


def urdf(joints: Sequence[Joint], optical: str = OPTICAL, more: str = "") -> str:
    """Return a head whose links are base, link_0, link_1 ... and optical."""
    names = ["base", *(f"link_{index}" for index in range(len(joints)))]
    links = "".join(f'<link name="{name}"/>' for name in [*names, "optical"])
    chain = "".join(
        f'<joint name="{joint.name}" type="{joint.kind}"><parent link="{below}"/><child link="{above}"/>'
        f'<origin xyz="0.01 0.02 0.1" rpy="{joint.rpy}"/><axis xyz="{joint.axis}"/>'
        f'<limit lower="{joint.lower}" upper="{joint.upper}" effort="1" velocity="3"/>{joint.more}</joint>'
        for joint, below, above in zip(joints, names, names[1:], strict=False)
    )
    camera = (
        f'<joint name="camera" type="fixed"><parent link="{names[-1]}"/><child link="optical"/>'
        f'<origin xyz="0.05 0 0.02" rpy="{optical}"/></joint>'
    )
    return f'<robot name="made_up">{links}{chain}{camera}{more}</robot>'


def robot(neck: Sequence[str], torso: Sequence[str] = (), turned: float = 0.0) -> Robot:
    return Robot(
        "made_up",
        BaseFrame("base"),
        HeadCameraMount("optical", turned=turned),
        tuple(NeckJoint(name) for name in neck),
        tuple(NeckJoint(name) for name in torso),
    )


def head(joints: Sequence[Joint]) -> GazeKinematics:
    return GazeKinematics(urdf(joints), robot([joint.name for joint in joints if joint.kind != "fixed"]))


@cache
def real(name: str) -> GazeKinematics:
    """Return the kinematics of a robot that ships; the test is skipped where its URDF is not installed."""
    known = load_robot(name)
    try:
        return GazeKinematics(read_urdf(known.description), known)
    except RobotError as error:
        pytest.skip(str(error))


PAN_TILT = (Joint("pan", "0 0 1", lower=-2.0, upper=2.5), Joint("tilt", "0 1 0", lower=-1.0, upper=1.2))
ROUND = (Joint("pan", "0 0 1", kind="continuous"), Joint("tilt", "0 1 0", lower=-1.2, upper=1.2))
WIDE = (Joint("pan", "0 0 1", lower=-4.0, upper=4.0), Joint("tilt", "0 1 0", lower=-1.2, upper=1.2))
TILT_FIRST = (Joint("tilt", "0 1 0", lower=-0.9, upper=0.9), Joint("pan", "0 0 1", lower=-1.2, upper=1.2))
THREE = (
    Joint("pitch", "0 1 0", lower=-0.7, upper=0.5),
    Joint("roll", "1 0 0", lower=-0.4, upper=0.4),
    Joint("yaw", "0 0 1", lower=-1.0, upper=1.0),
)
ARM = (
    '<link name="arm"/><joint name="elbow" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>'
    '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
)
"""Beside a head, on its base."""
MADE_UP = {"pan_tilt": PAN_TILT, "round": ROUND, "wide": WIDE, "tilt_first": TILT_FIRST, "three": THREE}
REAL = ("icub", "stretch", "vega", "pan_tilt")
