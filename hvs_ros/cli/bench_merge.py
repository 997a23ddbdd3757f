"""``hvs bench merge``: joins the results of shards into one file."""

from __future__ import annotations

import argparse

from hvs_ros.cli.arguments import path
from hvs_ros.cli.error import BAD_INPUT, VerbError

HELP = "join the results files of shards into one; the order in which they are named does not matter"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("out", type=path, metavar="OUT", help="the new results file")
    parser.add_argument("files", type=path, nargs="+", metavar="FILE", help="results files with the same settings")


def run(args: argparse.Namespace) -> int:
    """Merge, and say what is in the new file."""
    from hvs_ros.benchmark.merge import merge
    from hvs_ros.benchmark.results_file import ResultsError

    try:
        merged = merge(args.files, args.out)
    except ResultsError as error:
        raise VerbError(str(error), BAD_INPUT) from error
    print(f"{merged.path}: {merged.episodes} episodes of {len(set(args.files))} files")
    if merged.shared:
        print(f"{merged.shared} of them were in several files and agree")
    if merged.incomplete:
        print(f"{merged.incomplete} of them did not complete: hvs bench ... --results {merged.path} --resume runs them")
    return 0
