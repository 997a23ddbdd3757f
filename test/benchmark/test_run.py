"""A run over many episodes: what is repeated, what is skipped, when it ends."""

from __future__ import annotations

from pathlib import Path

from benchmark_builders import SETTINGS, ScriptedBackend, failed, make_episode, submitted

from hvs_ros.benchmark.episodes import Episode
from hvs_ros.benchmark.progress import PlainProgress
from hvs_ros.benchmark.record import SearchRecord
from hvs_ros.benchmark.results_file import ResultsFile, read_results
from hvs_ros.benchmark.run import BenchmarkRun, Listener, Patience
from hvs_ros.search.episode import Outcome

HASTY = Patience(attempts=3, pause_s=0.0, failures_in_a_row=3)


def test_every_episode_runs_once_in_order(tmp_path: Path) -> None:
    episodes = [make_episode(tmp_path, number) for number in range(4)]
    backend = ScriptedBackend(lambda name, _: submitted(91))
    report = BenchmarkRun(episodes, backend).run()
    assert backend.asked == [episode.episode_id for episode in episodes]
    assert [result.episode_id for result in report.results] == backend.asked
    assert report.complete and not report.interrupted and not report.gave_up


def test_a_failure_of_the_machinery_is_tried_again_and_never_scored(tmp_path: Path) -> None:
    def answer(name: str, time: int) -> SearchRecord:
        if name == "hall/1/0" or (name == "hall/0/0" and time < 3):
            return failed(Outcome.VIEW_TIMEOUT)
        return submitted(91)

    path = tmp_path / "results.jsonl"
    episodes = [make_episode(tmp_path, number) for number in range(3)]
    lines: list[str] = []
    with ResultsFile.create(path, SETTINGS) as results:
        report = BenchmarkRun(episodes, ScriptedBackend(answer), results, PlainProgress(lines.append), HASTY).run()
    first, second, third = report.results
    assert (first.attempts, first.scored) == (3, True)
    assert (second.attempts, second.completed, second.scored) == (3, False, False)
    assert third.scored and not report.complete and not report.gave_up
    assert any("NOT SCORED, view timeout" in line for line in lines)
    assert any("success so far 2/2" in line for line in lines)

    # The next run that continues the file tries it once more, and nothing else.
    backend = ScriptedBackend(lambda name, _: submitted(91))
    with ResultsFile.resume(path, SETTINGS) as results:
        report = BenchmarkRun(episodes, backend, results, patience=HASTY).run()
    assert backend.asked == ["hall/1/0"]
    assert report.complete
    assert [result.completed for result in read_results(path)[1].values()] == [True] * 3


def test_broken_machinery_ends_the_run(tmp_path: Path) -> None:
    episodes = [make_episode(tmp_path, number) for number in range(20)]
    backend = ScriptedBackend(lambda *_: failed(Outcome.HEAD_UNAVAILABLE, "no head answers on /head/move"))
    report = BenchmarkRun(episodes, backend, patience=HASTY).run()
    assert len(report.results) == 3 and len(backend.asked) == 9
    assert "3 episodes in a row failed" in report.gave_up
    assert "no head answers on /head/move" in report.gave_up


def test_a_policy_that_is_not_there_ends_the_run_at_once(tmp_path: Path) -> None:
    episodes = [make_episode(tmp_path, number) for number in range(5)]
    backend = ScriptedBackend(lambda *_: failed(Outcome.POLICY_UNAVAILABLE, "install hvs_ros[signs]"))
    report = BenchmarkRun(episodes, backend, patience=HASTY).run()
    assert len(backend.asked) == 1
    assert report.gave_up == "install hvs_ros[signs]"


def test_a_policy_that_raises_is_not_asked_the_same_again(tmp_path: Path) -> None:
    backend = ScriptedBackend(lambda *_: failed(Outcome.POLICY_FAILED, "ZeroDivisionError"))
    report = BenchmarkRun([make_episode(tmp_path)], backend, patience=HASTY).run()
    assert len(backend.asked) == 1 and not report.results[0].scored


def test_a_stopped_run_keeps_what_is_done_and_goes_on_from_there(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    episodes = [make_episode(tmp_path, number) for number in range(4)]
    backend = ScriptedBackend(lambda *_: submitted(91))

    class StopsInTheThird(Listener):
        def on_episode(self, number: int, total: int, episode: Episode) -> None:
            if number == 3:
                run.stop()

    with ResultsFile.create(path, SETTINGS) as results:
        run = BenchmarkRun(episodes, backend, results, StopsInTheThird(), HASTY)
        report = run.run()
    assert report.interrupted and len(report.results) == 2 and not report.complete

    backend = ScriptedBackend(lambda *_: submitted(91))
    with ResultsFile.resume(path, SETTINGS) as results:
        report = BenchmarkRun(episodes, backend, results, patience=HASTY).run()
    assert backend.asked == ["hall/2/0", "hall/3/0"]
    assert report.complete and [result.episode_id for result in report.results] == [e.episode_id for e in episodes]
