"""``hvs bench report``: writes one HTML page of a run: its table, plots, and the worst searches view by view."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvs_ros.cli.arguments import number, path
from hvs_ros.cli.error import BAD_INPUT, FAILED, VerbError

if TYPE_CHECKING:
    from hvs_ros.benchmark.recorded_runs import RecordedRun

HELP = "write one HTML page of a run: the paper's table, plots, and the worst searches view by view"

SCORING = ("paper", "reference")
WORST, MOST_WORST = 12, 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("results", type=path, metavar="RESULTS", help="results file of a run")
    parser.add_argument(
        "--out", type=path, metavar="FILE", help="the page (default: beside the results, with the ending .html)"
    )
    parser.add_argument(
        "--dataset",
        type=path,
        metavar="DIR",
        help="data set of the run, for the views of the worst searches (default: where the results say it was)",
    )
    parser.add_argument(
        "--worst",
        type=number(0, MOST_WORST, int),
        default=WORST,
        metavar="N",
        help=f"how many of the worst searches are shown (default {WORST}; 0: none)",
    )
    parser.add_argument(
        "--against", type=path, metavar="OTHER", help="results file of another run, drawn and counted beside it"
    )
    parser.add_argument("--scoring", choices=SCORING, help="the rule that counts (default: the run's own)")


def run(args: argparse.Namespace) -> int:
    """Write the page, and print where it is."""
    from hvs_ros.benchmark.analysis import analyse
    from hvs_ros.report.bench_page import write_bench_report

    recorded = _read(args.results)
    other = None if args.against is None else _read(args.against)
    dataset = _dataset(args.dataset, recorded.settings)
    mode = _mode(args.scoring, recorded.settings)
    out = args.out or args.results.with_suffix(".html")
    if out.is_dir():
        raise VerbError(f"--out {out}: is a folder; name the file", BAD_INPUT)
    if any(out.exists() and out.samefile(file) for file in (args.results, args.against) if file is not None):
        raise VerbError(f"--out {out}: would replace the results; name another file", BAD_INPUT)
    against = None if other is None else (other, analyse(other.results, mode))
    try:
        write_bench_report(
            recorded, analyse(recorded.results, mode), out, dataset=dataset, worst=args.worst, against=against
        )
    except OSError as error:
        raise VerbError(f"{out}: cannot be written: {error.strerror or error}", FAILED) from error
    print(out)
    return 0


def _read(file: Path) -> RecordedRun:
    from hvs_ros.benchmark.recorded_runs import read_run
    from hvs_ros.benchmark.results_file import ResultsError

    try:
        return read_run(file)
    except ResultsError as error:
        raise VerbError(str(error), BAD_INPUT) from error


def _mode(given: str | None, settings: Mapping[str, Any]) -> Any:
    from hvs_ros.search.scoring import ScoringMode

    found = given or settings.get("scoring")
    return ScoringMode(found) if found in SCORING else ScoringMode.PAPER


def _dataset(given: Path | None, settings: Mapping[str, Any]) -> Path | None:
    """Return the folder of the data set; one that the results name may be gone, one that was named here may not."""
    if given is not None:
        if not given.is_dir():
            raise VerbError(f"--dataset {given}: there is no such folder", BAD_INPUT)
        return given
    notes = settings.get("notes")
    noted = notes.get("dataset") if isinstance(notes, Mapping) else None
    if not isinstance(noted, str) or not noted:
        return None
    folder = Path(noted)
    if not folder.is_dir():
        print(f"hvs bench report: the data set is not at {folder} any more: no views; give --dataset", file=sys.stderr)
    return folder
