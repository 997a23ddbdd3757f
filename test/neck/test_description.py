"""The URDF of a two-axis head says what the head does."""

from __future__ import annotations

import math
from xml.etree import ElementTree

import pytest

from hvs_ros.neck.description import two_axis_urdf
from hvs_ros.neck.limits import GazeLimits


def joints(limits: GazeLimits, velocity: float = math.inf) -> dict[str, ElementTree.Element]:
    urdf = two_axis_urdf(limits, velocity, base_frame="torso", gaze_frame="gaze", optical_frame="optical")
    robot = ElementTree.fromstring(urdf)
    links = {link.get("name") for link in robot.iter("link")}
    chain = [(joint.find("parent"), joint.find("child")) for joint in robot.iter("joint")]
    names = [
        (parent.get("link"), child.get("link")) for parent, child in chain if parent is not None and child is not None
    ]
    assert names == [("torso", "head_yaw_link"), ("head_yaw_link", "gaze"), ("gaze", "optical")]
    assert links == {name for pair in names for name in pair}
    return {str(joint.get("name")): joint for joint in robot.iter("joint")}


def attributes(joint: ElementTree.Element, tag: str) -> dict[str, str]:
    element = joint.find(tag)
    assert element is not None
    return dict(element.attrib)


def test_a_head_without_a_stop_turns_on() -> None:
    yaw = joints(GazeLimits())["head_yaw"]
    assert yaw.get("type") == "continuous"
    assert attributes(yaw, "axis") == {"xyz": "0 0 1"}, "left is positive"
    assert "lower" not in attributes(yaw, "limit")


def test_a_neck_has_its_stops_and_its_speed() -> None:
    found = joints(GazeLimits(-1.0, 0.5, -0.4, 0.3), 2.0)
    yaw, pitch = attributes(found["head_yaw"], "limit"), attributes(found["head_pitch"], "limit")
    assert found["head_yaw"].get("type") == found["head_pitch"].get("type") == "revolute"
    assert (float(yaw["lower"]), float(yaw["upper"])) == (-1.0, 0.5)
    assert (float(pitch["lower"]), float(pitch["upper"])) == (-0.4, 0.3)
    assert float(yaw["velocity"]) == float(pitch["velocity"]) == 2.0
    assert attributes(found["head_pitch"], "axis") == {"xyz": "0 1 0"}, "nose-down is positive"


def test_the_optical_frame_looks_ahead() -> None:
    origin = attributes(joints(GazeLimits())["camera_optical_joint"], "origin")
    roll, pitch, yaw = (float(angle) for angle in origin["rpy"].split())
    assert pitch == 0.0 and roll == yaw == pytest.approx(-math.pi / 2)
    # Fixed-axis roll, then yaw: the camera's z becomes the gaze frame's x.
    y, z = -math.sin(roll), math.cos(roll)
    x, y = -math.sin(yaw) * y, math.cos(yaw) * y
    assert (x, y, z) == pytest.approx((1.0, 0.0, 0.0), abs=1e-9)
