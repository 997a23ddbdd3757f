"""Runs a sample of a benchmark's episodes in this process and through the ROS graph, and says what is not the same.

One search runs at a time on both sides: a server that is busy with others may answer otherwise, which would be no
difference between the two.
"""

from __future__ import annotations

import argparse
import contextlib
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from hvs_ros.angles import ros_turn
from hvs_ros.benchmark.agreement import disagreements
from hvs_ros.benchmark.engine import BenchEngine, EngineSettings
from hvs_ros.benchmark.episodes import Episode
from hvs_ros.benchmark.progress import plain, result_line
from hvs_ros.benchmark.record import SearchRecord
from hvs_ros.benchmark.result import EpisodeResult
from hvs_ros.benchmark.run import BenchmarkRun, Listener, RunReport
from hvs_ros.benchmark.sample import draw_sample
from hvs_ros.bringup import HEAD, POLICY, NodeSpec, sim
from hvs_ros.cli.bench_ros import Stack
from hvs_ros.cli.error import BAD_INPUT, FAILED, VerbError
from hvs_ros.cli.main import INTERRUPTED
from hvs_ros.cli.running_graph import running_graph
from hvs_ros.cli.supervised import Run, supervised
from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError
from hvs_ros.policy.crews import make_crew
from hvs_ros.search.scoring import ScoringMode
from hvs_ros.share import ShareError, write_problem

Say = Callable[[str], None]

HERE, THERE = "in process", "through ROS 2"
MOST_LINES = 40


class Ended(Listener):
    """Says how each episode ended, in a line.

    Args:
        where: it runs.
        total: episodes.
        say: prints a line.
    """

    def __init__(self, where: str, total: int, say: Say) -> None:
        self._where, self._total, self._say = where, total, say
        self._count = 0

    def on_retry(self, episode: Episode, record: SearchRecord, attempt: int) -> None:
        """Say why it is run again."""
        why = f"{record.outcome.value}: {record.message}"
        self.on_note(f"{self._where}: {episode.episode_id}, attempt {attempt}: {why}; once more")

    def on_result(self, result: EpisodeResult) -> None:
        """Say how it went."""
        self._count += 1
        line = result_line(result, ScoringMode.PAPER)
        self.on_note(f"[{self._count}/{self._total}] {self._where}: {result.episode_id}: {line}")

    def on_note(self, text: str) -> None:
        """Say it."""
        self._say(plain(text))


def run_both(args: argparse.Namespace, stack: Stack, say: Say) -> int:
    """Run the sample both ways, and return the exit code (see ``bench_ros.through_ros``)."""
    sample = draw_sample(stack.episodes, args.through_ros, stack.seed)
    folder = _folder(stack.record)
    try:
        say(f"{len(sample)} of {len(stack.episodes)} episodes, {HERE} first, then {THERE}")
        here = _in_process(stack, sample, say)
        if here.interrupted:
            return INTERRUPTED
        there = _through_graph(args, stack, sample, folder, say)
    finally:
        with contextlib.suppress(OSError):
            folder.rmdir()  # where nothing was recorded
    same = not there.interrupted and _say_differences(here.results, there.results, say)
    if bags := sum(result.record.bag is not None for result in there.results):
        say(f"bags: {bags} in {folder} (hvs report {folder} makes pages of them)")
    if there.interrupted:
        return INTERRUPTED
    return 0 if same else FAILED


def _say_differences(here: Sequence[EpisodeResult], there: Sequence[EpisodeResult], say: Say) -> bool:
    """Say what is not the same, and return whether everything is."""
    found = disagreements(here, there)
    for difference in found[:MOST_LINES]:
        what = f"{difference.what} {difference.one} {HERE}, {difference.other} {THERE}"
        say(plain(f"{difference.where}: {what}"))
    if len(found) > MOST_LINES:
        say(f"... and {len(found) - MOST_LINES} more differences")
    if found:
        say(f"{len({d.episode_id for d in found})} of {len(here)} episodes are not the same {HERE} and {THERE}")
        return False
    if failed := [result.episode_id for result in here if not result.completed]:
        say(f"{len(failed)} of {len(here)} episodes failed both ways, so that nothing is known of them")
        return False
    turns = sum(len(result.record.turns) for result in here)
    say(f"all {len(here)} episodes are the same {HERE} and {THERE}, in each of their {turns} turns")
    return True


def _folder(record: Path) -> Path:
    folder = record.absolute() / f"through_ros_{time.strftime('%Y%m%d_%H%M%S')}"
    if problem := write_problem(folder):
        raise VerbError(f"the bags of --through-ros: {problem}", BAD_INPUT)
    return folder


def _in_process(stack: Stack, sample: Sequence[Episode], say: Say) -> RunReport:
    try:
        crew = make_crew(stack.policy, stack.policy_settings, 1)
        engine = BenchEngine(
            sample, crew, stack.viewing, None, Ended(HERE, len(sample), say), EngineSettings(in_flight=1)
        )
        return _run(engine, HERE, say)
    except PolicyError as error:
        unavailable = isinstance(error, PolicyUnavailableError)
        raise VerbError(str(error), FAILED if unavailable else BAD_INPUT) from error


def _through_graph(
    args: argparse.Namespace, stack: Stack, sample: Sequence[Episode], folder: Path, say: Say
) -> RunReport:
    with running_graph(
        _nodes(args, stack, sample[0], folder),
        "hvs_bench",
        domain=args.domain,
        namespace=args.namespace,
        log_level=args.log_level,
        record=True,
        say=say,
    ) as backend:
        return _run(BenchmarkRun(list(sample), backend, None, Ended(THERE, len(sample), say)), THERE, say)


def _nodes(args: argparse.Namespace, stack: Stack, first: Episode, folder: Path) -> list[NodeSpec]:
    camera = stack.viewing.camera
    head = {
        "width": camera.width,
        "height": camera.height,
        "hfov": abs(ros_turn(camera.hfov_deg)),
        "sampling": stack.viewing.sampling,
        "supersample": stack.viewing.supersample,
        "motion": "instant",
    }
    try:
        return sim(
            scenes=stack.dataset,
            scene=str(first.address),
            policy=stack.policy,
            record=folder,
            namespace=args.namespace,
            parameters={
                HEAD: head,
                POLICY: {f"policy.{name}": value for name, value in stack.policy_settings.items()},
            },
        )
    except (ShareError, ValueError) as error:
        raise VerbError(str(error), BAD_INPUT) from error


def _run(run: Run, where: str, say: Say) -> RunReport:
    report = supervised(run, say)
    if report.gave_up:
        raise VerbError(f"{where}: {report.gave_up}")
    return report
