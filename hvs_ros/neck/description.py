"""A URDF for a head that is only two axes: what robot_description carries where there is no robot.

A bag with it replays on its own (rviz shows the head turning), and robot_state_publisher makes tf of joint_states with
it. Both axes and the camera are in one point, since a panorama is seen from one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from xml.etree import ElementTree

from hvs_ros.neck.limits import GazeLimits

YAW_JOINT, PITCH_JOINT = "head_yaw", "head_pitch"

_HEAD_RADIUS_M = 0.1
_LENS_M = 0.05
_NO_LIMIT = 1000.0


def two_axis_urdf(
    limits: GazeLimits, max_velocity: float, *, base_frame: str, gaze_frame: str, optical_frame: str
) -> str:
    """Return the URDF of a head that turns about z (yaw), then about y (pitch) (REP-103).

    Args:
        limits: reachable directions, rad; a yaw without a stop makes a continuous joint.
        max_velocity: of each axis, rad/s; ``math.inf``: not limited (a URDF wants a number: a thousand).
        base_frame: the root link.
        gaze_frame: the link that turns with both axes, x along the line of sight.
        optical_frame: the camera's: z forward, x right, y down.
    """
    robot = ElementTree.Element("robot", name="panorama_head")
    _link(robot, base_frame)
    _link(robot, "head_yaw_link")
    gaze = _link(robot, gaze_frame)
    _shape(gaze, "sphere", (0.0, 0.0, 0.0), radius=f"{_HEAD_RADIUS_M:g}")
    _shape(gaze, "box", (_HEAD_RADIUS_M, 0.0, 0.0), size=f"{_LENS_M:g} {_LENS_M:g} {_LENS_M:g}")
    _link(robot, optical_frame)

    speed = min(max_velocity, _NO_LIMIT)
    kind = "continuous" if limits.yaw_continuous else "revolute"
    yaw = _joint(robot, YAW_JOINT, kind, base_frame, "head_yaw_link")
    ElementTree.SubElement(yaw, "axis", xyz="0 0 1")
    bounds = {} if limits.yaw_continuous else {"lower": f"{limits.yaw_min:.6f}", "upper": f"{limits.yaw_max:.6f}"}
    ElementTree.SubElement(yaw, "limit", {"effort": "0", "velocity": f"{speed:g}", **bounds})
    pitch = _joint(robot, PITCH_JOINT, "revolute", "head_yaw_link", gaze_frame)
    ElementTree.SubElement(pitch, "axis", xyz="0 1 0")
    ElementTree.SubElement(
        pitch,
        "limit",
        effort="0",
        velocity=f"{speed:g}",
        lower=f"{limits.pitch_min:.6f}",
        upper=f"{limits.pitch_max:.6f}",
    )
    optical = _joint(robot, "camera_optical_joint", "fixed", gaze_frame, optical_frame)
    ElementTree.SubElement(optical, "origin", xyz="0 0 0", rpy=f"{-math.pi / 2:.9f} 0 {-math.pi / 2:.9f}")
    ElementTree.indent(robot)
    return ElementTree.tostring(robot, encoding="unicode", xml_declaration=True)


def _link(robot: ElementTree.Element, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(robot, "link", name=name)


def _joint(robot: ElementTree.Element, name: str, kind: str, parent: str, child: str) -> ElementTree.Element:
    joint = ElementTree.SubElement(robot, "joint", name=name, type=kind)
    ElementTree.SubElement(joint, "parent", link=parent)
    ElementTree.SubElement(joint, "child", link=child)
    return joint


def _shape(link: ElementTree.Element, kind: str, at: Sequence[float], **size: str) -> None:
    visual = ElementTree.SubElement(link, "visual")
    ElementTree.SubElement(visual, "origin", xyz=" ".join(f"{value:g}" for value in at), rpy="0 0 0")
    ElementTree.SubElement(ElementTree.SubElement(visual, "geometry"), kind, size)
