"""``hvs bench DIR``: runs the benchmark on a data set in its published layout, and prints the paper's table.

This file is what the user can say; ``bench_run_plan`` turns it into episodes and settings, ``bench_run_session`` runs
them.
"""

from __future__ import annotations

import argparse

from hvs_ros.cli.arguments import number, path, positive, size
from hvs_ros.cli.bench_ray import add_ray
from hvs_ros.cli.bench_ros import add_through_ros
from hvs_ros.cli.options import add_policy
from hvs_ros.cli.sim_options import DEFAULT_POLICY, SAMPLING

HELP = "run the benchmark on a data set with a policy, and print the paper's table: hvs bench DIR, for short"

SCORING = ("paper", "reference")
PROTOCOLS = ("paper", "reference")
KINDS = ("object", "path")
PUBLISHED_ORDER = 42
BY_SCENE = "none"
MEMORY_MB = 4096


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    _add_what(parser.add_argument_group("what is searched"))
    _add_how(parser.add_argument_group("how, which changes results"))
    _add_machine(parser.add_argument_group("how fast, which does not"))
    _add_keep(parser.add_argument_group("what is kept"))
    add_ray(parser.add_argument_group("several machines"))
    add_through_ros(parser.add_argument_group("through ROS"))


def run(args: argparse.Namespace) -> int:
    """Say at once that it begins (pictures take a second to import), then do it."""
    args.policy = args.policy or DEFAULT_POLICY
    print(f"hvs bench: policy '{args.policy}', protocol '{args.protocol}', data set {args.dataset}", flush=True)
    from hvs_ros.cli.bench_run_session import benchmark

    return benchmark(args)


def _add_what(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "dataset", type=path, metavar="DIR", help="data set: a folder of scene folders, or of splits that hold them"
    )
    group.add_argument(
        "--select",
        action="append",
        default=[],
        metavar="GLOB",
        help="only scenes or episodes (scene/item/start) whose name matches, e.g. 'hos_bench/*'; repeatable",
    )
    group.add_argument("--kind", choices=KINDS, help="only tasks of this kind")
    group.add_argument("--starts", type=positive, metavar="N", help="only the first N starts of each task")
    group.add_argument(
        "--episodes", type=positive, metavar="N", help="only the first N episodes, in the order of --seed"
    )
    group.add_argument("--shard", type=shard, metavar="I/N", help="the I-th of N parts, for several machines")
    group.add_argument(
        "--seed",
        type=seed,
        default=PUBLISHED_ORDER,
        metavar="N",
        help=f"of the episodes' order (default {PUBLISHED_ORDER}, the published one; {BY_SCENE}: by scene)",
    )


def _add_how(group: argparse._ArgumentGroup) -> None:
    add_policy(group)
    group.add_argument(
        "--protocol",
        choices=PROTOCOLS,
        default="paper",
        help="all that changes a score: the paper's text (default), or the published code where they differ",
    )
    departs = "a deviation from the protocol, which the results name"
    group.add_argument("--turns", type=positive, metavar="N", help=f"turns after which a search ends: {departs}")
    group.add_argument("--scoring", choices=SCORING, help=f"the rule that counts: {departs}")
    group.add_argument("--size", type=size, metavar="WxH", help=f"of a view in pixels: {departs}")
    group.add_argument("--hfov", type=number(1.0, 179.0), metavar="DEG", help=f"of a view: {departs}")
    group.add_argument("--sampling", choices=SAMPLING, help=f"how views are made: {departs}")


def _add_machine(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--in-flight",
        type=number(1, 4096, int),
        metavar="N",
        help="searches at the same time (default: 64 with a server, 8 with torch; 1 with any other policy, which is "
        "made once for each)",
    )
    group.add_argument(
        "--memory",
        type=number(1, 1_000_000, int),
        default=MEMORY_MB,
        metavar="MB",
        help=f"for decoded panoramas (default {MEMORY_MB}); each search under way takes a view more, 6 MB",
    )


def _add_keep(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--results", type=path, metavar="FILE", help="results (default: runs/bench/POLICY_MODEL_PROTOCOL.jsonl)"
    )
    group.add_argument("--resume", action="store_true", help="continue that file")


def shard(text: str) -> tuple[int, int]:
    """Return (which, of how many) from ``1/4``."""
    first, _, last = text.partition("/")
    try:
        which, count = int(first), int(last)
    except ValueError:
        which = count = 0
    if not 1 <= which <= count:
        raise argparse.ArgumentTypeError(f"'{text}' is not a part like 1/4, from 1/4 to 4/4")
    return which, count


def seed(text: str) -> int | None:
    """Return the seed of an order; None for the order of the scenes."""
    if text == BY_SCENE:
        return None
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number, or {BY_SCENE}") from None
