"""The joints of a robot's URDF that turn its camera, and what they may do."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hvs_ros.neck.robot import NeckJoint, Robot, RobotError
from hvs_ros.neck.urdf import MOVING, TURNING, UrdfJoint, UrdfTree


@dataclass(frozen=True)
class JointLimits:
    """What a joint may do.

    Attributes:
        lower: rad (or m); -inf when continuous.
        upper: rad (or m); inf when continuous.
        continuous: it has no stop.
        max_velocity: rad/s.
        max_acceleration: rad/s^2.
        tolerance: rad, so near to its goal it has arrived.
    """

    lower: float
    upper: float
    continuous: bool
    max_velocity: float
    max_acceleration: float
    tolerance: float


def camera_chain(tree: UrdfTree, robot: Robot) -> list[UrdfJoint]:
    """Return the moving joints between base and camera, every joint of the robot's YAML among them.

    Raises:
        RobotError: a link or joint is not there, or a joint is of a kind or in a place that does not fit.
    """
    mount = robot.camera
    tree.check_link(robot.base.link, "the base (base.link)")
    if mount.parent:
        tree.check_link(mount.parent, "what carries the camera (camera.parent)")
    else:
        tree.check_link(mount.frame, "the camera's optical frame (camera.frame; with camera.parent it is added)")
    end = mount.parent or mount.frame
    chain = tree.between(robot.base.link, end)
    for name in (joint.name for joint in robot.joints):
        joint = tree.joint(name)
        if joint.kind not in TURNING:
            raise RobotError(f"joint {name!r} is {joint.kind}; a joint that turns ({' or '.join(TURNING)}) is expected")
        if joint not in chain:
            raise RobotError(f"joint {name!r} ({joint.kind}) is not between {robot.base.link!r} and {end!r}")
    moving = [joint for joint in chain if joint.kind != "fixed"]
    for joint in moving:
        if joint.kind not in MOVING:
            raise RobotError(
                f"joint {joint.name!r} between {robot.base.link!r} and {end!r} is {joint.kind}; one of "
                f"{', '.join(MOVING)} is expected"
            )
        if joint.mimics:
            raise RobotError(
                f"joint {joint.name!r} ({joint.kind}) between {robot.base.link!r} and {end!r} mimics {joint.mimics!r}, "
                "which is not supported: a joint of its own is expected"
            )
    return moving


def joint_limits(joint: UrdfJoint, said: NeckJoint | None) -> JointLimits:
    """Return what a joint may do.

    Args:
        joint: as the URDF has it.
        said: what the robot's YAML says; None: nothing, it is only measured.

    Raises:
        RobotError: nothing is left between its limits.
    """
    told = said or NeckJoint(joint.name)
    lower, upper = max(joint.lower, told.lower), min(joint.upper, told.upper)
    if joint.kind == "continuous" and math.isfinite(lower) != math.isfinite(upper):
        raise RobotError(
            f"joint {joint.name!r} is continuous, with limits from {lower:g} to {upper:g}; both or none are expected"
        )
    if not lower < upper:
        raise RobotError(
            f"joint {joint.name!r} ({joint.kind}) has no range: the URDF says {joint.lower:g} to {joint.upper:g}, the "
            f"robot's YAML {told.lower:g} to {told.upper:g}"
        )
    return JointLimits(
        lower,
        upper,
        math.isinf(lower),
        min(joint.velocity, told.max_velocity),
        told.max_acceleration,
        told.tolerance,
    )
