"""One run on several machines: workers search, this process alone hands out episodes and keeps results.

Every result arrives here when its episode has ended, and is on disk before anything else is done with it: when this
process is killed, what is lost is what was under way. A worker that is lost, with its machine or alone, has its
unfinished episodes searched elsewhere; their results arrive from there, and an episode counts once. Results do not
depend on the workers: they are those of ``BenchEngine``, in the same order.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from hvs_ros.benchmark.engine import OpenResults
from hvs_ros.benchmark.episodes import Episode
from hvs_ros.benchmark.handout import Handout
from hvs_ros.benchmark.result import EpisodeResult
from hvs_ros.benchmark.results_file import ResultsFile
from hvs_ros.benchmark.run import Listener, Patience, RunReport, pending
from hvs_ros.benchmark.tidings import Began, Ended, Lost, Noted, Retried, Tiding, Turned, Unfit
from hvs_ros.panorama.scene import Scene

POLL_S = 0.2
SAY_AFTER_S = 10.0
"""Without a worker: it is said then."""


class Workers(Protocol):
    """Who searches (``hvs_ros.benchmark.ray_cluster.RayWorkers``).

    Attributes:
        count: workers that were hired.
        enough: episodes that keep one busy.
    """

    count: int
    enough: int

    @property
    def ready(self) -> list[str]:
        """Workers that take episodes."""
        ...

    @property
    def hired(self) -> int:
        """Workers that are there, or on their way."""
        ...

    def describe(self) -> Mapping[str, str]:
        """Return what their policy tells of itself."""
        ...

    def machine(self, worker: str) -> str:
        """Return where a worker is."""
        ...

    def hired_s(self, worker: str) -> float:
        """Return when it was hired, on the steady clock."""
        ...

    def give(self, worker: str, episodes: Sequence[Episode]) -> None:
        """Let a worker search these too."""
        ...

    def tidings(self, limit_s: float) -> list[tuple[str, Tiding]]:
        """Wait until something has happened, and return it."""
        ...

    def dismiss(self, worker: str, *, replace: bool) -> None:
        """Let a worker go, for another one or for none."""
        ...

    def stop(self) -> None:
        """End the searches of all."""
        ...


class RayRun:
    """One run over a list of episodes, as ``BenchEngine``.

    Args:
        episodes: what is run.
        workers: who searches; ready, and ended by whoever made them.
        results: where results are kept, or what opens it, as for ``BenchEngine``.
        listener: is told, in the thread of ``run``.
        patience: with workers: how many may be lost one after the other, and how long the run goes on without any.
    """

    def __init__(
        self,
        episodes: Sequence[Episode],
        workers: Workers,
        results: ResultsFile | OpenResults | None,
        listener: Listener,
        patience: Patience | None = None,
    ) -> None:
        self._episodes = list(episodes)
        self._by_id = {episode.episode_id: (number, episode) for number, episode in enumerate(self._episodes, start=1)}
        self._workers = workers
        self._open_results = results
        self._results: ResultsFile | None = None
        self._listener = listener
        self._patience = patience or Patience()
        self._found: dict[str, EpisodeResult] = {}
        self._stopped = threading.Event()
        self._gave_up = ""
        self._let_go: set[str] = set()
        self._lost_in_a_row, self._lost_s = 0, 0.0
        self._alone_s: float | None = None
        self._alone_told = False

    def run(self) -> RunReport:
        """Run what is not completed yet, and return how it went. Called once.

        Raises:
            ResultsError: a result cannot be kept, or the file belongs to other episodes.
        """
        self._begin()
        todo = pending(self._episodes, self._results)
        self._handout = Handout(_with_absolute_pictures(todo), self._workers.count)
        while not (self._handout.done or self._gave_up or self._stopped.is_set()):
            for worker in self._workers.ready:
                if episodes := self._handout.take(worker, self._workers.enough):
                    self._workers.give(worker, episodes)
            self._hear(POLL_S)
            self._look_around()
        if not self._handout.done:
            self._workers.stop()
            # What has ended meanwhile is worth keeping.
            self._hear(POLL_S)
        ordered = [self._found[e.episode_id] for e in self._episodes if e.episode_id in self._found]
        return RunReport(ordered, self._stopped.is_set(), self._gave_up, len(self._episodes))

    def stop(self) -> None:
        """End the run and the searches under way; nothing half-done is written. From any thread."""
        self._stopped.set()

    def _begin(self) -> None:
        given = self._open_results
        self._results = given(self._workers.describe()) if callable(given) else given
        if self._results is not None:
            self._results.check(self._episodes)
            self._found = {name: result for name, result in self._results.results.items() if name in self._by_id}

    def _hear(self, limit_s: float) -> None:
        for worker, tiding in self._workers.tidings(limit_s):
            if isinstance(tiding, Ended):
                self._ended(worker, tiding.result)
            elif isinstance(tiding, Began):
                number, episode = self._by_id[tiding.episode_id]
                self._listener.on_episode(number, len(self._episodes), episode)
            elif isinstance(tiding, Turned):
                self._listener.on_turn(tiding.turn)
            elif isinstance(tiding, Retried):
                self._listener.on_retry(self._by_id[tiding.episode_id][1], tiding.record, tiding.attempt)
            elif isinstance(tiding, Noted):
                self._listener.on_note(f"{self._workers.machine(worker)}: {tiding.text}")
            elif isinstance(tiding, Unfit | Lost):
                self._gone(worker, tiding)

    def _ended(self, worker: str, result: EpisodeResult) -> None:
        if not self._handout.ended(worker, result.episode_id):
            return
        if self._results is not None:
            result = self._results.append(result)
        self._found[result.episode_id] = result
        self._lost_in_a_row = 0
        self._listener.on_result(result)

    def _gone(self, worker: str, tiding: Unfit | Lost) -> None:
        """Have what it had searched elsewhere, and decide whether there is any use in that."""
        if worker in self._let_go:
            return
        self._let_go.add(worker)
        now_s = time.monotonic()
        machine, hired_s = self._workers.machine(worker), self._workers.hired_s(worker)
        left = self._handout.lost(worker)
        again = f"; {len(left)} episodes are searched elsewhere" if left else ""
        self._listener.on_note(f"{machine}: {tiding.reason}{again}")
        self._workers.dismiss(worker, replace=isinstance(tiding, Lost))
        if isinstance(tiding, Unfit):
            if tiding.everywhere or not self._workers.hired:
                self._gave_up = f"{machine}: {tiding.reason}"
            return
        if self._lost_in_a_row == 0 or hired_s >= self._lost_s:
            # Those that were there when another one was lost may have gone with it, and are no further sign.
            self._lost_in_a_row += 1
            self._lost_s = now_s
        if self._lost_in_a_row >= self._patience.failures_in_a_row:
            self._gave_up = f"{self._lost_in_a_row} workers in a row were lost; the last: {machine}: {tiding.reason}"

    def _look_around(self) -> None:
        """Give up when there has been no worker for too long: its successors may be waiting for room."""
        now_s = time.monotonic()
        if self._workers.ready:
            self._alone_s, self._alone_told = None, False
            return
        if self._alone_s is None:
            self._alone_s = now_s
        alone_s = now_s - self._alone_s
        if alone_s > SAY_AFTER_S and not self._alone_told:
            self._alone_told = True
            self._listener.on_note("no worker is left; waiting for the cluster to find room for another one")
        if alone_s > self._patience.outage_s:
            self._gave_up = f"there was no worker for {self._patience.outage_s:g} s"


def _with_absolute_pictures(episodes: Sequence[Episode]) -> list[Episode]:
    """Return the episodes as a process in another folder finds their pictures."""
    scenes: dict[int, Scene] = {}
    for scene in (episode.scene for episode in episodes):
        if id(scene) not in scenes:
            scenes[id(scene)] = replace(scene, panorama_path=scene.panorama_path.absolute())
    return [replace(episode, scene=scenes[id(episode.scene)]) for episode in episodes]
