"""Many searches at the same time: what a benchmark asks for its decisions.

A policy decides for one search. A server answers many requests at once and a GPU many prompts in a batch, so where that
is so one *crew* holds the model, and each search under way has a *searcher* of it. A policy's class says that it
can be had as a crew by a static method ``crew(settings, size) -> Crew``; every other policy is made once for each
searcher (``hvs_ros.policy.thread_crew``). Which it is nobody asks.

All calls come from one event loop, and what takes long is awaited: pictures are drawn for the other searches meanwhile.
A searcher decides as its policy would, whatever the other searchers do and in whatever order searches are run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from hvs_ros.search.decision import Decision
from hvs_ros.search.task import Task
from hvs_ros.search.view import Observation


class Searcher(Protocol):
    """Decides for one search at a time; its calls are awaited in turn. A cancelled call leaves it fit for ``start``.

    The failures of its calls are SearchFailures: POLICY_UNAVAILABLE where the policy cannot be reached (the search says
    nothing about the policy and is run again), POLICY_FAILED and POLICY_TIMEOUT where it cannot go on.
    """

    async def start(self, task: Task) -> None:
        """Begin a new search and forget the last one."""
        ...

    async def decide(self, observation: Observation) -> Decision:
        """Return what to do, given the view of this turn.

        Args:
            observation: its picture is not kept after the call.
        """
        ...


class Crew(Protocol):
    """Searchers that may search at the same time.

    Attributes:
        size: how many.
    """

    size: int

    async def open(self) -> None:
        """Load the model, or try the server out, once, before the first searcher is asked for.

        Raises:
            PolicyError: a setting that cannot be.
            PolicyUnavailableError: what it needs is not there.
        """
        ...

    def searcher(self) -> Searcher:
        """Return a searcher that nobody else has; asked for at most ``size`` times."""
        ...

    def describe(self) -> Mapping[str, str]:
        """Return facts for the results: model, runtime, prompts and their hash; never a key. After ``open``."""
        ...

    async def close(self) -> None:
        """Release everything; calls under way are cancelled before."""
        ...
