"""Options of every verb that starts nodes, declared once so that they mean the same everywhere.

What the user does not give stays None and is left to the parameter file (see ``params_file``).
"""

from __future__ import annotations

import argparse

from hvs_ros.cli.arguments import namespace, number, path, setting
from hvs_ros.cli.sim_options import MOTION

LOG_LEVELS = ("debug", "info", "warn", "error")


def add_scenes(parser: argparse._ActionsContainer) -> None:
    """Declare where the scenes are."""
    parser.add_argument(
        "--scenes", type=path, metavar="DIR", help="scene folders, bare panoramas, or one of them; default: the samples"
    )


def add_policy(parser: argparse._ActionsContainer) -> None:
    """Declare who decides, and that policy's settings."""
    parser.add_argument("--policy", metavar="NAME", help="who decides (default signs): `hvs policies`")
    parser.add_argument(
        "--policy-setting",
        action="append",
        default=[],
        type=setting,
        metavar="KEY=VALUE",
        help="a setting of the policy; repeatable",
    )


def add_motion(parser: argparse._ActionsContainer) -> None:
    """Declare how the head moves."""
    parser.add_argument("--motion", choices=MOTION, help="how the head moves (default instant)")


def add_graph(parser: argparse._ActionsContainer, log_level: str) -> None:
    """Declare where the nodes live, their parameters, and what they log unless told otherwise."""
    parser.add_argument("--namespace", type=namespace, default="", metavar="NS", help="put every node there")
    parser.add_argument(
        "--domain", type=number(0, 232, int), metavar="ID", help="ROS domain (default: ROS_DOMAIN_ID, else 0)"
    )
    parser.add_argument(
        "--params-file", type=path, metavar="YAML", help="parameters of the nodes; options given go first"
    )
    parser.add_argument(
        "--log-level", choices=LOG_LEVELS, default=log_level, help=f"of the nodes (default {log_level})"
    )
