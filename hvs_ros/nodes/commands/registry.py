"""Command back ends by name, through the entry-point group ``hvs_ros.command_backends`` (see ``hvs_ros.plugins``).

The class is called with a ``BackendSetup`` and, as keyword arguments, with the settings of the robot's YAML; what it
must offer is ``hvs_ros.neck.commands.CommandBackend``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from rclpy.exceptions import NameValidationException
from rclpy.node import Node

from hvs_ros.neck.commands import CommandBackend, CommandError
from hvs_ros.neck.robot import Commands, NeckJoint
from hvs_ros.plugins import PluginError, Plugins

BACKENDS = Plugins(
    "hvs_ros.command_backends",
    "command back end",
    {
        "joint_trajectory": "hvs_ros.nodes.commands.joint_trajectory:JointTrajectoryCommands",
        "follow_joint_trajectory": "hvs_ros.nodes.commands.follow_joint_trajectory:FollowJointTrajectoryCommands",
        "forward_position": "hvs_ros.nodes.commands.forward_position:ForwardPositionCommands",
        "dynamixel": "hvs_ros.nodes.commands.dynamixel:DynamixelCommands",
    },
)

MEMBERS = ("begins_at_joints", "problem", "execute", "hold", "verdict", "close")


@dataclass(frozen=True)
class BackendSetup:
    """What a back end is made with.

    Attributes:
        node: whose publishers and clients it uses; spun by an executor in other threads.
        joints: that it commands, in the order of every ``Trajectory`` and ``hold``.
        commands: of the robot's YAML.
        joint_states: topic for a back end that is a driver itself and so has to publish them.
    """

    node: Node
    joints: tuple[NeckJoint, ...]
    commands: Commands
    joint_states: str = "/joint_states"


def backend_names() -> list[str]:
    """Return the names that can be asked for, sorted."""
    return BACKENDS.names()


def create_backend(setup: BackendSetup) -> CommandBackend:
    """Make the back end that ``setup.commands`` names, with the settings there.

    Raises:
        CommandError: no such back end, a setting that it does not have or refuses, or something it needs is missing.
    """
    name, settings = setup.commands.backend, dict(setup.commands.settings)
    if not setup.joints:
        raise CommandError(f"command back end '{name}' is given no joint to command")
    try:
        factory = BACKENDS.load(name)
        BACKENDS.check_settings(name, factory, settings, given=1)
    except PluginError as error:
        raise CommandError(str(error)) from error
    try:
        backend = factory(setup, **settings)
    except CommandError as error:
        raise CommandError(f"command back end '{name}': {error}") from error
    except (TypeError, ValueError) as error:
        raise CommandError(f"command back end '{name}' refuses its settings {settings}: {error}") from error
    except NameValidationException as error:
        raise CommandError(f"command back end '{name}': no name is '{setup.commands.topic}': {error}") from error
    missing = [member for member in MEMBERS if not hasattr(backend, member)]
    if missing:
        raise CommandError(f"command back end '{name}' ({factory!r}) has no {', '.join(missing)}")
    return cast(CommandBackend, backend)
