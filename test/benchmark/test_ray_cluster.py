"""Real workers on a Ray cluster on this machine: the results of a run in this process, however many there are."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benchmark_builders import SETTINGS
from scripted_crew import HASTY, VIEWING, Log, make_engine, make_episodes

from hvs_ros.benchmark.engine import EngineSettings
from hvs_ros.benchmark.ray_cluster import RaySettings, RayWorkers
from hvs_ros.benchmark.ray_run import RayRun
from hvs_ros.benchmark.ray_session import RayError, ray_session
from hvs_ros.benchmark.ray_worker import CODE, Job, pictures_of
from hvs_ros.benchmark.result import EpisodeResult
from hvs_ros.benchmark.results_file import ResultsFile
from hvs_ros.policy.contract import PolicyError
from hvs_ros.policy.crews import make_crew
from hvs_ros.search.episode import TurnTimes

pytest.importorskip("ray")

PATIENT = replace(HASTY, outage_s=60.0)
"""While a worker is replaced there is none."""

LEAVES_ONCE = """
import os
from pathlib import Path
from hvs_ros.policy.random_walk import RandomPolicy

class LeavesOnce(RandomPolicy):
    '''Ends the process in the third search that any of them begins, once.'''

    def __init__(self, marks: str = "") -> None:
        super().__init__(seed=3)
        self._marks = Path(marks)

    def start(self, task):
        super().start(task)
        begun = len(list(self._marks.glob("begun_*")))
        (self._marks / f"begun_{os.getpid()}_{begun}").touch()
        if begun == 2 and not (self._marks / "left").exists():
            (self._marks / "left").touch()
            os._exit(7)
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """A cluster of this module's own; who asks for one from this process is given this one."""
    with ray_session("local", cpus=4):
        yield "auto"


def job_for(folder: Path, policy: str = "random", **settings: Any) -> tuple[list[Any], Job]:
    episodes = make_episodes(folder)
    engine = EngineSettings(2, memory_mb=100, threads=1)
    return episodes, Job(policy, settings, 2, VIEWING, engine, HASTY, pictures_of(episodes), folder)


def without_times(results: list[EpisodeResult]) -> list[EpisodeResult]:
    return [
        replace(
            result,
            record=replace(
                result.record, turns=tuple(replace(turn, times=TurnTimes()) for turn in result.record.turns)
            ),
            seconds=0.0,
            ended="",
        )
        for result in results
    ]


@pytest.mark.parametrize("count", [1, 2])
def test_the_results_are_those_of_a_run_in_this_process(cluster: str, tmp_path: Path, count: int) -> None:
    episodes, job = job_for(tmp_path, seed=3)
    alone = make_engine(episodes, make_crew("random", {"seed": 3}, 2), in_flight=2).run()
    log, said = Log(), list[str]()
    with RayWorkers(job, RaySettings(cluster, workers=count, cpus=0.5), said.append) as workers:
        assert workers.count == count and workers.describe() == {}
        report = RayRun(episodes, workers, None, log, PATIENT).run()
    assert report.complete and not said
    assert without_times(report.results) == without_times(alone.results)
    assert sorted(log.begun) == sorted(result.episode_id for result in log.results)


def test_a_worker_whose_process_ends_is_replaced_and_nothing_is_lost_or_kept_twice(
    cluster: str, tmp_path: Path
) -> None:
    episodes, job = job_for(tmp_path, "leaves_once:LeavesOnce", marks=str(tmp_path))
    (tmp_path / "leaves_once.py").write_text(LEAVES_ONCE)
    alone = make_engine(episodes, make_crew("random", {"seed": 3}, 2), in_flight=2).run()
    path = tmp_path / "results.jsonl"
    notes: list[str] = []

    class Notes(Log):
        def on_note(self, text: str) -> None:
            notes.append(text)

    with (
        RayWorkers(job, RaySettings(cluster, workers=1, cpus=0.5), notes.append) as workers,
        ResultsFile.create(path, SETTINGS) as results,
    ):
        report = RayRun(episodes, workers, results, Notes(), PATIENT).run()
    assert report.complete and (tmp_path / "left").exists()
    assert len(path.read_text().splitlines()) == 1 + len(episodes), "each once"
    assert [result.record.submitted for result in report.results] == [
        result.record.submitted for result in alone.results
    ]
    (note,) = notes
    assert note.startswith(f"{socket.gethostname()}: the worker's process was ended or has crashed")
    assert "episodes are searched elsewhere" in note


def test_what_is_wrong_on_every_machine_is_said_before_the_run(
    cluster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, job = job_for(tmp_path, seed=3)
    settings = RaySettings(cluster, workers=1, cpus=0.5)
    gone = replace(job, pictures=((tmp_path / "elsewhere" / "hall.jpg", 10),))
    with pytest.raises(RayError, match=f"{socket.gethostname()}: .*/elsewhere/hall.jpg: No such file"):
        RayWorkers(gone, settings, print).__enter__()
    with pytest.raises(PolicyError, match="has no setting nonsense"):
        RayWorkers(replace(job, policy_settings={"nonsense": 1}), settings, print).__enter__()
    monkeypatch.setattr(
        "hvs_ros.benchmark.ray_cluster.software", lambda policy: {"hvs_ros": "0.0.1", CODE: "of another day"}
    )
    with pytest.raises(RayError, match=r"other software .*: hvs_ros is .*, not 0\.0\.1"):
        RayWorkers(job, settings, print).__enter__()
