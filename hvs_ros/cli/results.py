"""``hvs results``: prints the table of a run again, from its results file."""

from __future__ import annotations

import argparse

from hvs_ros.cli.arguments import path
from hvs_ros.cli.error import BAD_INPUT, VerbError

NAME = "results"
HELP = "print the table of a run from its results file"

SCORING = ("paper", "reference")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "files", type=path, nargs="+", metavar="FILE", help="results files, or folders that were recorded into"
    )
    parser.add_argument("--scoring", choices=SCORING, default="paper", help="the rule that counts (default paper)")


def run(args: argparse.Namespace) -> int:
    """Print the table of each file; a line of it counts even while the run still writes it."""
    from hvs_ros.benchmark.recorded_runs import RESULTS_PATTERN, read_run
    from hvs_ros.benchmark.results_file import ResultsError
    from hvs_ros.benchmark.summary import summarize
    from hvs_ros.benchmark.table import results_table
    from hvs_ros.cli.console import make_console
    from hvs_ros.search.scoring import ScoringMode

    console = make_console()
    for given in args.files:
        files = sorted(given.glob(RESULTS_PATTERN)) if given.is_dir() else [given]
        if not files:
            raise VerbError(f"{given}: no results file ({RESULTS_PATTERN}) is there", BAD_INPUT)
        for file in files:
            try:
                recorded = read_run(file)
            except ResultsError as error:
                raise VerbError(str(error), BAD_INPUT) from error
            print(f"{file}\n")
            console.print(results_table(summarize(recorded.results, ScoringMode(args.scoring)), recorded.title))
            print()
    return 0
