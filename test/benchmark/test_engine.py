"""Many episodes at once: decisions as one by one, every result kept, in order whatever happens."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benchmark_builders import SETTINGS
from scripted_crew import RIGHT, VIEWING, Log, ScriptedCrew, make_engine, make_episodes

from hvs_ros.benchmark.in_process import InProcessBackend, SceneHead
from hvs_ros.benchmark.result import EpisodeResult
from hvs_ros.benchmark.results_file import ResultsError, ResultsFile, read_results
from hvs_ros.benchmark.run import BenchmarkRun
from hvs_ros.panorama.surroundings import Workshop
from hvs_ros.policy.contract import PolicyUnavailableError
from hvs_ros.policy.crews import make_crew
from hvs_ros.policy.registry import create_policy
from hvs_ros.search.action import Rotate
from hvs_ros.search.decision import Decision
from hvs_ros.search.episode import TurnTimes
from hvs_ros.search.task import Task
from hvs_ros.search.view import Observation


def without_times(result: EpisodeResult) -> EpisodeResult:
    turns = tuple(replace(turn, times=TurnTimes()) for turn in result.record.turns)
    return replace(result, record=replace(result.record, turns=turns), seconds=0.0, ended="")


@pytest.mark.parametrize("in_flight", [1, 16])
def test_decisions_and_records_are_those_of_one_search_after_the_other(tmp_path: Path, in_flight: int) -> None:
    episodes = make_episodes(tmp_path, scenes=3, each=8)
    head = SceneHead(Workshop("", VIEWING.camera, VIEWING.sampling, 1, 100))
    with InProcessBackend(lambda: create_policy("random", {"seed": 3}), head) as backend:
        one_by_one = BenchmarkRun(episodes, backend).run()
    crew = make_crew("random", {"seed": 3}, in_flight)
    at_once = make_engine(episodes, crew, in_flight=in_flight).run()
    assert at_once.complete and len(at_once.results) == 24
    assert [without_times(result) for result in at_once.results] == [
        without_times(result) for result in one_by_one.results
    ]
    assert all(result.record.turns[0].picture == "64x36, exact, green cross" for result in at_once.results)


def test_what_the_policy_sees_is_the_view_with_the_cross(tmp_path: Path) -> None:
    seen = []

    async def look(task: Task, observation: Observation) -> Decision:
        seen.append((observation.turn, observation.image[18, 32].tolist(), str(observation.direction)))
        return RIGHT if observation.turn == 2 else Decision(Rotate(400.0, 100.0))

    report = make_engine(make_episodes(tmp_path, scenes=1, each=1), ScriptedCrew(look)).run()
    assert seen == [(1, [0, 255, 0], "(0.0, 0.0)"), (2, [0, 255, 0], "(40.0, 90.0)")]
    assert report.results[0].record.turns[0].after.pitch_deg == 90.0


def test_as_many_are_under_way_as_may_be_and_scenes_come_one_after_the_other(tmp_path: Path) -> None:
    together = threading.Barrier(4)

    async def wait_for_the_others(task: Task, observation: Observation) -> Decision:
        await asyncio.get_running_loop().run_in_executor(None, together.wait, 20)
        return RIGHT

    episodes = make_episodes(tmp_path, scenes=3, each=4)
    crew, log = ScriptedCrew(wait_for_the_others, size=4), Log()
    report = make_engine(episodes, crew, log, in_flight=64).run()
    assert crew.most == 4 and crew.events == ["opened", "closed"]
    assert [name.split("/")[0] for name in log.begun] == ["scene_0"] * 4 + ["scene_1"] * 4 + ["scene_2"] * 4
    # As they were given, not as they were run.
    assert [result.episode_id for result in report.results] == [episode.episode_id for episode in episodes]


def test_results_are_kept_one_by_one_and_not_searched_again(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    episodes = make_episodes(tmp_path)
    facts: list[Any] = []

    class Breaks(Log):
        def on_result(self, result: EpisodeResult) -> None:
            super().on_result(result)
            assert result.episode_id in read_results(path)[1]  # on disk before anybody is told
            if len(self.results) == 5:
                raise RuntimeError("the listener breaks")

    with ExitStack() as files:

        def begin(described: Any) -> ResultsFile:
            facts.append(described)
            return files.enter_context(ResultsFile.create(path, SETTINGS))

        crew, log = ScriptedCrew(), Breaks()
        with pytest.raises(RuntimeError, match="the listener breaks"):
            make_engine(episodes, crew, log, results=begin).run()
    assert facts == [{"model": "scripted"}] and crew.events == ["opened", "closed"]
    kept = set(read_results(path)[1])
    assert {result.episode_id for result in log.results} <= kept and 5 <= len(kept) <= 8

    with ResultsFile.resume(path, SETTINGS) as file:
        crew, log = ScriptedCrew(), Log()
        report = make_engine(episodes, crew, log, results=file).run()
        assert report.complete and [r.episode_id for r in report.results] == [e.episode_id for e in episodes]
        assert not kept & set(log.begun) and len(log.begun) == len(episodes) - len(kept)
        # With nothing left to do nobody searches.
        crew = ScriptedCrew()
        assert make_engine(episodes, crew, results=file).run().complete and not crew.tasks
    lines = path.read_text().splitlines()
    assert len(lines) == 1 + len(episodes)


def test_a_crew_that_cannot_be_opened_leaves_no_results_file(tmp_path: Path) -> None:
    class Missing(ScriptedCrew):
        async def open(self) -> None:
            raise PolicyUnavailableError("no server at http://h")

    crew = Missing()
    path = tmp_path / "results.jsonl"
    with pytest.raises(PolicyUnavailableError, match="no server"):
        make_engine(make_episodes(tmp_path), crew, results=lambda _: ResultsFile.create(path, SETTINGS)).run()
    assert crew.events == ["closed"] and not path.exists()


def test_a_result_that_cannot_be_written_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def hang(task: Task, observation: Observation) -> Decision:
        if task.instruction != "find 0":
            await asyncio.sleep(60)
        return RIGHT

    def full(file: ResultsFile, result: EpisodeResult) -> EpisodeResult:
        raise ResultsError("no space left on the device")

    monkeypatch.setattr(ResultsFile, "append", full)
    crew = ScriptedCrew(hang)
    file = ResultsFile.create(tmp_path / "results.jsonl", SETTINGS)
    with file, pytest.raises(ResultsError, match="no space"):
        make_engine(make_episodes(tmp_path), crew, results=file).run()
    assert crew.events == ["opened", "closed"] and crew.canceled == 3


class TestStop:
    def test_ends_the_searches_under_way_and_leaves_nothing_behind(self, tmp_path: Path) -> None:
        under_way = threading.Event()

        async def hang(task: Task, observation: Observation) -> Decision:
            if task.instruction == "find 0":
                return RIGHT
            if crew.busy == 4:
                under_way.set()
            await asyncio.sleep(60)
            raise AssertionError("not canceled")

        episodes = make_episodes(tmp_path)
        crew = ScriptedCrew(hang, size=4)
        before = set(threading.enumerate())
        path = tmp_path / "results.jsonl"
        with ResultsFile.create(path, SETTINGS) as file:
            engine = make_engine(episodes, crew, results=file)
            stopper = threading.Thread(target=lambda: (under_way.wait(20), engine.stop(), engine.stop()))
            stopper.start()
            report = engine.run()
            stopper.join()
        assert report.interrupted and not report.gave_up and not report.complete
        assert crew.canceled == 4 and crew.busy == 0 and crew.events == ["opened", "closed"]
        assert [result.episode_id for result in report.results] == list(read_results(path)[1])
        assert all(result.completed for result in report.results) and len(report.results) < len(episodes)
        assert set(threading.enumerate()) == before

    def test_before_it_began_or_while_the_crew_opens(self, tmp_path: Path) -> None:
        class Slow(ScriptedCrew):
            async def open(self) -> None:
                engine.stop()
                await asyncio.sleep(60)

        crew = Slow()
        engine = make_engine(make_episodes(tmp_path), crew)
        assert engine.run().interrupted and crew.events == ["closed"]
        engine = make_engine(make_episodes(tmp_path), ScriptedCrew())
        engine.stop()
        report = engine.run()
        assert report.interrupted and report.results == [] and report.total == 12

    def test_waits_for_a_result_that_is_being_written(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write = ResultsFile.append

        def slow(file: ResultsFile, result: EpisodeResult) -> EpisodeResult:
            engine.stop()
            time.sleep(0.2)
            return write(file, result)

        monkeypatch.setattr(ResultsFile, "append", slow)
        path = tmp_path / "results.jsonl"
        with ResultsFile.create(path, SETTINGS) as file:
            log = Log()
            engine = make_engine(make_episodes(tmp_path), ScriptedCrew(size=1), log, results=file)
            report = engine.run()
        assert report.interrupted and len(report.results) == 1
        assert list(read_results(path)[1]) == [report.results[0].episode_id] == [log.results[0].episode_id]


def test_an_error_that_nobody_expects_is_not_hidden(tmp_path: Path) -> None:
    async def bug(task: Task, observation: Observation) -> Decision:
        raise ZeroDivisionError("a bug in a crew")

    crew = ScriptedCrew(bug)
    with pytest.raises(ZeroDivisionError):
        make_engine(make_episodes(tmp_path), crew).run()
    assert crew.events == ["opened", "closed"]
