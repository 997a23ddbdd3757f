"""How a robot is commanded when its twin stands in for it, where that cannot be as on the robot.

Two things that a robot's file may name do not exist on every computer: a serial port in /dev, which belongs to the
system, and the action of control_msgs, which is not on PyPI. The twin, and who commands it, take the robot as
``stand_in`` makes it; everything else is as in the file.
"""

from __future__ import annotations

import importlib.util
import os
import tempfile
from dataclasses import replace
from pathlib import Path

from hvs_ros.neck.robot import DEVICES, Commands, Robot

TOPIC, ACTION, SERVOS = "joint_trajectory", "follow_joint_trajectory", "dynamixel"
"""Back ends."""


def stand_in(robot: Robot) -> Robot:
    """Return the robot with commands that its twin can take here."""
    torso = None if robot.torso_commands is None else _commands(robot.torso_commands)
    return replace(robot, commands=_commands(robot.commands), torso_commands=torso)


def beside(topic: str, name: str) -> str:
    """Return the name of a controller's other interface, which has the same namespace."""
    return f"{topic.rpartition('/')[0]}/{name}" if "/" in topic else name


def _commands(commands: Commands) -> Commands:
    if commands.backend == SERVOS and commands.topic.startswith(DEVICES):
        return replace(commands, topic=str(_folder() / commands.topic.removeprefix(DEVICES)))
    if commands.backend == ACTION and importlib.util.find_spec("control_msgs") is None:
        return replace(commands, backend=TOPIC, topic=beside(commands.topic, TOPIC))
    return commands


def _folder() -> Path:
    """Return where ports are that stand in for some in /dev: the user's and the ROS domain's own."""
    domain = os.environ.get("ROS_DOMAIN_ID") or "0"
    return Path(tempfile.gettempdir()) / f"hvs_ros_twin_{os.getuid()}" / domain
