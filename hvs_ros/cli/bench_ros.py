"""``hvs bench --through-ros``: a sample of the episodes runs in this process and through the graph, and must agree.

Through the graph means the nodes that ``hvs sim`` starts: panorama head, policy node and recorder, with pictures,
goals and answers as messages between them. What a policy decides there must be what it decides here, or the figures of
a run in this process would not be those of the system. This file is what the user can say; ``bench_ros_run`` does it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvs_ros.cli.arguments import namespace, number, positive
from hvs_ros.cli.options import LOG_LEVELS

if TYPE_CHECKING:
    from hvs_ros.benchmark.episodes import Episode
    from hvs_ros.benchmark.viewing import Viewing

Say = Callable[[str], None]
SAMPLE = 8


@dataclass(frozen=True)
class Stack:
    """What both runs are made of.

    Attributes:
        dataset: folder of the data set.
        episodes: all that were asked for; the sample is drawn from them.
        policy: name of the policy.
        policy_settings: of it, with what the protocol fills in.
        viewing: how views are made.
        seed: of the sample; the same one draws the same episodes.
        record: where a folder for the bags is made.
    """

    dataset: Path
    episodes: Sequence[Episode]
    policy: str
    policy_settings: Mapping[str, Any]
    viewing: Viewing
    seed: int
    record: Path


def add_through_ros(group: argparse._ArgumentGroup) -> None:
    """Declare ``--through-ros [N]`` (``args.through_ros``; None without it) and where its graph lives."""
    group.add_argument(
        "--through-ros",
        nargs="?",
        type=positive,
        const=SAMPLE,
        metavar="N",
        help=f"run N of the episodes (default {SAMPLE}) in process and through the ROS graph: are they the same?",
    )
    group.add_argument("--namespace", type=namespace, default="", metavar="NS", help="of --through-ros: of every node")
    group.add_argument(
        "--domain", type=number(0, 232, int), metavar="ID", help="of --through-ros (default: ROS_DOMAIN_ID, else 0)"
    )
    group.add_argument(
        "--log-level", choices=LOG_LEVELS, default="warn", help="of the nodes of --through-ros (default warn)"
    )


def through_ros(args: argparse.Namespace, stack: Stack, say: Say) -> int:
    """Run the sample both ways, say what differs and where the bags lie, and return the exit code.

    Args:
        args: the command line, with what ``add_through_ros`` declares.
        stack: of both runs.
        say: prints a line.

    Returns:
        0 where everything is the same, 1 where not, 130 where the user has interrupted it.

    Raises:
        VerbError: one of the two cannot begin or could not go on; with one line for the user.
    """
    from hvs_ros.cli.graph import require_ros

    require_ros()  # before anything is searched in vain
    from hvs_ros.cli.bench_ros_run import run_both

    return run_both(args, stack, say)
