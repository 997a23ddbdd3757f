"""What a person is told of a robot: what moves, by which way, where the head may look and what it sees."""

from __future__ import annotations

from typing import Any

from hvs_ros.angles import search_turn_deg
from hvs_ros.neck.robot import Commands, Robot
from hvs_ros.neck.sign_check import SLOW, passed


def robot_line(robot: Robot, *, twin: bool) -> str:
    """Return who it is, and where its camera, joints and commands are."""
    who = f"{robot.name}, a twin" if twin else f"{robot.name} (tried on: {robot.tried})"
    return (
        f"{who}; camera {robot.camera.image}, joints {robot.joint_states}, commands by {commands_text(robot.commands)}"
    )


def commands_text(commands: Commands) -> str:
    """Return by which way joints are commanded."""
    return f"{commands.backend} on {commands.topic}" if commands.topic else commands.backend


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


def camera_text(capabilities: Any) -> str:
    """Return what a head sees.

    Args:
        capabilities: hvs_interfaces/HeadCapabilities.
    """
    wide = abs(search_turn_deg(capabilities.hfov))
    made = f" ({capabilities.view})" if capabilities.view else ""
    return f"{capabilities.width}x{capabilities.height}, {wide:.0f}° wide{made}"


def _side(degrees: float) -> str:
    return f"{abs(degrees):.0f}° {'left' if degrees < 0 else 'right'}"


def _height(degrees: float) -> str:
    return f"{abs(degrees):.0f}° {'down' if degrees < 0 else 'up'}"
