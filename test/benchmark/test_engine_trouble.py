"""Machinery that fails while many episodes run: what is tried again, what is given up, and what is never scored."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest
from benchmark_builders import SETTINGS, failed, submitted
from scripted_crew import HASTY, RIGHT, Log, ScriptedCrew, make_engine, make_episodes, unavailable

from hvs_ros.benchmark.health import LONGEST_PAUSE_S, Attempts, Health, MachineryError
from hvs_ros.benchmark.results_file import ResultsFile, read_results
from hvs_ros.benchmark.run import Patience
from hvs_ros.search.decision import Decision
from hvs_ros.search.episode import Outcome, SearchFailure
from hvs_ros.search.task import Task
from hvs_ros.search.view import Observation


def test_a_server_that_is_gone_for_a_while_costs_no_episode(tmp_path: Path) -> None:
    async def answer(task: Task, observation: Observation) -> Decision:
        if 2 < len(crew.tasks) <= 32:
            raise unavailable()
        return RIGHT

    crew = ScriptedCrew(answer)
    log = Log()
    patience = Patience(attempts=3, pause_s=0.001, failures_in_a_row=3, outage_s=60.0)
    with ResultsFile.create(tmp_path / "results.jsonl", SETTINGS) as file:
        episodes = make_episodes(tmp_path)
        report = make_engine(episodes, crew, log, results=file, patience=patience).run()
    assert report.complete and not report.gave_up and all(result.scored for result in report.results)
    assert len(log.retried) >= 25 and {outcome for _, outcome in log.retried} == {Outcome.POLICY_UNAVAILABLE}
    assert sum(result.attempts for result in report.results) == 12 + len(log.retried) == len(crew.tasks)


def test_a_server_that_does_not_come_back_ends_the_run_and_nothing_is_written_of_its_episodes(tmp_path: Path) -> None:
    async def answer(task: Task, observation: Observation) -> Decision:
        if len(crew.tasks) <= 4:
            return RIGHT
        raise unavailable("no server at http://h100:8000")

    path = tmp_path / "results.jsonl"
    crew, log = ScriptedCrew(answer), Log()
    with ResultsFile.create(path, SETTINGS) as file:
        report = make_engine(make_episodes(tmp_path, each=20), crew, log, results=file).run()
    assert "no server at http://h100:8000" in report.gave_up and "policy unavailable" in report.gave_up
    assert not report.interrupted and not report.complete
    assert [result.completed for result in read_results(path)[1].values()] == [True] * len(report.results)
    assert len(log.retried) >= 2


def test_one_episode_that_fails_while_others_complete_is_left_for_later(tmp_path: Path) -> None:
    async def answer(task: Task, observation: Observation) -> Decision:
        await asyncio.sleep(0.002)
        if task.instruction == "find 1":
            raise unavailable("error 500: this prompt")
        return RIGHT

    path = tmp_path / "results.jsonl"
    episodes = make_episodes(tmp_path, scenes=1, each=40)
    with ResultsFile.create(path, SETTINGS) as file:
        patience = Patience(attempts=3, pause_s=0.0, failures_in_a_row=100, outage_s=60.0)
        report = make_engine(episodes, ScriptedCrew(answer), results=file, patience=patience).run()
    (lost,) = [result for result in report.results if not result.completed]
    assert lost.episode_id == "scene_0/1/45" and not lost.scored and lost.attempts >= 3
    assert len(report.results) == 40 and not report.complete and not report.gave_up

    # The next run that continues the file runs it once more, and nothing else.
    with ResultsFile.resume(path, SETTINGS) as file:
        crew = ScriptedCrew()
        assert make_engine(episodes, crew, results=file).run().complete and crew.tasks == ["find 1"]


def test_a_policy_that_fails_in_one_episode_is_not_asked_again_and_the_run_goes_on(tmp_path: Path) -> None:
    async def answer(task: Task, observation: Observation) -> Decision:
        if task.instruction == "find 2":
            raise SearchFailure(Outcome.POLICY_FAILED, "the prompt is longer than the model's context")
        return RIGHT

    crew = ScriptedCrew(answer)
    report = make_engine(make_episodes(tmp_path, scenes=1, each=6), crew).run()
    assert Counter(crew.tasks)["find 2"] == 1 and not report.gave_up and not report.complete
    assert [result.completed for result in report.results] == [True, True, False, True, True, True]
    assert report.results[2].success is not None and not report.results[2].scored


def test_a_policy_that_fails_in_every_episode_ends_the_run_soon(tmp_path: Path) -> None:
    async def answer(task: Task, observation: Observation) -> Decision:
        await asyncio.sleep(0)
        raise SearchFailure(Outcome.POLICY_FAILED, "ZeroDivisionError")

    crew = ScriptedCrew(answer)
    patience = Patience(failures_in_a_row=3, outage_s=1000.0)
    report = make_engine(make_episodes(tmp_path, each=100), crew, patience=patience).run()
    assert "ZeroDivisionError" in report.gave_up and len(crew.tasks) < 30


def test_a_scene_that_cannot_be_opened_costs_only_its_own_episodes(tmp_path: Path) -> None:
    episodes = make_episodes(tmp_path)
    (tmp_path / "scene_1.png").write_bytes((tmp_path / "scene_1.png").read_bytes()[:2000])
    patience = Patience(attempts=3, pause_s=0.0, failures_in_a_row=3, outage_s=1000.0)
    report = make_engine(episodes, ScriptedCrew(), patience=patience).run()
    lost = [result for result in report.results if not result.completed]
    assert {result.scene for result in lost} == {"scene_1"} and len(lost) == 4 and len(report.results) == 12
    assert all(result.record.outcome is Outcome.HEAD_FAILED for result in lost)
    assert "scene_1.png" in lost[0].record.message and not report.gave_up


class TestHealth:
    def test_failures_of_the_same_moment_are_one(self) -> None:
        clock = [0.0]
        health = Health(Patience(failures_in_a_row=2, outage_s=10.0), lambda: clock[0])
        clock[0] = 5.0
        for _ in range(50):
            health.note_failed(failed(Outcome.POLICY_UNAVAILABLE), began_s=1.0)
        clock[0] = 14.0
        health.note_failed(failed(Outcome.POLICY_UNAVAILABLE), began_s=6.0)  # the second, but not for 10 s yet
        clock[0] = 15.5
        with pytest.raises(MachineryError, match="for 10 s"):
            health.note_failed(failed(Outcome.POLICY_UNAVAILABLE), began_s=14.5)

    def test_mistakes_of_the_policy_end_a_run_sooner_but_not_amid_an_outage(self) -> None:
        clock = [0.0]

        def fail(health: Health, *outcomes: Outcome) -> None:
            for outcome in outcomes:
                clock[0] += 1.0
                health.note_failed(failed(outcome), began_s=clock[0])

        patience = Patience(failures_in_a_row=3, outage_s=1000.0)
        mistake, gone = Outcome.POLICY_FAILED, Outcome.POLICY_UNAVAILABLE
        with pytest.raises(MachineryError):
            fail(Health(patience, lambda: clock[0]), mistake, mistake, mistake)
        health = Health(patience, lambda: clock[0])
        fail(health, gone, mistake, mistake, mistake, gone)
        health.note_completed()
        with pytest.raises(MachineryError):
            fail(health, mistake, mistake, mistake)

    def test_one_that_completes_is_a_new_beginning(self) -> None:
        health = Health(HASTY, lambda: 0.0)
        for _ in range(10):
            health.note_failed(failed(Outcome.POLICY_TIMEOUT), began_s=0.0)
            health.note_failed(failed(Outcome.POLICY_TIMEOUT), began_s=0.0)
            health.note_completed()
        assert health.completed == 10

    def test_an_attempt_counts_against_an_episode_only_while_others_complete(self) -> None:
        clock = [0.0]
        health = Health(Patience(attempts=2, outage_s=1000.0), lambda: clock[0])
        attempts = Attempts(health)
        for others_complete, is_over in ((False, False), (False, False), (True, False), (False, False), (True, True)):
            clock[0] += 1.0
            attempts.begin()
            if others_complete:
                health.note_completed()
            assert attempts.ended(failed(Outcome.POLICY_UNAVAILABLE)) is is_over
        assert attempts.made == 5
        assert Attempts(health).ended(submitted(90.0))

    def test_pauses_grow(self) -> None:
        attempts = Attempts(Health(Patience(pause_s=1.0)))
        pauses = []
        for _ in range(8):
            attempts.begin()
            pauses.append(attempts.pause_s)
        assert (
            0.5 <= pauses[0] <= 1.0 and 4.0 <= pauses[3] <= 8.0 and LONGEST_PAUSE_S / 2 <= pauses[7] <= LONGEST_PAUSE_S
        )
