"""Runs episodes one after the other, through whatever can run one, and keeps every result at once.

A failure of the machinery (no head, no view, a policy that cannot be reached) says nothing about the policy's answers.
Such an episode is tried again a few times, then written down as what it is, never as a failed search, and the next run
that continues the file tries it once more. When several episodes in a row fail like that, something is broken for good
and the run ends instead of going through hundreds of them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from hvs_ros.benchmark.episodes import Episode
from hvs_ros.benchmark.record import SearchRecord, TurnRecord
from hvs_ros.benchmark.result import EpisodeResult, judge
from hvs_ros.benchmark.results_file import ResultsFile
from hvs_ros.search.episode import Outcome


class Listener:
    """Is told how a run goes, from the threads of the run. Override what is of interest."""

    def on_episode(self, number: int, total: int, episode: Episode) -> None:
        """An episode begins; the first is number 1."""

    def on_turn(self, turn: TurnRecord) -> None:
        """A turn of the present episode is complete."""

    def on_retry(self, episode: Episode, record: SearchRecord, attempt: int) -> None:
        """The machinery failed and the episode is run again."""

    def on_result(self, result: EpisodeResult) -> None:
        """An episode has ended for good, and its result is kept."""

    def on_note(self, text: str) -> None:
        """Something a person should know, in one line."""


class Listeners(Listener):
    """Tells several, in order."""

    def __init__(self, *listeners: Listener) -> None:
        self._listeners = listeners

    def on_episode(self, number: int, total: int, episode: Episode) -> None:
        """Tell all."""
        for listener in self._listeners:
            listener.on_episode(number, total, episode)

    def on_turn(self, turn: TurnRecord) -> None:
        """Tell all."""
        for listener in self._listeners:
            listener.on_turn(turn)

    def on_retry(self, episode: Episode, record: SearchRecord, attempt: int) -> None:
        """Tell all."""
        for listener in self._listeners:
            listener.on_retry(episode, record, attempt)

    def on_result(self, result: EpisodeResult) -> None:
        """Tell all."""
        for listener in self._listeners:
            listener.on_result(result)

    def on_note(self, text: str) -> None:
        """Tell all."""
        for listener in self._listeners:
            listener.on_note(text)


class Backend(Protocol):
    """Can run one episode: in this process, or through the ROS graph."""

    def run(self, episode: Episode, listener: Listener) -> SearchRecord:
        """Run it and return what happened; failures are in the record, not raised."""
        ...

    def cancel(self) -> None:
        """End the search under way (CANCELED), and every later one at once; from any thread."""
        ...


@dataclass(frozen=True)
class Patience:
    """How long a run puts up with machinery that fails.

    Attributes:
        attempts: how often an episode is run before it is reported as failed.
        pause_s: between two attempts; where many searches run at once, doubled after each.
        failures_in_a_row: after so many episodes in a row without a completed search the run ends.
        outage_s: where many searches run at once, not before nothing has completed for so long: a server that is
            started again takes its time.
    """

    attempts: int = 3
    pause_s: float = 1.0
    failures_in_a_row: int = 3
    outage_s: float = 180.0

    @property
    def pauses_s(self) -> list[float]:
        """Before the second attempt and each further one, doubled each time."""
        return [self.pause_s * 2.0**number for number in range(self.attempts - 1)]


@dataclass(frozen=True)
class RunReport:
    """How a run ended.

    Attributes:
        results: of all episodes that have one, earlier runs included, in the order of the episodes.
        interrupted: the user stopped it.
        gave_up: why the run ended before its last episode; empty when it did not.
        total: how many episodes were asked for.
    """

    results: list[EpisodeResult]
    interrupted: bool = False
    gave_up: str = ""
    total: int = 0

    @property
    def complete(self) -> bool:
        """Every episode ran to its end."""
        return len(self.results) == self.total and all(result.completed for result in self.results)


FINAL = frozenset({Outcome.CANCELED, Outcome.POLICY_FAILED, Outcome.POLICY_UNAVAILABLE})
"""Failures that another attempt would only repeat (or that the user asked for)."""


def pending(episodes: list[Episode], results: ResultsFile | None) -> list[Episode]:
    """Return the episodes that have not been completed yet."""
    done = {} if results is None else results.results
    return [episode for episode in episodes if not (episode.episode_id in done and done[episode.episode_id].completed)]


@dataclass
class BenchmarkRun:
    """One run over a list of episodes.

    Attributes:
        episodes: in the order in which they are run.
        backend: runs them.
        results: where results are kept; episodes that are completed there are not run again. None: nowhere.
        listener: is told.
        patience: with the machinery.
    """

    episodes: list[Episode]
    backend: Backend
    results: ResultsFile | None = None
    listener: Listener = field(default_factory=Listener)
    patience: Patience = field(default_factory=Patience)
    _stopped: threading.Event = field(default_factory=threading.Event)

    def stop(self) -> None:
        """End the run after canceling the search under way; from any thread or a signal handler."""
        self._stopped.set()
        self.backend.cancel()

    def run(self) -> RunReport:
        """Run what is not completed yet, and return how it went.

        Raises:
            ResultsError: a result cannot be kept, or the file belongs to other episodes.
        """
        found = self._earlier()
        failures = 0
        gave_up = ""
        for number, episode in enumerate(self.episodes, start=1):
            if self._stopped.is_set() or gave_up:
                break
            if episode.episode_id in found and found[episode.episode_id].completed:
                continue
            self.listener.on_episode(number, len(self.episodes), episode)
            result = self._episode(episode)
            if result.record.outcome is Outcome.CANCELED and self._stopped.is_set():
                break  # nobody's failure: it is run again when the run is continued
            if self.results is not None:
                # A table of these is the table of the file, to the last digit.
                result = self.results.append(result)
            found[episode.episode_id] = result
            self.listener.on_result(result)
            failures = 0 if result.completed else failures + 1
            gave_up = self._gives_up(result, failures)
        ordered = [found[episode.episode_id] for episode in self.episodes if episode.episode_id in found]
        return RunReport(ordered, self._stopped.is_set(), gave_up, len(self.episodes))

    def _earlier(self) -> dict[str, EpisodeResult]:
        if self.results is None:
            return {}
        self.results.check(self.episodes)
        ids = {episode.episode_id for episode in self.episodes}
        return {name: result for name, result in self.results.results.items() if name in ids}

    def _episode(self, episode: Episode) -> EpisodeResult:
        for attempt in _count(self.patience.attempts):
            began = time.monotonic()
            record = self.backend.run(episode, self.listener)
            seconds = time.monotonic() - began
            last = attempt == self.patience.attempts
            if record.outcome.completed or record.outcome in FINAL or last or self._stopped.is_set():
                break
            self.listener.on_retry(episode, record, attempt)
            self._stopped.wait(self.patience.pause_s)
        return judge(episode, record, attempts=attempt, seconds=seconds)

    def _gives_up(self, result: EpisodeResult, failures: int) -> str:
        record = result.record
        if record.outcome is Outcome.POLICY_UNAVAILABLE:
            return record.message or record.outcome.value
        if failures >= self.patience.failures_in_a_row:
            return f"{failures} episodes in a row failed; the last: {record.outcome.value}: {record.message}"
        return ""


def _count(last: int) -> Iterable[int]:
    return range(1, max(1, last) + 1)
