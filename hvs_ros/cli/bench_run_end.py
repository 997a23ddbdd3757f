"""How a benchmark ends: the table, what was not completed, where the results are, and what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Callable

from rich.console import Console

from hvs_ros.benchmark.analysis import analyse
from hvs_ros.benchmark.bench_table import bench_table
from hvs_ros.benchmark.progress import plain, shorten
from hvs_ros.benchmark.run import RunReport
from hvs_ros.benchmark.settings import RunSettings
from hvs_ros.cli.bench_run_plan import BenchPlan
from hvs_ros.cli.error import FAILED, VerbError
from hvs_ros.cli.main import INTERRUPTED

MOST_NAMED = 10
"""Episodes that did not complete."""


def conclude(
    plan: BenchPlan, settings: RunSettings, report: RunReport, console: Console, say: Callable[[str], None]
) -> int:
    """Print all that there is to know after a run, and return the exit code.

    Raises:
        VerbError: the run was given up.
    """
    completed = sum(result.completed for result in report.results)
    if report.results:
        table = bench_table(analyse(report.results, plan.mode), settings.to_json(), total=plan.total, part=plan.part)
        say("")
        console.print(table)
        say("")
        _name_failures(report, say)
        say(f"results: {plan.results}")
    left = report.total - completed
    if left:
        begun = bool(report.results)
        again = "the same command with --resume runs them" if begun else "nothing was kept"
        say(f"{left} of {report.total} episodes are not done; {again}")
    elif report.results:
        file = shlex.quote(str(plan.results))
        say(f"next: hvs bench report {file}")
        say(f"      hvs bench compare OTHER.jsonl {file}")
    if report.interrupted:
        return INTERRUPTED
    if report.gave_up:
        raise VerbError(report.gave_up)
    return 0 if report.complete else FAILED


def _name_failures(report: RunReport, say: Callable[[str], None]) -> None:
    """Name the episodes that the machinery failed in, which are in no figure."""
    failed = [result for result in report.results if not result.completed]
    for result in failed[:MOST_NAMED]:
        why = f": {shorten(result.record.message, 160)}" if result.record.message else ""
        say(plain(f"not completed: {result.episode_id}: {result.record.outcome.value}{why}"))
    if len(failed) > MOST_NAMED:
        say(f"not completed: {len(failed) - MOST_NAMED} more")
