"""A run on several workers: whatever happens to them, each episode ends once, with the result it has without them.

Here the workers are played; ``test_ray_cluster`` has real ones.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmark_builders import SETTINGS, failed, make_episode, submitted

from hvs_ros.benchmark.episodes import Episode
from hvs_ros.benchmark.progress import PlainProgress
from hvs_ros.benchmark.ray_run import RayRun
from hvs_ros.benchmark.result import judge
from hvs_ros.benchmark.results_file import ResultsFile, read_results
from hvs_ros.benchmark.run import Listener, Patience
from hvs_ros.benchmark.tidings import Began, Ended, Lost, Noted, Retried, Tiding, Turned, Unfit
from hvs_ros.search.episode import Outcome

HASTY = Patience(attempts=3, pause_s=0.0, failures_in_a_row=3, outage_s=0.3)
Script = Callable[["Played", str], list[Tiding]]


class Played:
    """Workers that answer in turn as a script says, each with what it was given (``ray_run.Workers``)."""

    def __init__(self, script: Script, count: int = 2, enough: int = 2) -> None:
        self.count, self.enough = count, enough
        self.given: dict[str, list[Episode]] = {f"w{number}": [] for number in range(count)}
        self.log: list[str] = []
        self.hired_at = dict.fromkeys(self.given, time.monotonic())
        self.stopped = False
        self._script = script

    @property
    def ready(self) -> list[str]:
        return list(self.given)

    @property
    def hired(self) -> int:
        return len(self.given)

    def describe(self) -> Mapping[str, str]:
        return {"model": "played"}

    def machine(self, worker: str) -> str:
        return f"machine of {worker}"

    def hired_s(self, worker: str) -> float:
        return self.hired_at[worker]

    def give(self, worker: str, episodes: Sequence[Episode]) -> None:
        self.given[worker] += episodes
        self.log += [f"{worker} {episode.episode_id}" for episode in episodes]

    def tidings(self, limit_s: float) -> list[tuple[str, Tiding]]:
        told = [(worker, tiding) for worker in list(self.given) for tiding in self._script(self, worker)]
        if not told:
            time.sleep(0.01)
        return told

    def dismiss(self, worker: str, *, replace: bool) -> None:
        del self.given[worker]
        if replace:
            name = f"w{len(self.hired_at)}"
            self.given[name], self.hired_at[name] = [], time.monotonic()

    def stop(self) -> None:
        self.stopped = True

    def end_one(self, worker: str) -> list[Tiding]:
        """Let a worker end the first of its episodes, in a direction that is the episode's own."""
        if not self.given[worker]:
            return []
        episode = self.given[worker].pop(0)
        record = submitted(60.0 + int(episode.episode_id.split("/")[1]))
        turns = [Turned(turn) for turn in record.turns]
        return [Began(episode.episode_id), *turns, Ended(judge(episode, record))]


def make_episodes(folder: Path, count: int = 8) -> list[Episode]:
    return [make_episode(folder, number) for number in range(count)]


def lines_of(path: Path) -> list[str]:
    return path.read_text().splitlines()[1:]


def test_results_are_in_the_order_of_the_episodes_whoever_ended_them_when(tmp_path: Path) -> None:
    episodes = make_episodes(tmp_path)

    def script(workers: Played, worker: str) -> list[Tiding]:
        return workers.end_one(worker) if worker == "w1" or not workers.given["w1"] else []

    lines: list[str] = []
    path = tmp_path / "results.jsonl"
    opened: list[Mapping[str, str]] = []

    def open_results(facts: Mapping[str, str]) -> ResultsFile:
        opened.append(facts)
        return ResultsFile.create(path, SETTINGS)

    report = RayRun(episodes, Played(script), open_results, PlainProgress(lines.append), HASTY).run()
    assert [result.episode_id for result in report.results] == [episode.episode_id for episode in episodes]
    assert [result.record.submitted.yaw_deg for result in report.results if result.record.submitted] == [
        60.0 + number for number in range(8)
    ]
    assert report.complete and not report.interrupted and not report.gave_up
    assert opened == [{"model": "played"}], "the file is opened with what the policy tells of itself"
    assert len(lines_of(path)) == 8
    assert any(line.startswith("[8/8] hall/7/0") for line in lines) and any("turn 2" in line for line in lines)


def test_a_lost_worker_s_episodes_are_searched_elsewhere_and_none_is_kept_twice(tmp_path: Path) -> None:
    lost: list[Episode] = []

    def script(workers: Played, worker: str) -> list[Tiding]:
        if worker == "w0" and len(workers.given["w0"]) >= 2:
            ended = workers.end_one(worker)
            lost[:] = workers.given["w0"]
            late = Ended(judge(lost[0], submitted(0.0)))
            return [*ended, Lost("its process has gone"), late, Lost("and again")]
        return workers.end_one(worker)

    notes: list[str] = []
    path = tmp_path / "results.jsonl"
    with ResultsFile.create(path, SETTINGS) as results:
        workers = Played(script)
        report = RayRun(make_episodes(tmp_path), workers, results, PlainProgress(notes.append), HASTY).run()
    assert report.complete and lost
    assert len(lines_of(path)) == 8, "each once"
    assert [result.record.submitted.yaw_deg for result in report.results if result.record.submitted] == [
        60.0 + number for number in range(8)
    ]
    for episode in lost:
        assert len([entry for entry in workers.log if entry.endswith(f" {episode.episode_id}")]) == 2
    note = f"machine of w0: its process has gone; {len(lost)} episodes are searched elsewhere"
    assert note in notes


def test_workers_that_are_lost_one_after_the_other_end_the_run(tmp_path: Path) -> None:
    def script(workers: Played, worker: str) -> list[Tiding]:
        return [Lost("its process has gone")] if workers.given[worker] else []

    workers = Played(script, count=1)
    report = RayRun(make_episodes(tmp_path), workers, None, Listener(), HASTY).run()
    assert "3 workers in a row were lost" in report.gave_up and "its process has gone" in report.gave_up
    assert not report.results and workers.stopped and len(workers.hired_at) == 4


def test_workers_that_are_lost_together_are_one_loss(tmp_path: Path) -> None:
    def script(workers: Played, worker: str) -> list[Tiding]:
        if worker in ("w0", "w1", "w2", "w3", "w4"):
            return [Lost("the machine does not answer")]
        return workers.end_one(worker)

    report = RayRun(make_episodes(tmp_path), Played(script, count=5), None, Listener(), HASTY).run()
    assert report.complete and not report.gave_up


def test_a_worker_that_cannot_is_let_go_and_the_last_one_ends_the_run(tmp_path: Path) -> None:
    def script(workers: Played, worker: str) -> list[Tiding]:
        if worker == "w0":
            return [Unfit("/data: No such file or directory")]
        if worker == "w1" and len(workers.log) > 8:
            return [Unfit("no server answers")]
        return workers.end_one(worker)

    notes: list[str] = []
    workers = Played(script)
    report = RayRun(make_episodes(tmp_path), workers, None, PlainProgress(notes.append), HASTY).run()
    assert report.gave_up == "machine of w1: no server answers"
    assert 0 < len(report.results) < 8 and len(workers.hired_at) == 2, "nobody takes their place"
    assert any(note.startswith("machine of w0: /data: No such file") for note in notes)


def test_a_run_without_any_worker_waits_for_a_while_and_ends(tmp_path: Path) -> None:
    class Alone(Played):
        @property
        def ready(self) -> list[str]:
            return []

        @property
        def hired(self) -> int:
            return 1

    began = time.monotonic()
    report = RayRun(make_episodes(tmp_path), Alone(lambda *_: []), None, Listener(), HASTY).run()
    assert report.gave_up == "there was no worker for 0.3 s" and time.monotonic() - began < 5


def test_a_failed_episode_is_kept_as_what_it_is_and_retries_are_told(tmp_path: Path) -> None:
    def script(workers: Played, worker: str) -> list[Tiding]:
        if not workers.given[worker] or workers.given[worker][0].episode_id != "hall/3/0":
            return workers.end_one(worker)
        episode = workers.given[worker].pop(0)
        record = failed(Outcome.POLICY_FAILED, "ZeroDivisionError")
        retried = Retried(episode.episode_id, record, 1)
        return [Began(episode.episode_id), retried, Noted("careful"), Ended(judge(episode, record, attempts=2))]

    lines: list[str] = []
    report = RayRun(make_episodes(tmp_path), Played(script), None, PlainProgress(lines.append), HASTY).run()
    assert [result.episode_id for result in report.results if not result.completed] == ["hall/3/0"]
    assert len(report.results) == 8 and not report.complete and not report.gave_up
    assert any("attempt 1: policy failed: ZeroDivisionError" in line for line in lines)
    assert any(line.endswith(": careful") and line.startswith("machine of w") for line in lines)


def test_a_stopped_run_keeps_what_has_ended_and_goes_on_from_there(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    episodes = make_episodes(tmp_path)

    class StopsAfterThree(Listener):
        count = 0

        def on_result(self, result: object) -> None:
            self.count += 1
            if self.count == 3:
                run.stop()

    workers = Played(Played.end_one)
    with ResultsFile.create(path, SETTINGS) as results:
        run = RayRun(episodes, workers, results, StopsAfterThree(), HASTY)
        report = run.run()
    assert report.interrupted and workers.stopped and 3 <= len(report.results) < 8
    done = set(read_results(path)[1])
    assert {result.episode_id for result in report.results} == done

    workers = Played(Played.end_one)
    with ResultsFile.resume(path, SETTINGS) as results:
        report = RayRun(episodes, workers, results, Listener(), HASTY).run()
    assert report.complete and len(lines_of(path)) == 8
    assert not done & {entry.split()[1] for entry in workers.log}, "nothing is searched twice"
