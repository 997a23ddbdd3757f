"""Runs what ``hvs sim`` was asked for, shows how it goes, and ends with the table and the reports."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from hvs_ros.benchmark.progress import PlainProgress
from hvs_ros.benchmark.results_file import ResultsError, ResultsFile
from hvs_ros.benchmark.run import BenchmarkRun, Listener, Listeners, RunReport, pending
from hvs_ros.benchmark.summary import summarize
from hvs_ros.benchmark.table import results_table
from hvs_ros.cli.console import draws_in_place, make_console
from hvs_ros.cli.error import FAILED, VerbError
from hvs_ros.cli.main import INTERRUPTED
from hvs_ros.cli.sim_backend import open_backend
from hvs_ros.cli.sim_plan import Plan, make_plan, open_results
from hvs_ros.cli.supervised import supervised
from hvs_ros.search.episode import Outcome
from hvs_ros.search.scoring import ScoringMode

if TYPE_CHECKING:
    from hvs_ros.cli.sim_reports import Reports

REPORTS_LIMIT_S = 120.0
REPORTS_LIMIT_INTERRUPTED_S = 3.0


def simulate(args: argparse.Namespace) -> int:
    """Run, and return the exit code.

    Raises:
        VerbError: it cannot begin, or could not go on.
    """
    plan = make_plan(args, _say)
    mode = ScoringMode(args.scoring)
    console = make_console()
    with ExitStack() as stack:
        results = open_results(args, plan)
        if results is not None:
            stack.enter_context(results)
            _announce(results, plan)
        reports = _reports(args, plan, results)
        if results is not None and not pending(plan.episodes, results):
            done = [results.results[episode.episode_id] for episode in plan.episodes]
            report = RunReport(done, total=len(done))
        else:
            report = _run(args, plan, console, mode, results, reports)
        interrupted = report.interrupted
        if reports is not None:
            reports.finish(REPORTS_LIMIT_INTERRUPTED_S if interrupted else REPORTS_LIMIT_S)
    if _nothing_done(report):
        if results is not None and reports is None and not args.resume:
            results.path.unlink()  # it would only be in the way of the next attempt
        raise VerbError(report.gave_up)
    print()
    console.print(results_table(summarize(report.results, mode), plan.title))
    _say_where(args, report, results, reports, mode)
    if interrupted:
        return INTERRUPTED
    if report.gave_up:
        raise VerbError(report.gave_up)
    return 0 if report.complete else FAILED


def _nothing_done(report: RunReport) -> bool:
    """The policy could not even begin; a table would be empty."""
    records = [result.record for result in report.results]
    return bool(report.gave_up) and all(
        record.outcome is Outcome.POLICY_UNAVAILABLE and not record.turns for record in records
    )


def _reports(args: argparse.Namespace, plan: Plan, results: ResultsFile | None) -> Reports | None:
    if args.record is None:
        return None
    # Only who wants reports needs what they need.
    from hvs_ros.cli.sim_reports import Reports

    return Reports(Path(args.record), plan, results)


def _run(
    args: argparse.Namespace,
    plan: Plan,
    console: Console,
    mode: ScoringMode,
    results: ResultsFile | None,
    reports: Reports | None,
) -> RunReport:
    with ExitStack() as stack:
        progress = _progress(console, mode, plan, stack)
        try:
            backend = stack.enter_context(open_backend(args, plan, reports, progress.on_note))
        except BaseException:
            if results is not None and not args.resume:
                results.path.unlink()  # it would only be in the way of the next attempt
            raise
        listener: Listener = progress if reports is None else Listeners(progress, reports)
        run = BenchmarkRun(plan.episodes, backend, results, listener)
        try:
            return supervised(run, progress.on_note)
        except ResultsError as error:
            raise VerbError(str(error)) from error


def _progress(console: Console, mode: ScoringMode, plan: Plan, stack: ExitStack) -> Listener:
    if draws_in_place(console) and not plan.uses_terminal:
        from hvs_ros.cli.live import LiveProgress

        return stack.enter_context(LiveProgress(console, mode))
    return PlainProgress(_say, mode)


def _announce(results: ResultsFile, plan: Plan) -> None:
    if results.dropped:
        _say(f"{results.path}: its last line was cut off and is dropped")
    done = len(plan.episodes) - len(pending(plan.episodes, results))
    if done:
        _say(f"{done} of {len(plan.episodes)} episodes are done already in {results.path}")


def _say_where(
    args: argparse.Namespace,
    report: RunReport,
    results: ResultsFile | None,
    reports: Reports | None,
    mode: ScoringMode,
) -> None:
    left = report.total - sum(result.completed for result in report.results)
    if reports is not None:
        reports.say_where(report.results, mode, _say)
    if results is not None:
        _say(f"results: {results.path}")
    else:
        _say("nothing was kept: --record DIR keeps bags, reports and results")
    if left:
        again = f"; the same command with --resume{'' if args.results or args.record else ' and --record'} runs them"
        _say(f"{left} of {report.total} episodes are not done{again if results is not None else ''}")


def _say(text: str) -> None:
    print(text, flush=True)
