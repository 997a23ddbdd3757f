"""Command back ends by name, through the entry-point group ``hvs_ros.command_backends``.

A package adds one by naming a class in that group; nothing here has to change. Those that ship with hvs_ros are found
even where its metadata is not installed (a source checkout on PYTHONPATH). While a back end is being written, its
address ``module:Class`` will do for a name.

The class is called with a ``BackendSetup`` and, as keyword arguments, with the settings of the robot's YAML; what it
must offer is ``hvs_ros.neck.commands.CommandBackend``.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any, cast

from rclpy.exceptions import NameValidationException
from rclpy.node import Node

from hvs_ros.neck.commands import CommandBackend, CommandError
from hvs_ros.neck.robot import Commands, NeckJoint

GROUP = "hvs_ros.command_backends"

SHIPPED = {
    "joint_trajectory": "hvs_ros.nodes.commands.joint_trajectory:JointTrajectoryCommands",
    "follow_joint_trajectory": "hvs_ros.nodes.commands.follow_joint_trajectory:FollowJointTrajectoryCommands",
    "forward_position": "hvs_ros.nodes.commands.forward_position:ForwardPositionCommands",
    "dynamixel": "hvs_ros.nodes.commands.dynamixel:DynamixelCommands",
}
"""Also what setup.py declares, so that a back end has one address."""

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
    return sorted({*SHIPPED, *(point.name for point in entry_points(group=GROUP))})


def create_backend(setup: BackendSetup) -> CommandBackend:
    """Make the back end that ``setup.commands`` names, with the settings there.

    Raises:
        CommandError: no such back end, a setting that it does not have or refuses, or something it needs is missing.
    """
    name, settings = setup.commands.backend, dict(setup.commands.settings)
    if not setup.joints:
        raise CommandError(f"command back end '{name}' is given no joint to command")
    factory = _factory(name)
    _check_settings(name, factory, settings)
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


def _factory(name: str) -> Any:
    points = [point for point in entry_points(group=GROUP) if point.name == name]
    address = points[0].value if points else SHIPPED.get(name, name)
    if ":" not in address:
        known = ", ".join(backend_names())
        raise CommandError(f"there is no command back end '{name}'; known are {known}, or write module:Class")
    module, _, attribute = address.partition(":")
    try:
        factory = getattr(importlib.import_module(module), attribute)
    except AttributeError as error:
        raise CommandError(f"command back end '{name}' names {address}, which is not there") from error
    except ImportError as error:
        raise CommandError(f"command back end '{name}' cannot be imported: {error}") from error
    except (Exception, SystemExit) as error:  # anybody's code runs when it is imported
        raise CommandError(f"command back end '{name}' cannot be imported: {error!r}") from error
    if not callable(factory):
        raise CommandError(f"command back end '{name}' names {address}, which is {factory!r:.100}; a class is expected")
    return factory


def _check_settings(name: str, factory: Any, settings: Mapping[str, Any]) -> None:
    try:
        parameters = list(inspect.signature(factory).parameters.values())[1:]
    except ValueError:  # a class written in C may not tell
        return
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return
    known = [parameter.name for parameter in parameters]
    unknown = sorted(set(settings) - set(known))
    if unknown:
        has = f"it has {', '.join(known)}" if known else "it has none"
        raise CommandError(f"command back end '{name}' has no setting {', '.join(unknown)}; {has}")
