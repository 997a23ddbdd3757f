"""How a long run is told of: lines at intervals, the rate of late, trouble said once."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmark_builders import failed, make_episode, submitted
from rich.console import Console

from hvs_ros.benchmark.bench_progress import BenchProgress, Standing, clock
from hvs_ros.benchmark.record import SearchRecord
from hvs_ros.benchmark.result import EpisodeResult, judge
from hvs_ros.cli.bench_run_live import BenchLive
from hvs_ros.search.episode import Outcome


class Clock:
    """A clock that a test turns."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


class Told:
    """Lines of a run of so many episodes."""

    def __init__(self, folder: Path, total: int) -> None:
        self.lines: list[str] = []
        self.clock = Clock()
        self.standing = Standing(total, now_s=self.clock)
        self.progress = BenchProgress(self.lines.append, self.standing, now_s=self.clock)
        self._episode = make_episode(folder)

    def result(self, record: SearchRecord | None = None) -> EpisodeResult:
        return judge(self._episode, record or submitted(91))

    def end(self, count: int = 1, record: SearchRecord | None = None) -> None:
        for _ in range(count):
            self.progress.on_result(self.result(record))


@pytest.fixture
def told(tmp_path: Path) -> Told:
    return Told(tmp_path, 1000)


def test_a_line_every_ten_seconds_or_every_twentieth(told: Told) -> None:
    told.standing.begin()
    told.end(49)
    assert told.lines == []
    told.clock.now_s += 5.0
    told.end()
    assert told.lines == ["50/1000 (5 %), 10.0 episodes/s, 1:35 left, success 100.0 % (50/50)"]
    told.clock.now_s += 9.9
    told.end()
    assert len(told.lines) == 1
    told.clock.now_s += 0.2
    told.progress.on_turn(told.result().record.turns[0])  # it does not take an episode to end
    assert len(told.lines) == 2 and told.lines[1].startswith("51/1000 (5 %), 3.4 episodes/s")


def test_the_last_episode_is_always_told(tmp_path: Path) -> None:
    told = Told(tmp_path, 3)
    assert told.standing.parts() == ["loading the policy"]
    told.standing.begin()
    assert told.standing.parts() == []
    told.end(2, submitted(0.0))
    told.end(1)
    assert told.lines[-1].startswith("3/3 (100 %)") and told.lines[-1].endswith("success 33.3 % (1/3)")


def test_hours_do_not_leave_thousands_of_lines(told: Told) -> None:
    turn = told.result().record.turns[0]
    for _ in range(10 * 3600):
        told.clock.now_s += 1.0
        told.progress.on_turn(turn)
    assert 400 < len(told.lines) < 800


def test_what_earlier_runs_have_done_counts_but_not_for_the_rate(told: Told) -> None:
    told.clock.now_s += 60.0  # a model was loaded
    told.standing.begin([told.result() for _ in range(600)] + [told.result(failed(Outcome.HEAD_FAILED))])
    told.clock.now_s += 10.0
    told.end(20)
    assert [line.split(",")[0] for line in told.lines] == ["601/1000 (60 %)"]
    told.clock.now_s += 10.0
    told.end(1)
    assert "621/1000 (62 %), 1.1 episodes/s, 6:01 left" in told.lines[-1]


def test_the_rate_is_that_of_late(told: Told) -> None:
    told.standing.begin()
    told.end(600)
    told.clock.now_s += 3600.0  # nothing for an hour
    assert told.standing.rate == 0.0 and told.standing.left_s is None
    told.end(12)
    assert told.standing.rate == pytest.approx(0.1) and "6.0 episodes/min" in told.standing.parts()


def test_what_fails_in_the_same_moment_is_said_once(told: Told, tmp_path: Path) -> None:
    told.standing.begin()
    episode = make_episode(tmp_path)
    gone = failed(Outcome.POLICY_UNAVAILABLE, "no server\x1b[2J at\nhttp://h:8000")
    for _ in range(64):
        told.progress.on_retry(episode, gone, 1)
    shown = "no server\N{REPLACEMENT CHARACTER}[2J at http://h:8000"
    assert told.lines == [f"hall/0/0: policy unavailable: {shown}; it is run again"]
    told.clock.now_s += 11.0
    told.progress.on_retry(episode, gone, 2)
    assert told.lines[1].endswith("it is run again (and 63 other searches since)")
    told.end(1, gone)
    assert "NOT COMPLETED" in told.lines[2] and "1 NOT COMPLETED" in told.standing.parts()
    assert (told.standing.done, told.standing.failed) == (0, 1)


def test_a_terminal_shows_a_bar(told: Told, tmp_path: Path) -> None:
    console = Console(force_terminal=True, width=100, record=True)
    told.standing.begin()
    with BenchLive(console, told.standing) as live:
        told.clock.now_s += 10.0
        for _ in range(250):
            live.on_result(told.result())
        live.on_retry(make_episode(tmp_path), failed(Outcome.POLICY_UNAVAILABLE, "no server"), 1)
        live.on_note("stopping")
        console.print(live._draw())
    shown = console.export_text()
    assert "250/1000" in shown and "25.0 episodes/s, 0:30 left, success 100.0 % (250/250)" in shown
    assert "policy unavailable: no server; it is run again" in shown and "stopping" in shown


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "0:00"), (75.4, "1:15"), (3600.0, "1:00:00"), (90061.0, "25:01:01")]
)
def test_durations(seconds: float, text: str) -> None:
    assert clock(seconds) == text
