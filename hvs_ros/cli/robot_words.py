"""What a person is told of a robot: what moves, by which way, where the head may look and what it sees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hvs_ros.angles import search_turn_deg
from hvs_ros.neck.robot import Robot
from hvs_ros.neck.sign_check import SLOW, passed

if TYPE_CHECKING:
    from hvs_ros.panorama.camera import Camera


def robot_line(robot: Robot, *, twin: bool) -> str:
    """Return who it is, and where its camera, joints and commands are."""
    who = f"{robot.name}, a twin" if twin else f"{robot.name} (tried on: {robot.tried})"
    commands = f"{robot.commands.backend} on {robot.commands.topic}"
    return f"{who}; camera {robot.camera.image}, joints {robot.joint_states}, commands by {commands}"


def moving_text(robot: Robot, *, torso: bool, base: bool) -> str:
    """Return what moves when the head does."""
    parts = [f"the joints {', '.join(joint.name for joint in (robot.joints if torso else robot.neck))}"]
    if base:
        parts.append(f"the whole base, by {robot.turn.cmd_vel}")
    return " and ".join(parts)


def speed_text(robot: Robot) -> str:
    """Return how fast it moves."""
    if passed(robot):
        return "at full speed: its signs have been checked"
    return f"slowly, {SLOW:g} of its speed, until `hvs check-signs --robot {robot.name}` has been passed"


def reach_text(capabilities: Any) -> str:
    """Return where a head may look, in search degrees.

    Args:
        capabilities: hvs_interfaces/HeadCapabilities.
    """
    up, down = (_height(search_turn_deg(angle)) for angle in (capabilities.pitch_min, capabilities.pitch_max))
    if capabilities.yaw_continuous:
        return f"all round, from {up} to {down}"
    left, right = (_side(search_turn_deg(angle)) for angle in (capabilities.yaw_max, capabilities.yaw_min))
    return f"from {left} to {right}, from {up} to {down}"


def view_text(capabilities: Any) -> str:
    """Return what views of a head are.

    Args:
        capabilities: hvs_interfaces/HeadCapabilities; without a size those of native views that none has been made of.
    """
    if not capabilities.width:
        return "as the camera takes them"
    return f"{capabilities.width}x{capabilities.height}, {abs(search_turn_deg(capabilities.hfov)):.0f}° wide"


def camera_text(robot: Robot, camera: Camera | None) -> str:
    """Return what the robot's camera is.

    Args:
        robot: whose it is.
        camera: by its camera_info; None: that has not come.
    """
    if camera is None:
        return f"{robot.camera.image} (no camera_info on {robot.camera.info})"
    turned = round(abs(search_turn_deg(robot.camera.turned)))
    mounted = f", mounted turned by {turned}°" if turned else ""
    return f"{robot.camera.image}, {camera.width}x{camera.height}, {camera.hfov_deg:.0f}° along its width{mounted}"


def _side(degrees: float) -> str:
    return f"{abs(degrees):.0f}° {'left' if degrees < 0 else 'right'}"


def _height(degrees: float) -> str:
    return f"{abs(degrees):.0f}° {'down' if degrees < 0 else 'up'}"
