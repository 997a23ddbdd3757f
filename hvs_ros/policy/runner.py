"""Runs a policy at arm's length: with a deadline, cancellable, and with every way it can fail given a name.

``decide`` may take long, raise, or never return, and Python cannot stop a thread. So each call runs in a worker thread
that is waited for; when the deadline passes or the search is canceled, the wait ends and the late answer is dropped. A
policy with ``cancel`` is told, so that it need not think on. The next search gives an abandoned call a moment to come
back; a policy still stuck in it is then replaced by a fresh one. A canceled load goes on, and the next search takes its
policy: a model in memory twice would be one too many.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Generic, TypeVar, cast

from hvs_ros.confidential import without_secrets
from hvs_ros.policy.contract import Cancelable, Describable, Policy, PolicyError, PolicyUnavailableError
from hvs_ros.search.action import ActionError, OutOfRangeError
from hvs_ros.search.decision import Decision, ParseStatus
from hvs_ros.search.episode import Outcome, SearchFailure
from hvs_ros.search.task import Task
from hvs_ros.search.view import Observation

T = TypeVar("T")

POLL_S = 0.02
"""How often a wait looks for a cancellation."""
CANCEL_LIMIT_S = 0.1
"""A policy's ``cancel`` is not waited for any longer."""


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
        self._loading: _Call[Policy] | None = None
        self._abandoned: _Call[object] | None = None
        self._canceling: _Call[object] | None = None
        self._canceled = threading.Event()

    def load(self) -> None:
        """Make the policy now, if there is none.

        Raises:
            SearchFailure: POLICY_UNAVAILABLE with the reason, or CANCELED.
        """
        if self._policy is not None:
            return
        self._check_canceled("loading")
        if self._loading is None:
            self._loading = _Call(self._create)
        try:
            self._policy = self._result(
                self._loading, "loading", self._load_deadline_s, Outcome.POLICY_UNAVAILABLE
            )
        except SearchFailure as failure:
            if failure.outcome is not Outcome.CANCELED:
                self._loading = None
            raise
        self._loading = None

    def start(self, task: Task) -> None:
        """Begin a search, loading the policy if need be.

        Raises:
            SearchFailure: the policy cannot be loaded, fails, or was canceled.
        """
        # A cancel that is still on its way must not end the search that begins now.
        for late in (self._canceling, self._abandoned):
            if late is not None and not self._wait(late, "waiting for its last answer", self._grace_s):
                self._drop()
        self._canceling = self._abandoned = None
        self.load()
        policy = self._loaded()
        self._run("starting", lambda: policy.start(task), self._load_deadline_s)

    def decide(self, observation: Observation) -> Decision:
        """Return the policy's decision; angles that are no action come back as a decision with that status.

        Raises:
            SearchFailure: POLICY_FAILED, POLICY_UNAVAILABLE, POLICY_TIMEOUT or CANCELED.
        """
        policy = self._loaded()
        try:
            decision = self._run("deciding", lambda: policy.decide(observation), self._deadline_s)
        except SearchFailure as failure:
            error = failure.__cause__
            if not isinstance(error, ActionError):
                raise
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
        self._tell_canceled()

    def reset(self) -> None:
        """Allow the next search."""
        self._canceled.clear()

    def close(self) -> None:
        """Close the policy."""
        self.cancel()
        loading, self._loading = self._loading, None
        if loading is not None:
            _Call(lambda: _close_when_made(loading))
        self._drop()

    def describe(self) -> dict[str, str]:
        """Return what the policy tells of itself, without secrets; nothing where it does not, or is not loaded."""
        policy: object = self._policy
        if not isinstance(policy, Describable):
            return {}
        try:
            facts: Mapping[str, object] = without_secrets(policy.describe())
        except Exception as error:  # anybody's code
            return {"description": f"fails: {error!r}"}
        return {str(name): str(value) for name, value in facts.items()}

    def _loaded(self) -> Policy:
        if self._policy is None:
            raise SearchFailure(Outcome.POLICY_UNAVAILABLE, "the policy is not loaded")
        return self._policy

    def _run(self, what: str, function: Callable[[], T], limit_s: float) -> T:
        self._check_canceled(what)
        call = _Call(function)
        try:
            return self._result(call, what, limit_s, Outcome.POLICY_TIMEOUT)
        finally:
            if not call.finished.is_set():
                self._abandoned = cast("_Call[object]", call)
                if not self._canceled.is_set():  # else ``cancel`` has told it
                    self._tell_canceled()

    def _result(self, call: _Call[T], what: str, limit_s: float, late: Outcome) -> T:
        """Return what a call returns.

        Raises:
            SearchFailure: it raised, did not return in time, or the search was canceled.
        """
        if not self._wait(call, what, limit_s):
            raise SearchFailure(late, f"the policy was still {what} after {limit_s:g} s and was abandoned")
        if call.error is None:
            return call.value  # type: ignore[return-value]  # set by the call, whose type is T
        # A policy with ``cancel`` may raise before the wait is looked at again.
        if self._canceled.is_set():
            raise SearchFailure(Outcome.CANCELED, f"canceled while {what}") from call.error
        outcome = Outcome.POLICY_FAILED
        if isinstance(call.error, PolicyUnavailableError) or (
            late is Outcome.POLICY_UNAVAILABLE and isinstance(call.error, PolicyError)
        ):
            outcome = Outcome.POLICY_UNAVAILABLE
        detail = str(call.error) if isinstance(call.error, PolicyError) else f"{call.error!r}"
        raise SearchFailure(outcome, f"the policy failed while {what}: {detail}") from call.error

    def _wait(self, call: _Call[T], what: str, limit_s: float) -> bool:
        """Wait for a call and return whether it finished in time.

        Raises:
            SearchFailure: the search was canceled.
        """
        deadline = time.monotonic() + limit_s
        while not call.finished.wait(POLL_S):
            if self._canceled.is_set():
                raise SearchFailure(Outcome.CANCELED, f"canceled while {what}")
            if time.monotonic() > deadline:
                return False
        return True

    def _check_canceled(self, what: str) -> None:
        if self._canceled.is_set():
            raise SearchFailure(Outcome.CANCELED, f"canceled before {what}")

    def _tell_canceled(self) -> None:
        policy: object = self._policy
        if isinstance(policy, Cancelable):
            # Whatever goes wrong in it ends with its own thread.
            self._canceling = call = _Call[object](policy.cancel)
            call.finished.wait(CANCEL_LIMIT_S)

    def _drop(self) -> None:
        policy, self._policy = self._policy, None
        if policy is not None:
            # A policy that is stuck may be stuck in close as well.
            _Call(policy.close).finished.wait(self._grace_s)


def _close_when_made(loading: _Call[Policy]) -> None:
    loading.finished.wait()
    if loading.value is not None:
        loading.value.close()
