"""The reason why a search must end, from whichever thread it comes.

The search waits in one place at a time: for the policy, for the head, or for a view. A stop wakes all of them; each
raises the reason, and the first reason stays.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from hvs_ros.policy.runner import PolicyRunner
from hvs_ros.search.decision import Decision
from hvs_ros.search.episode import Outcome, SearchFailure
from hvs_ros.search.task import Task
from hvs_ros.search.view import Observation


class Stop:
    """Belongs to one search.

    Args:
        changed: what the search waits on.
        wake: ends the policy's wait.
    """

    def __init__(self, changed: threading.Condition, wake: Callable[[], None]) -> None:
        self._changed = changed
        self._wake = wake
        self._over = False
        self.failure: SearchFailure | None = None

    def set(self, outcome: Outcome, message: str) -> None:
        """End the search; without effect when it is over or being stopped already."""
        with self._changed:
            if self._over or self.failure is not None:
                return
            self.failure = SearchFailure(outcome, message)
            self._wake()
            self._changed.notify_all()

    def check(self) -> None:
        """Raise the reason if there is one.

        Raises:
            SearchFailure: the search was stopped.
        """
        if self.failure is not None:
            raise SearchFailure(self.failure.outcome, str(self.failure))

    def finish(self) -> None:
        """The search is over: later reasons must not reach the next one."""
        with self._changed:
            self._over = True


class StoppableDecider:
    """A policy whose cancellation carries the real reason."""

    def __init__(self, runner: PolicyRunner, stop: Stop) -> None:
        self._runner = runner
        self._stop = stop

    def start(self, task: Task) -> None:
        """Begin a new search."""
        try:
            self._runner.start(task)
        except SearchFailure as failure:
            self._raise(failure)

    def decide(self, observation: Observation) -> Decision:
        """Decide one turn."""
        try:
            return self._runner.decide(observation)
        except SearchFailure as failure:
            self._raise(failure)
            raise

    def _raise(self, failure: SearchFailure) -> None:
        if failure.outcome is Outcome.CANCELED:
            self._stop.check()
        raise failure
