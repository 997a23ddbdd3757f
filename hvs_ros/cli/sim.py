"""``hvs sim``: searches every task of some scenes with a policy, and says how well it did.

This file is what the user can say; ``sim_plan`` turns it into episodes, ``sim_run`` runs them.
"""

from __future__ import annotations

import argparse

from hvs_ros.cli.arguments import number, path, positive, size
from hvs_ros.cli.options import add_graph, add_motion, add_policy, add_scenes
from hvs_ros.cli.sim_options import SAMPLING, fill_in

NAME = "sim"
HELP = "search the tasks of a folder of panoramas with a policy, and print how well it did"

SCORING = ("paper", "reference")
TARGETS = ("object", "path")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    _add_what(parser.add_argument_group("what is searched"))
    _add_how(parser.add_argument_group("how"))
    _add_keep(parser.add_argument_group("what is kept"))
    _add_ros(parser.add_argument_group("ROS"))


def run(args: argparse.Namespace) -> int:
    """Say at once that it begins (pictures and ROS take a second to import), then do it."""
    fill_in(args)
    where = args.scenes or "the sample scenes"
    print(f"hvs sim: policy '{args.policy}' in {where}", flush=True)
    from hvs_ros.cli.sim_run import simulate

    return simulate(args)


def _add_what(group: argparse._ArgumentGroup) -> None:
    add_scenes(group)
    group.add_argument(
        "--select",
        action="append",
        default=[],
        metavar="GLOB",
        help="only scenes or episodes (scene/item/start) whose name matches, e.g. 'hall' or 'hall/0/*'; repeatable",
    )
    group.add_argument("--starts", type=positive, metavar="N", help="only the first N starts of each task")
    group.add_argument("--episodes", type=positive, metavar="N", help="only the first N episodes")
    group.add_argument("--instruction", metavar="TEXT", help="search for this in every scene, instead of its own tasks")
    group.add_argument(
        "--target", choices=TARGETS, help="what --instruction asks for (default object); else: only tasks of this kind"
    )


def _add_how(group: argparse._ArgumentGroup) -> None:
    add_policy(group)
    group.add_argument("--turns", type=positive, metavar="N", help="turns after which a search ends (default 10)")
    group.add_argument("--scoring", choices=SCORING, default="paper", help="the rule that counts (default paper)")
    group.add_argument("--size", type=size, metavar="WxH", help="of a view in pixels (default 1920x1080)")
    group.add_argument("--hfov", type=number(1.0, 179.0), metavar="DEG", help="of a view (default 100)")
    group.add_argument("--sampling", choices=SAMPLING, help="how views are made (default exact)")
    group.add_argument(
        "--supersample",
        type=number(1, 4, int),
        metavar="N",
        help="draw each view N times finer and average it, against moire (default 1: as the benchmark does)",
    )
    add_motion(group)


def _add_keep(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--record", type=path, metavar="DIR", help="keep a bag and a report of each episode, and the results, in DIR"
    )
    group.add_argument(
        "--results", type=path, metavar="FILE", help="keep the results there (default: in --record's folder)"
    )
    group.add_argument(
        "--resume", action="store_true", help="continue --results, or the newest results in --record's folder"
    )


def _add_ros(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--in-process", action="store_true", help="without ROS: same search, same results, no bags")
    add_graph(group, log_level="warn")
