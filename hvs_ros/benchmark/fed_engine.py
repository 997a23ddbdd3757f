"""An engine that is given its episodes bit by bit, by whoever hands them out to several of them.

Its crew is opened once, and searchers go from one lot of episodes to the next without waiting for the last of a lot to
end: a model that is kept busy is the point of having many searches at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor

from hvs_ros.benchmark.engine import BenchEngine, EngineSettings
from hvs_ros.benchmark.episodes import Episode
from hvs_ros.benchmark.open_scenes import OpenScenes
from hvs_ros.benchmark.run import Listener, Patience
from hvs_ros.benchmark.tasks import together
from hvs_ros.benchmark.viewing import Viewing
from hvs_ros.policy.crew import Crew, Searcher

LOTS_AT_ONCE = 2
"""While the last episodes of a lot are searched, the next one begins; each has its part of the memory for panoramas."""


class FedEngine(BenchEngine):
    """Runs what it is given until it is told that there is no more (see ``BenchEngine``; it keeps no results file).

    Args:
        crew: as for ``BenchEngine``, and so the following.
        viewing: makes the views.
        listener: is told, in the thread of ``run``.
        settings: how much at once.
        patience: with the machinery.
        on_open: is told what the crew tells of itself and how many searches run at once, when it is open.
    """

    def __init__(
        self,
        crew: Crew,
        viewing: Viewing,
        listener: Listener,
        settings: EngineSettings,
        patience: Patience,
        on_open: Callable[[Mapping[str, str], int], None],
    ) -> None:
        super().__init__([], crew, viewing, None, listener, settings, patience)
        self._on_open = on_open
        self._feeding = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._early: list[Sequence[Episode] | None] = []
        self._lots: list[OpenScenes] = []

    def give(self, episodes: Sequence[Episode] | None) -> None:
        """Run these too; None: there are no more, so that ``run`` returns when all have ended. From any thread."""
        with self._feeding:
            if self._loop is None:
                self._early.append(episodes)
            elif not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._add, episodes)

    async def _work(self) -> None:
        async with contextlib.AsyncExitStack() as stack:
            stack.push_async_callback(self._crew.close)
            await self._crew.open()
            searchers = [self._crew.searcher() for _ in range(self._at_once(self._crew.size))]
            draw, self._decode = self._threads(stack, len(searchers))
            stack.push_async_callback(self._close_scenes)
            self._agenda: asyncio.Queue[tuple[Episode, OpenScenes] | None] = asyncio.Queue()
            self._on_open(self._crew.describe(), len(searchers))
            with self._feeding:
                self._loop = asyncio.get_running_loop()
                for episodes in self._early:
                    self._add(episodes)
            await together([self._serves(searcher, draw) for searcher in searchers])

    def _add(self, episodes: Sequence[Episode] | None) -> None:
        if episodes is None:
            self._agenda.put_nowait(None)
            return
        scenes = self._scenes(episodes, self._decode, self._settings.memory_mb // LOTS_AT_ONCE)
        self._lots.append(scenes)
        for episode in episodes:
            self._agenda.put_nowait((episode, scenes))

    async def _close_scenes(self) -> None:
        for scenes in self._lots:
            await scenes.close()

    async def _serves(self, searcher: Searcher, draw: Executor) -> None:
        while (given := await self._agenda.get()) is not None:
            episode, scenes = given
            await self._searches(iter([(1, episode)]), searcher, scenes, draw)
        self._agenda.put_nowait(None)  # for the others
