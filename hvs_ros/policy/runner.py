"""Runs a policy at arm's length: with a deadline, cancellable, and with every way it can fail given a name.

``decide`` may take long, raise, or never return, and Python cannot stop a thread. So each call runs in a worker thread
that is waited for; when the deadline passes or the search is canceled, the wait ends and the late answer is dropped.
The next search gives an abandoned call a moment to come back; a policy still stuck in it is then replaced by a fresh one.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar, cast

from hvs_ros.policy.contract import Policy, PolicyError, PolicyUnavailableError
from hvs_ros.search.action import ActionError, OutOfRangeError
from hvs_ros.search.decision import Decision, ParseStatus
from hvs_ros.search.episode import Outcome, SearchFailure
from hvs_ros.search.task import Task
from hvs_ros.search.view import Observation

T = TypeVar("T")

POLL_S = 0.02
"""How often a wait looks for a cancellation."""


class _Call(Generic[T]):
    """One call in a daemon thread, so that a stuck one cannot keep the process alive."""

    def __init__(self, function: Callable[[], T]) -> None:
        self.finished = threading.Event()
        self.value: T | None = None
        self.error: BaseException | None = None
        self._function = function
        threading.Thread(target=self._run, name="policy", daemon=True).start()

    def _run(self) -> None:
        try:
            self.value = self._function()
        except BaseException as error:  # the waiting thread raises it
            self.error = error
        finally:
            self.finished.set()


class PolicyRunner:
    """Owns a policy and lets a search loop use it (see ``hvs_ros.search.loop.Decider``).

    Args:
        create: makes the policy; called in a worker thread at ``load`` or the first ``start``, and again
            after the policy got stuck.
        deadline_s: limit for one decision.
        load_deadline_s: limit for making the policy and for ``start``.
        grace_s: how long a new search waits for a call that the last one abandoned.
    """

    def __init__(
        self,
        create: Callable[[], Policy],
        *,
        deadline_s: float = 120.0,
        load_deadline_s: float = 600.0,
        grace_s: float = 5.0,
    ) -> None:
        self._create = create
        self._deadline_s = deadline_s
        self._load_deadline_s = load_deadline_s
        self._grace_s = grace_s
        self._policy: Policy | None = None
        self._abandoned: _Call[object] | None = None
        self._canceled = threading.Event()

    def load(self) -> None:
        """Make the policy now, if there is none.

        Raises:
            SearchFailure: POLICY_UNAVAILABLE, with the reason.
        """
        if self._policy is None:
            self._policy = self._run("loading", self._create, self._load_deadline_s, Outcome.POLICY_UNAVAILABLE)

    def start(self, task: Task) -> None:
        """Begin a search, loading the policy if need be.

        Raises:
            SearchFailure: the policy cannot be loaded, fails, or was canceled.
        """
        if self._abandoned is not None and not self._abandoned.finished.wait(self._grace_s):
            self._drop()
        self._abandoned = None
        self.load()
        policy = self._loaded()
        self._run("starting", lambda: policy.start(task), self._load_deadline_s, Outcome.POLICY_TIMEOUT)

    def decide(self, observation: Observation) -> Decision:
        """Return the policy's decision; angles that are no action come back as a decision with that status.

        Raises:
            SearchFailure: POLICY_FAILED, POLICY_UNAVAILABLE, POLICY_TIMEOUT or CANCELED.
        """
        policy = self._loaded()
        try:
            decision = self._run(
                "deciding", lambda: policy.decide(observation), self._deadline_s, Outcome.POLICY_TIMEOUT
            )
        except ActionError as error:
            status = ParseStatus.OUT_OF_RANGE if isinstance(error, OutOfRangeError) else ParseStatus.BAD_ACTION
            return Decision(None, raw=str(error), status=status)
        if not isinstance(decision, Decision):
            raise SearchFailure(
                Outcome.POLICY_FAILED, f"the policy returned {decision!r:.200}, which is not a Decision"
            )
        return decision

    def cancel(self) -> None:
        """End the wait under way, and every later one until ``reset``; from any thread."""
        self._canceled.set()

    def reset(self) -> None:
        """Allow the next search."""
        self._canceled.clear()

    def close(self) -> None:
        """Close the policy."""
        self.cancel()
        self._drop()

    def _loaded(self) -> Policy:
        if self._policy is None:
            raise SearchFailure(Outcome.POLICY_UNAVAILABLE, "the policy is not loaded")
        return self._policy

    def _run(self, what: str, function: Callable[[], T], limit_s: float, late: Outcome) -> T:
        if self._canceled.is_set():
            raise SearchFailure(Outcome.CANCELED, f"canceled before {what}")
        call = _Call(function)
        deadline = time.monotonic() + limit_s
        while not call.finished.wait(POLL_S):
            if self._canceled.is_set():
                self._abandoned = cast("_Call[object]", call)
                raise SearchFailure(Outcome.CANCELED, f"canceled while {what}")
            if time.monotonic() > deadline:
                self._abandoned = cast("_Call[object]", call)
                raise SearchFailure(late, f"the policy was still {what} after {limit_s:g} s and was abandoned")
        if call.error is None:
            return call.value  # type: ignore[return-value]  # set by _run, whose type is T
        if isinstance(call.error, ActionError):
            raise call.error
        outcome = Outcome.POLICY_FAILED
        if isinstance(call.error, PolicyUnavailableError) or (
            late is Outcome.POLICY_UNAVAILABLE and isinstance(call.error, PolicyError)
        ):
            outcome = Outcome.POLICY_UNAVAILABLE
        detail = str(call.error) if isinstance(call.error, PolicyError) else f"{call.error!r}"
        raise SearchFailure(outcome, f"the policy failed while {what}: {detail}") from call.error

    def _drop(self) -> None:
        policy, self._policy = self._policy, None
        if policy is not None:
            with contextlib.suppress(Exception):
                policy.close()
