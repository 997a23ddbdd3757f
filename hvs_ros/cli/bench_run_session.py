"""Runs what ``hvs bench`` was asked for, and ends with the table, where everything is, and what to do next."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from rich.console import Console

from hvs_ros.benchmark.bench_progress import BenchProgress, Standing
from hvs_ros.benchmark.engine import BenchEngine, EngineSettings
from hvs_ros.benchmark.episodes import annotated
from hvs_ros.benchmark.results_file import ResultsError, ResultsFile
from hvs_ros.benchmark.run import Listener, RunReport
from hvs_ros.benchmark.settings import RunSettings
from hvs_ros.cli.bench_ray import check_ray, ray_workers
from hvs_ros.cli.bench_ros import Stack, through_ros
from hvs_ros.cli.bench_run_end import conclude
from hvs_ros.cli.bench_run_plan import BenchPlan, make_plan
from hvs_ros.cli.console import draws_in_place, make_console
from hvs_ros.cli.error import BAD_INPUT, FAILED, VerbError
from hvs_ros.cli.supervised import Run, supervised
from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError
from hvs_ros.policy.crews import make_crew

RAY_IN_FLIGHT = 4096
"""Searches at the same time of a worker that is not told how many: as many as its crew has searchers."""


def benchmark(args: argparse.Namespace) -> int:
    """Run, and return the exit code.

    Raises:
        VerbError: it cannot begin, or could not go on.
    """
    check_ray(args)
    plan = make_plan(args)
    if args.through_ros is not None:
        return through_ros(args, _stack(args, plan), _say)
    console = make_console()
    with Keeper(plan, resume=args.resume) as keeper:
        report = _run(args, plan, console, keeper)
    return conclude(plan, keeper.settings, report, console, _say)


class Keeper:
    """The results file of a run, which is opened when the policy is there; a context manager.

    A new file in which nothing was written is removed at the end.

    Args:
        plan: what is run.
        resume: the file is continued.

    Attributes:
        settings: of the run; with what the policy tells of itself once the file is open.
        standing: counts how the run goes.
    """

    def __init__(self, plan: BenchPlan, *, resume: bool) -> None:
        self.settings: RunSettings = plan.settings
        self.standing = Standing(len(plan.episodes), plan.mode)
        self._plan = plan
        self._resume = resume
        self._file: ResultsFile | None = None

    def open(self, facts: Mapping[str, str]) -> ResultsFile:
        """Begin the file, or continue it.

        Args:
            facts: what the policy tells of itself.

        Raises:
            VerbError: it cannot be written, or continued with these settings and episodes.
        """
        plan = self._plan
        self.settings = self.settings.with_facts(facts)
        begin = ResultsFile.resume if self._resume else ResultsFile.create
        try:
            self._file = begin(plan.results, self.settings)
            self._file.check(plan.episodes)
            self._file.check_known({candidate.episode_id for candidate in annotated(plan.dataset.scenes)})
        except ResultsError as error:
            raise VerbError(str(error), BAD_INPUT) from error
        found = self._file.results
        earlier = [found[episode.episode_id] for episode in plan.episodes if episode.episode_id in found]
        self.standing.begin(earlier)
        if self._file.dropped:
            _say(f"{plan.results}: its last line was cut off and is dropped")
        if self.standing.done:
            _say(f"{self.standing.done} of {len(plan.episodes)} episodes are done already in {plan.results}")
        return self._file

    def __enter__(self) -> Keeper:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()
            if not self._resume and not self._file.results:
                self._file.path.unlink()  # it would only be in the way of the next attempt


def _run(args: argparse.Namespace, plan: BenchPlan, console: Console, keeper: Keeper) -> RunReport:
    with ExitStack() as stack:
        progress = stack.enter_context(_progress(console, keeper.standing))
        try:
            run = (
                _engine(args, plan, keeper, progress) if args.ray is None else _ray(args, plan, keeper, progress, stack)
            )
            return supervised(run, progress.on_note)
        except (ResultsError, PolicyUnavailableError) as error:
            raise VerbError(str(error), FAILED) from error
        except PolicyError as error:
            raise VerbError(str(error), BAD_INPUT) from error


def _engine(args: argparse.Namespace, plan: BenchPlan, keeper: Keeper, progress: Listener) -> Run:
    s = plan.settings
    crew = make_crew(s.policy, s.policy_settings, args.in_flight)
    keeper.settings = s.with_notes({"in_flight": crew.size})
    engine = EngineSettings(crew.size, args.memory)
    return BenchEngine(plan.episodes, crew, plan.viewing, keeper.open, progress, engine)


def _ray(args: argparse.Namespace, plan: BenchPlan, keeper: Keeper, progress: Listener, stack: ExitStack) -> Run:
    # Only who wants several machines needs what they need.
    from hvs_ros.benchmark.ray_run import RayRun
    from hvs_ros.benchmark.ray_worker import Job, pictures_of
    from hvs_ros.benchmark.run import Patience

    s = plan.settings
    job = Job(
        policy=s.policy,
        policy_settings=s.policy_settings,
        crew_size=args.in_flight,
        viewing=plan.viewing,
        engine=EngineSettings(args.in_flight or RAY_IN_FLIGHT, args.memory),
        patience=Patience(),
        pictures=pictures_of(plan.episodes),
        folder=Path.cwd(),
    )
    workers = stack.enter_context(ray_workers(args, job, progress.on_note))
    return RayRun(plan.episodes, workers, keeper.open, progress)


@contextmanager
def _progress(console: Console, standing: Standing) -> Iterator[Listener]:
    if not draws_in_place(console):
        yield BenchProgress(_say, standing)
        return
    from hvs_ros.cli.bench_run_live import BenchLive

    with BenchLive(console, standing) as live:
        yield live


def _stack(args: argparse.Namespace, plan: BenchPlan) -> Stack:
    s = plan.settings
    return Stack(
        dataset=args.dataset,
        episodes=plan.episodes,
        policy=s.policy,
        policy_settings=s.policy_settings,
        viewing=plan.viewing,
        seed=args.seed or 0,
        record=plan.results.parent,
    )


def _say(text: str) -> None:
    print(text, flush=True)
