"""``hvs bench show``: prints the table of a benchmark run again, and gives its figures as JSON."""

from __future__ import annotations

import argparse

from hvs_ros.cli.arguments import path
from hvs_ros.cli.error import BAD_INPUT, VerbError

HELP = "print the table of a run from its results file, or all its figures as JSON"

SCORING = ("paper", "reference")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", type=path, metavar="FILE", help="results file")
    parser.add_argument("--scoring", choices=SCORING, help="the rule that counts (default: the run's own)")
    parser.add_argument("--json", type=path, metavar="FILE", help="write all figures there ('-': print them instead)")
    parser.add_argument("--no-published", action="store_true", help="without the published rows")


def run(args: argparse.Namespace) -> int:
    """Print the table; a line of the file counts even while the run still writes it."""
    from hvs_ros.benchmark.analysis import analyse
    from hvs_ros.benchmark.bench_table import bench_table
    from hvs_ros.benchmark.recorded_runs import read_run
    from hvs_ros.benchmark.results_file import ResultsError
    from hvs_ros.cli.console import make_console
    from hvs_ros.cli.json_file import STANDARD_OUTPUT, write_json
    from hvs_ros.search.scoring import ScoringMode

    try:
        recorded = read_run(args.file)
    except ResultsError as error:
        raise VerbError(str(error), BAD_INPUT) from error
    mode = ScoringMode(args.scoring or recorded.settings.get("scoring") or SCORING[0])
    analysis = analyse(recorded.results, mode)
    if args.json is not None:
        values = {"file": str(args.file), "settings": recorded.settings, "analysis": analysis.to_json()}
        write_json(args.json, values)
        if args.json == STANDARD_OUTPUT:
            return 0
    make_console().print(bench_table(analysis, recorded.settings, published=not args.no_published))
    return 0
