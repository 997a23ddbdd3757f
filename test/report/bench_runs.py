"""A small benchmark run to report on: drawn rooms, a policy that turns at random, and results made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hvs_ros.angles import Direction
from hvs_ros.benchmark.analysis import Analysis, analyse
from hvs_ros.benchmark.dataset import open_dataset, plan_benchmark
from hvs_ros.benchmark.in_process import InProcessBackend, SceneHead
from hvs_ros.benchmark.record import SearchRecord, TurnRecord
from hvs_ros.benchmark.recorded_runs import RecordedRun, read_run
from hvs_ros.benchmark.result import EpisodeResult, Judgement, judge
from hvs_ros.benchmark.results_file import ResultsFile
from hvs_ros.benchmark.run import Listener
from hvs_ros.benchmark.settings import RunSettings
from hvs_ros.mock.rooms import Order, write_scenes
from hvs_ros.panorama import Camera
from hvs_ros.panorama.surroundings import Workshop
from hvs_ros.policy.random_walk import RandomPolicy
from hvs_ros.report.bench_page import write_bench_report
from hvs_ros.search.action import Rotate, Submit
from hvs_ros.search.decision import ParseStatus, Usage
from hvs_ros.search.episode import Outcome, TurnTimes
from hvs_ros.search.scoring import ScoringMode
from hvs_ros.search.task import Target
from hvs_ros.search.view import MoveOutcome

CAMERA = Camera(96, 54, 100.0)
SETTINGS = RunSettings(
    policy="random",
    policy_settings={"seed": 3},
    camera={"width": 96, "height": 54, "hfov_deg": 100.0},
    view={"sampling": "exact", "supersample": 1},
    versions={"hvs_ros": "9.8.7"},
    protocol="paper",
    scoring="paper",
    seed=42,
    deviations=("view: 96x54 instead of 1920x1080",),
    facts={"model": "models/HVS-3B", "prompt_sha256": "0123456789abcdef0123"},
)


def draw_rooms(folder: Path) -> Path:
    """Draw a data set of both splits."""
    list(write_scenes(folder, Order(scenes=3, width=256, tasks=3, starts=2, splits=True), 1))
    return folder


def random_run(dataset: Path, file: Path) -> RecordedRun:
    """Search all of a data set at random, and return what the results file holds."""
    head = SceneHead(Workshop("", CAMERA, "exact", 1, 64))
    with (
        ResultsFile.create(file, SETTINGS) as results,
        InProcessBackend(lambda: RandomPolicy(seed=3), head) as backend,
    ):
        for episode in plan_benchmark(open_dataset(dataset)):
            results.append(judge(episode, backend.run(episode, Listener())))
    return read_run(file)


def made(results: Sequence[EpisodeResult], **settings: object) -> RecordedRun:
    """Return a run with these results."""
    return RecordedRun(Path("made.jsonl"), {**SETTINGS.to_json(), **settings}, tuple(results))


def result(
    name: str = "hall/0/0",
    target: Target | None = None,
    submitted: Direction | None = None,
    *,
    thought: str = "I see it.",
    instruction: str = "Find the red box.",
    scene: str = "hall",
    turns: int = 2,
) -> EpisodeResult:
    """Return the result of a search that turned and then submitted a direction, or ran out of turns."""
    target = target or Target((80.0, 100.0), (-10.0, 10.0))
    done, at = [], Direction(0.0, 0.0)
    for number in range(1, turns + 1):
        last = number == turns and submitted is not None
        action = Submit(submitted.yaw_deg, submitted.pitch_deg) if last and submitted else Rotate(30.0, 0.0)
        after = at if last else at.turned(30.0, 0.0)
        move = None if last else MoveOutcome.REACHED
        times, usage = TurnTimes(0.01, 0.5, 0.0), Usage(1000, 50, 300)
        said = (ParseStatus.OK, thought, f"raw {thought}", False)
        done.append(TurnRecord(number, at, action, *said, move, after, times, "", usage))
        at = after
    outcome = Outcome.TURNS_EXHAUSTED if submitted is None else Outcome.SUBMITTED
    record = SearchRecord(outcome, "", submitted, False, at, tuple(done))
    return EpisodeResult(
        episode_id=name,
        scene=scene,
        panorama=("hall.jpg", 1),
        instruction=instruction,
        kind=target.kind,
        max_turns=10,
        level=1,
        start=Direction(0.0, 0.0),
        target=target,
        record=record,
        submitted=None if submitted is None else Judgement.of(target, submitted),
        looking=Judgement.of(target, at),
    )


def broken(one: EpisodeResult) -> EpisodeResult:
    """Return the result of a search that the machinery ended."""
    return replace(one, record=SearchRecord(Outcome.POLICY_FAILED, "gone"), submitted=None, looking=None)


def report(run: RecordedRun, out: Path, dataset: Path | None = None, **more: object) -> tuple[Path, Analysis]:
    """Write the report of a run, and return where it is and its figures."""
    analysis = analyse(run.results, ScoringMode.PAPER, resamples=200)
    return write_bench_report(run, analysis, out, dataset=dataset, **more), analysis  # type: ignore[arg-type]
