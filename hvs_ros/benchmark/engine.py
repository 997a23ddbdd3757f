"""Runs many episodes at the same time, in this process: an event loop, a crew of searchers, threads that draw views.

Each search under way is a coroutine that draws its view in a thread, awaits its searcher, and goes on. So a model
server always has something to do, and a policy that needs no time is given views as fast as the processor draws them.
What an episode comes to does not depend on what else is under way.

A result is on disk before its searcher begins another episode: a kill at any moment loses what was under way and
nothing else. ``stop`` ends the searches under way and waits for a result that is just being written.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass

import cv2

from hvs_ros.benchmark.episodes import Episode
from hvs_ros.benchmark.health import Attempts, Health, MachineryError
from hvs_ros.benchmark.open_scenes import OpenScenes
from hvs_ros.benchmark.record import SearchRecord
from hvs_ros.benchmark.result import EpisodeResult, judge
from hvs_ros.benchmark.results_file import ResultsFile
from hvs_ros.benchmark.run import Listener, Patience, RunReport, pending
from hvs_ros.benchmark.searching import Place, search_once
from hvs_ros.benchmark.tasks import to_its_end, together
from hvs_ros.benchmark.viewing import Viewing
from hvs_ros.policy.crew import Crew, Searcher
from hvs_ros.search.episode import SearchFailure

OpenResults = Callable[[Mapping[str, str]], ResultsFile]
"""Opens the results file, given what the crew tells of itself (``Crew.describe``) once it is open."""


@dataclass(frozen=True)
class EngineSettings:
    """How a run uses the machine; none of it changes a result.

    Attributes:
        in_flight: searches at the same time, at most as many as the crew has searchers.
        memory_mb: for decoded panoramas.
        threads: that draw views, and as many that decode panoramas; 0: one a core.
    """

    in_flight: int
    memory_mb: int = 4096
    threads: int = 0


class BenchEngine:
    """One run over a list of episodes.

    Args:
        episodes: what is run; grouped by scene for it, whatever their order.
        crew: decides; opened when the run begins and closed when it ends.
        viewing: makes the views.
        results: where results are kept, or what opens it once the crew is open; whoever opens it closes it. Episodes
            that are completed there are not run again. None: nowhere.
        listener: is told, in the thread of ``run``.
        settings: how much at once.
        patience: with the machinery.
    """

    def __init__(
        self,
        episodes: Sequence[Episode],
        crew: Crew,
        viewing: Viewing,
        results: ResultsFile | OpenResults | None,
        listener: Listener,
        settings: EngineSettings,
        patience: Patience | None = None,
    ) -> None:
        self._episodes = list(episodes)
        self._crew = crew
        self._viewing = viewing
        self._open_results = results
        self._listener = listener
        self._settings = settings
        self._health = Health(patience or Patience())
        self._results: ResultsFile | None = None
        self._found: dict[str, EpisodeResult] = {}
        self._stopping = threading.Lock()
        self._stopped = False
        self._cancel: Callable[[], object] = _nothing

    def run(self) -> RunReport:
        """Run what is not completed yet, and return how it went. Called once.

        Raises:
            PolicyError: the crew cannot be opened.
            ResultsError: a result cannot be kept, or the file belongs to other episodes.
        """
        gave_up = asyncio.run(self._stoppable())
        ordered = [self._found[e.episode_id] for e in self._episodes if e.episode_id in self._found]
        return RunReport(ordered, self._stopped, gave_up, len(self._episodes))

    def stop(self) -> None:
        """End the run and the searches under way; nothing half-done is written. From any thread."""
        with self._stopping:
            if not self._stopped:
                self._stopped = True
                self._cancel()

    async def _stoppable(self) -> str:
        """Work until it is done or stopped, and return why it was given up, empty where it was not."""
        work = asyncio.create_task(self._work())
        loop = asyncio.get_running_loop()
        with self._stopping:
            self._cancel = lambda: loop.call_soon_threadsafe(work.cancel)
            if self._stopped:
                work.cancel()
        try:
            await work
        except MachineryError as error:
            return str(error)
        except asyncio.CancelledError:
            if not self._stopped:
                raise
        finally:
            with self._stopping:
                self._cancel = _nothing
        return ""

    async def _work(self) -> None:
        async with contextlib.AsyncExitStack() as stack:
            stack.push_async_callback(self._crew.close)
            await self._crew.open()
            self._begin()
            todo = _by_scene(pending(self._episodes, self._results))
            if not todo:
                return
            searchers = [self._crew.searcher() for _ in range(self._at_once(len(todo)))]
            draw, decode = self._threads(stack, len(searchers))
            self._writer = stack.enter_context(ThreadPoolExecutor(1, thread_name_prefix="results"))
            scenes = self._scenes(todo, decode, self._settings.memory_mb)
            stack.push_async_callback(scenes.close)
            shared = enumerate(todo, start=1 + len(self._episodes) - len(todo))
            await together([self._searches(shared, searcher, scenes, draw) for searcher in searchers])

    def _at_once(self, most: int) -> int:
        """Return how many searches are under way at the same time."""
        return max(1, min(self._settings.in_flight, self._crew.size, most))

    def _threads(self, stack: contextlib.AsyncExitStack, at_once: int) -> tuple[Executor, Executor]:
        """Return threads that draw views, and threads that decode panoramas; they end with the stack."""
        count = self._thread_count
        if at_once >= count:
            stack.enter_context(_one_thread_a_view())
        draw = stack.enter_context(ThreadPoolExecutor(count, thread_name_prefix="draw"))
        return draw, stack.enter_context(ThreadPoolExecutor(count, thread_name_prefix="decode"))

    @property
    def _thread_count(self) -> int:
        return self._settings.threads or os.cpu_count() or 1

    def _scenes(self, episodes: Sequence[Episode], decode: Executor, memory_mb: int) -> OpenScenes:
        """Return the scenes of episodes that are run in this order."""
        return OpenScenes(
            [episode.scene for episode in episodes],
            self._viewing,
            decode,
            budget_bytes=memory_mb * 1_000_000,
            ahead=self._thread_count,
            pauses_s=self._health.patience.pauses_s,
        )

    def _begin(self) -> None:
        given = self._open_results
        self._results = given(self._crew.describe()) if callable(given) else given
        if self._results is not None:
            self._results.check(self._episodes)
            ids = {episode.episode_id for episode in self._episodes}
            self._found = {name: result for name, result in self._results.results.items() if name in ids}

    async def _searches(
        self, shared: Iterator[tuple[int, Episode]], searcher: Searcher, scenes: OpenScenes, draw: Executor
    ) -> None:
        """Let one searcher take one episode after the other, as long as there are any."""
        for number, episode in shared:
            self._listener.on_episode(number, len(self._episodes), episode)
            try:
                result = await self._result(episode, searcher, scenes, draw)
            finally:
                scenes.leave(episode.scene)
            await to_its_end(self._keep(result))

    async def _result(self, episode: Episode, searcher: Searcher, scenes: OpenScenes, draw: Executor) -> EpisodeResult:
        """Run an episode until it completes or there is no use in it.

        Raises:
            MachineryError: there is no use in any other either.
        """
        clock = asyncio.get_running_loop()
        attempts = Attempts(self._health)
        while True:
            attempts.begin()
            began = clock.time()
            record = await self._search(episode, searcher, scenes, draw)
            if attempts.ended(record):
                return judge(episode, record, attempts=attempts.made, seconds=clock.time() - began)
            self._listener.on_retry(episode, record, attempts.made)
            await asyncio.sleep(attempts.pause_s)

    async def _search(self, episode: Episode, searcher: Searcher, scenes: OpenScenes, draw: Executor) -> SearchRecord:
        try:
            sampler = await scenes.enter(episode.scene)
        except SearchFailure as failure:
            return SearchRecord(failure.outcome, str(failure))
        return await search_once(episode.task, Place(sampler, draw), episode.start, searcher, self._listener.on_turn)

    async def _keep(self, result: EpisodeResult) -> None:
        if self._results is not None:
            # On disk when it returns, and rounded: a table of these is the table of the file, to the last digit.
            append = self._results.append
            result = await asyncio.get_running_loop().run_in_executor(self._writer, append, result)
        self._found[result.episode_id] = result
        self._listener.on_result(result)


def _by_scene(episodes: Sequence[Episode]) -> list[Episode]:
    """Return the episodes with those of a scene beside each other, scenes in the order of their first one."""
    groups: dict[tuple[object, ...], list[Episode]] = {}
    for episode in episodes:
        groups.setdefault((episode.scene.panorama_path, episode.scene.tilt), []).append(episode)
    return [episode for group in groups.values() for episode in group]


@contextlib.contextmanager
def _one_thread_a_view() -> Iterator[None]:
    """Let OpenCV draw each view with one thread, as there are enough views to draw: it takes less time in all."""
    before = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        yield
    finally:
        cv2.setNumThreads(before)


def _nothing() -> None:
    """There is no run to be cancelled."""
