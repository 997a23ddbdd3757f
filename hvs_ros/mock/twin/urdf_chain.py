"""A URDF cut down to what moves a camera: the links on the way to it, with everything else as dead weight.

What a physics engine does not need (meshes, shapes, transmissions) is dropped, so that it needs none of the robot's
files. Joints that do not lie between the base link and the camera are fixed at zero, and branches without any mass are
left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np

from hvs_ros.neck.chain import camera_chain, joint_limits
from hvs_ros.neck.joints import Joints
from hvs_ros.neck.robot import Robot
from hvs_ros.neck.urdf import UrdfTree
from hvs_ros.panorama.geometry import Floats


@dataclass(frozen=True)
class Place:
    """Where a frame is fixed on a link.

    Attributes:
        link: that carries it: the root link, or the child of a moving joint.
        pose: (4, 4), of the frame in the link.
    """

    link: str
    pose: Floats


@dataclass(frozen=True)
class Chain:
    """What moves a camera.

    Attributes:
        urdf: text of the smaller URDF.
        joints: moving joints: the robot's neck, its torso, then all others between base link and camera.
        limits: rad (or m) for each, the URDF's; infinite for a continuous joint.
        neutral: rad, each at 0, or as near to it as the URDF and the robot's file let it.
        base: the frame that angles refer to.
        camera: the camera's optical frame.
    """

    urdf: str
    joints: tuple[str, ...]
    limits: tuple[tuple[float, float], ...]
    neutral: Joints
    base: Place
    camera: Place


def cut_chain(urdf: str, robot: Robot) -> Chain:
    """Return what moves the robot's camera.

    Args:
        urdf: the text.
        robot: says which link is the base, and where the camera is.

    Raises:
        RobotError: not a URDF, or it lacks a link or a joint that the robot names.
    """
    moving = {joint.name: joint for joint in camera_chain(UrdfTree(urdf), robot)}
    wanted = {joint.name: joint for joint in robot.joints}
    joints = (*wanted, *(name for name in moving if name not in wanted))
    mount = robot.camera
    cutter = _Cutter(urdf, joints)
    camera, base = cutter.place(mount.parent or mount.frame), cutter.place(robot.base.link)
    if mount.parent:
        camera = Place(camera.link, camera.pose @ pose_matrix(mount.xyz, mount.rpy))
    base = Place(base.link, base.pose @ pose_matrix((0.0, 0.0, 0.0), robot.base.rpy))
    usable = [joint_limits(moving[name], wanted.get(name)) for name in joints]
    return Chain(
        cutter.reduced({camera.link, base.link}),
        joints,
        tuple((moving[name].lower, moving[name].upper) for name in joints),
        tuple(min(max(0.0, limits.lower), limits.upper) for limits in usable),
        base,
        camera,
    )


class _Cutter:
    """A URDF in which only some joints move.

    Args:
        urdf: the text, known to be one.
        joints: that move.
    """

    def __init__(self, urdf: str, joints: tuple[str, ...]) -> None:
        self._tree, self._joints = ElementTree.fromstring(urdf), joints
        self._links = {link.get("name", ""): link for link in self._tree.findall("link")}
        self._above = {_link_of(joint, "child"): joint for joint in self._tree.findall("joint")}

    def place(self, link: str) -> Place:
        """Return where a link is on the next link above that moves, itself included."""
        pose = np.eye(4)
        while link in self._above and self._above[link].get("name") not in self._joints:
            pose = _origin(self._above[link]) @ pose
            link = _link_of(self._above[link], "parent")
        return Place(link, pose)

    def reduced(self, kept: set[str]) -> str:
        """Return the URDF with everything fixed that does not move, without what has no mass unless it is kept."""
        for link, element in self._links.items():
            if _mass(element) > 0.0:
                kept = kept | {link}
        needed = {above for link in kept for above in self._ancestors(link)}
        small = ElementTree.Element("robot", name=self._tree.get("name") or "robot")
        for link, element in self._links.items():
            if link in needed:
                new = ElementTree.SubElement(small, "link", name=link)
                new.extend(element.findall("inertial") if _mass(element) > 0.0 else [])
        for child, joint in self._above.items():
            if child in needed:
                name = joint.get("name", "")
                moves = name in self._joints
                new = ElementTree.SubElement(
                    small, "joint", name=name, type=joint.get("type", "") if moves else "fixed"
                )
                for part in ("origin", "parent", "child", *(("axis", "limit") if moves else ())):
                    new.extend(joint.findall(part))
        return ElementTree.tostring(small, encoding="unicode")

    def _ancestors(self, link: str) -> list[str]:
        found = [link]
        while found[-1] in self._above:
            found.append(_link_of(self._above[found[-1]], "parent"))
        return found


def pose_matrix(xyz: tuple[float, ...], rpy: tuple[float, ...]) -> Floats:
    """Return the (4, 4) pose of a URDF origin: Rz(yaw) Ry(pitch) Rx(roll), then the offset [m]."""
    (sr, cr), (sp, cp), (sy, cy) = ((math.sin(angle), math.cos(angle)) for angle in rpy)
    pose = np.eye(4)
    pose[:3, :3] = [
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]
    pose[:3, 3] = xyz
    return pose


def _origin(joint: ElementTree.Element) -> Floats:
    element = joint.find("origin")
    given: dict[str, str] = {} if element is None else dict(element.attrib)
    xyz, rpy = (tuple(map(float, given.get(key, "0 0 0").split())) for key in ("xyz", "rpy"))
    return pose_matrix(xyz, rpy)


def _link_of(joint: ElementTree.Element, end: str) -> str:
    element = joint.find(end)
    return "" if element is None else element.get("link", "")


def _mass(link: ElementTree.Element) -> float:
    element = link.find("inertial/mass")
    return 0.0 if element is None else float(element.get("value") or 0.0)
