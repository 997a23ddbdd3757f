"""Any policy as a crew: each searcher has a policy of its own, and calls it in a thread.

A policy decides for one search at a time and may block, so as many are made as search at once. Each is run as in every
other search (``hvs_ros.policy.runner``): with deadlines, cancellable, its failures named.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from hvs_ros.policy.contract import Policy, PolicyError
from hvs_ros.policy.runner import PolicyRunner
from hvs_ros.search.decision import Decision
from hvs_ros.search.episode import SearchFailure
from hvs_ros.search.task import Task
from hvs_ros.search.view import Observation

T = TypeVar("T")


class ThreadCrew:
    """Policies in threads (see ``hvs_ros.policy.crew.Crew``).

    Args:
        create: makes a policy; called once for each searcher that is used, in a thread.
        size: how many searchers there may be.
        deadline_s: limit for one decision.
    """

    def __init__(self, create: Callable[[], Policy], size: int = 1, *, deadline_s: float = 120.0) -> None:
        self.size = size
        self._create = create
        self._deadline_s = deadline_s
        # Beside each call that is under way there may be one that cancels it. Threads are made when they are needed.
        self._pool = ThreadPoolExecutor(2 * size, thread_name_prefix="crew")
        self._first = self._made()
        self._searchers: list[ThreadSearcher] = []

    async def open(self) -> None:
        """Make the first policy, so that one that cannot be made is known before anything is searched.

        Raises:
            PolicyError: why not.
        """
        try:
            await self._first.load()
        except SearchFailure as failure:
            if isinstance(failure.__cause__, PolicyError):
                raise failure.__cause__ from failure
            raise PolicyError(str(failure)) from failure

    def searcher(self) -> ThreadSearcher:
        """Return a searcher that nobody else has.

        Raises:
            RuntimeError: all ``size`` of them are out.
        """
        if len(self._searchers) == self.size:
            raise RuntimeError(f"all {self.size} searchers of this crew are out")
        self._searchers.append(self._made() if self._searchers else self._first)
        return self._searchers[-1]

    def describe(self) -> Mapping[str, str]:
        """Return what the policy tells of itself."""
        return self._first.describe()

    async def close(self) -> None:
        """Close every policy."""
        await asyncio.gather(*(searcher.close() for searcher in dict.fromkeys([self._first, *self._searchers])))
        self._pool.shutdown()

    def _made(self) -> ThreadSearcher:
        return ThreadSearcher(PolicyRunner(self._create, deadline_s=self._deadline_s), self._pool)


class ThreadSearcher:
    """One policy in a thread (see ``hvs_ros.policy.crew.Searcher``).

    Args:
        runner: has the policy.
        pool: has a thread for a call and one for its cancellation.
    """

    def __init__(self, runner: PolicyRunner, pool: ThreadPoolExecutor) -> None:
        self._runner = runner
        self._pool = pool

    async def load(self) -> None:
        """Make the policy.

        Raises:
            SearchFailure: POLICY_UNAVAILABLE with the reason.
        """
        await self._call(self._runner.load)

    async def start(self, task: Task) -> None:
        """Begin a new search and forget the last one."""
        await self._call(self._runner.start, task)

    async def decide(self, observation: Observation) -> Decision:
        """Return what to do, given the view of this turn."""
        return await self._call(self._runner.decide, observation)

    def describe(self) -> Mapping[str, str]:
        """Return what the policy tells of itself."""
        return self._runner.describe()

    async def close(self) -> None:
        """Close the policy."""
        await asyncio.get_running_loop().run_in_executor(self._pool, self._runner.close)

    async def _call(self, function: Callable[..., T], *arguments: Any) -> T:
        """Call it in a thread; when this is cancelled, return only once the thread is free again.

        Raises:
            SearchFailure: what it raises.
        """
        loop = asyncio.get_running_loop()
        call = loop.run_in_executor(self._pool, lambda: function(*arguments))
        try:
            return await asyncio.shield(call)
        except asyncio.CancelledError:
            await loop.run_in_executor(self._pool, self._runner.cancel)
            await asyncio.wait([call])
            self._runner.reset()
            error = call.exception()
            if error is not None and not isinstance(error, SearchFailure):
                raise error from None
            raise
