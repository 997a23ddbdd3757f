"""The options that name a robot, what its YAML says, and the packages that it or its twin needs."""

from __future__ import annotations

import argparse
import importlib.util
from typing import TYPE_CHECKING

from hvs_ros.cli.arguments import number, path
from hvs_ros.cli.error import BAD_INPUT, VerbError

if TYPE_CHECKING:
    from hvs_ros.cli.params_file import NodeValues
    from hvs_ros.neck.robot import Robot

READY_S = 60.0
"""For a robot's drivers and the nodes to be there."""


def add_robot(parser: argparse._ActionsContainer) -> None:
    """Declare which robot, and whether it is one."""
    parser.add_argument(
        "--robot", required=True, metavar="NAME", help="a file of config/robots/ by name, or the path of your own YAML"
    )
    parser.add_argument("--twin", action="store_true", help="a physics twin in the robot's place: nothing real moves")
    parser.add_argument("--scenes", type=path, metavar="DIR", help="panoramas around the twin (default: the samples)")
    parser.add_argument("--scene", default="", metavar="NAME", help="the twin's scene (default: the first)")


def add_confirm(parser: argparse._ActionsContainer) -> None:
    """Declare the word without which nothing real moves."""
    parser.add_argument("--confirm", action="store_true", help="the robot's head may move, people keep clear of it")


def add_running(parser: argparse._ActionsContainer) -> None:
    """Declare that the head is not to be started."""
    parser.add_argument("--running", action="store_true", help="use the head that runs already, do not start one")


def add_wait(parser: argparse._ActionsContainer) -> None:
    """Declare how long the robot has to appear."""
    parser.add_argument(
        "--wait",
        type=number(1, 3600),
        default=READY_S,
        metavar="S",
        help=f"for camera, joint states, description and controller (default {READY_S:g})",
    )


def load(args: argparse.Namespace) -> Robot:
    """Return the robot that the command line names, its topics in the namespace.

    Raises:
        VerbError: there is no such robot, something in its YAML is wrong, or the options do not go together.
    """
    from hvs_ros.graphs import robot_address
    from hvs_ros.neck.robot import RobotError
    from hvs_ros.neck.robot_file import load_robot

    if not args.twin and (args.scenes is not None or args.scene):
        raise VerbError("--scenes and --scene surround a twin; a robot sees what is there: add --twin", BAD_INPUT)
    try:
        return load_robot(robot_address(args.robot)).in_namespace(args.namespace)
    except RobotError as error:
        raise VerbError(str(error), BAD_INPUT) from error


def require_packages(robot: Robot, *, twin: NodeValues | None) -> None:
    """Find out before anything starts whether the packages are there.

    Args:
        robot: the robot.
        twin: what the parameter file says for its twin; None: there is no twin.

    Raises:
        VerbError: one is missing; the line names the extra that brings it.
    """
    if twin is None:
        _require({"pinocchio": "pin"}, "a robot's kinematics", "robot")
        if "dynamixel" in {robot.commands.backend, *([robot.torso_commands.backend] if robot.torso_commands else [])}:
            _require({"dynamixel_sdk": "dynamixel-sdk"}, f"{robot.name}'s servos", "dynamixel")
        return
    _require({"pinocchio": "pin", "mujoco": "mujoco"}, "a twin", "twin")
    if twin.text("urdf"):
        return
    from hvs_ros.neck.robot import RobotError
    from hvs_ros.neck.robot_description import find_urdf

    try:
        find_urdf(robot.description)
    except RobotError as error:
        raise VerbError(f"the twin of {robot.name}: {error}") from error


def _require(packages: dict[str, str], what: str, extra: str) -> None:
    missing = [package for module, package in packages.items() if importlib.util.find_spec(module) is None]
    if missing:
        raise VerbError(
            f"for {what} {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing:"
            f" pip install -e '.[{extra}]' in the folder of hvs_ros"
        )
