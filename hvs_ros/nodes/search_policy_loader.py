"""Loads the policy when the node starts: the first goal need not wait for it, and it is known early if it cannot."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from hvs_ros.nodes.search_stop import Stop
from hvs_ros.policy.runner import PolicyRunner
from hvs_ros.search.episode import Outcome, SearchFailure

POLL_S = 0.05


class PolicyLoader:
    """Loads in a thread of its own.

    Args:
        runner: owns the policy.
        on_end: is told why it could not be loaded, an empty text if it could; in that thread.
    """

    def __init__(self, runner: PolicyRunner, on_end: Callable[[str], None]) -> None:
        self._runner = runner
        self._on_end = on_end
        self._ended = threading.Event()
        threading.Thread(target=self._run, name="load_policy", daemon=True).start()

    @property
    def ended(self) -> bool:
        """The first attempt has ended, whichever way."""
        return self._ended.is_set()

    def wait(self, stop: Stop, limit_s: float) -> None:
        """Wait until the first attempt has ended, whichever way: a search tries once more.

        Raises:
            SearchFailure: POLICY_UNAVAILABLE, it takes too long; or the search was stopped.
        """
        end = time.monotonic() + limit_s
        while not self._ended.wait(POLL_S):
            stop.check()
            if time.monotonic() > end:
                raise SearchFailure(Outcome.POLICY_UNAVAILABLE, f"the policy was still loading after {limit_s:g} s")

    def _run(self) -> None:
        reason = ""
        try:
            self._runner.load()
        except SearchFailure as failure:
            reason = str(failure)
        self._on_end(reason)
        self._ended.set()
