"""``hvs bench compare``: what changed from one run to another over the same episodes."""

from __future__ import annotations

import argparse

from hvs_ros.cli.arguments import number, path
from hvs_ros.cli.error import BAD_INPUT, VerbError

HELP = "compare two runs episode by episode, with significance tests"

SCORING = ("paper", "reference")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("a", type=path, metavar="A", help="results file that the other is held against")
    parser.add_argument("b", type=path, metavar="B", help="results file")
    parser.add_argument("--scoring", choices=SCORING, help="the rule that counts for both (default: A's own)")
    parser.add_argument("--all", action="store_true", help="name every episode that changed, not the first ones")
    parser.add_argument("--json", type=path, metavar="FILE", help="write all figures there ('-': print them instead)")
    parser.add_argument(
        "--leave-out-unlike",
        action="store_true",
        help="leave out episodes that are not the same task in both, instead of refusing to compare",
    )
    parser.add_argument(
        "--fail-if-worse",
        type=number(0.0, 1.0),
        metavar="ALPHA",
        help="end with exit code 1 when B found fewer than A and McNemar's p is below ALPHA (e.g. 0.05)",
    )


def run(args: argparse.Namespace) -> int:
    """Compare, and return 1 only where B is worse and that was asked for."""
    from hvs_ros.benchmark.compare import CompareError, compare
    from hvs_ros.benchmark.compare_table import MOST_CHANGED, comparison_table
    from hvs_ros.benchmark.recorded_runs import read_run
    from hvs_ros.benchmark.results_file import ResultsError
    from hvs_ros.cli.console import make_console
    from hvs_ros.cli.json_file import STANDARD_OUTPUT, write_json
    from hvs_ros.search.scoring import ScoringMode

    try:
        a, b = read_run(args.a), read_run(args.b)
        mode = ScoringMode(args.scoring or a.settings.get("scoring") or SCORING[0])
        comparison = compare(a, b, mode, unlike=args.leave_out_unlike)
    except (ResultsError, CompareError) as error:
        raise VerbError(str(error), BAD_INPUT) from error
    if args.json is not None:
        write_json(args.json, comparison.to_json())
    if args.json != STANDARD_OUTPUT:
        make_console().print(comparison_table(comparison, most=None if args.all else MOST_CHANGED))
    if args.fail_if_worse is None:
        return 0
    if not comparison.total.pairs:
        raise VerbError("no episode was completed in both: whether B found fewer than A cannot be said")
    if comparison.worse(args.fail_if_worse):
        p = comparison.total.mcnemar_p
        raise VerbError(f"B found fewer than A: p {p:.3g} is below {args.fail_if_worse:g}")
    return 0
