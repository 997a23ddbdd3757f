"""Policies at arm's length: whatever they do, a search ends with a name for it, and soon."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest
from picture_scenes import blank

from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError
from hvs_ros.policy.runner import PolicyRunner
from hvs_ros.search.action import Rotate, Submit
from hvs_ros.search.decision import Decision, ParseStatus
from hvs_ros.search.episode import Outcome, SearchFailure
from hvs_ros.search.task import Task

TASK = Task("find the exit")


class Scripted:
    """A policy that does what the test says."""

    def __init__(self, decide: Callable[[], object], begin: Callable[[], object] = lambda: None) -> None:
        self._decide, self._begin = decide, begin
        self.closed = threading.Event()

    def start(self, task: Task) -> None:
        self._begin()

    def decide(self, observation: object) -> object:
        return self._decide()

    def close(self) -> None:
        self.closed.set()


@pytest.fixture
def hold() -> Iterator[threading.Event]:
    """An event for policies to get stuck on; set at the end so that no thread outlives the test."""
    event = threading.Event()
    yield event
    event.set()


def started(policy: object, **limits: float) -> PolicyRunner:
    runner = PolicyRunner(lambda: policy, **limits)  # type: ignore[arg-type, return-value]
    runner.start(TASK)
    return runner


def failure_of(call: Callable[[], object]) -> SearchFailure:
    with pytest.raises(SearchFailure) as caught:
        call()
    return caught.value


def fail(error: BaseException) -> Callable[[], object]:
    def raise_it() -> object:
        raise error

    return raise_it


def test_a_decision_comes_through() -> None:
    decision = Decision(Rotate(10, 0))
    assert started(Scripted(lambda: decision)).decide(blank()) is decision


@pytest.mark.parametrize(
    ("error", "outcome", "says"),
    [
        (ZeroDivisionError("oh"), Outcome.POLICY_FAILED, "ZeroDivisionError"),
        (PolicyError("the person quit"), Outcome.POLICY_FAILED, "the person quit"),
        (PolicyUnavailableError("the server is gone"), Outcome.POLICY_UNAVAILABLE, "the server is gone"),
        (SystemExit(3), Outcome.POLICY_FAILED, "SystemExit"),
    ],
)
def test_a_policy_that_raises(error: BaseException, outcome: Outcome, says: str) -> None:
    runner = started(Scripted(fail(error)))
    failure = failure_of(lambda: runner.decide(blank()))
    assert failure.outcome is outcome and says in str(failure)


@pytest.mark.parametrize("nonsense", [None, "rotate(30,0)", 7, (30, 0), Rotate(30, 0)])
def test_a_policy_that_returns_nonsense(nonsense: object) -> None:
    runner = started(Scripted(lambda: nonsense))
    failure = failure_of(lambda: runner.decide(blank()))
    assert failure.outcome is Outcome.POLICY_FAILED and "not a Decision" in str(failure)


@pytest.mark.parametrize(
    ("action", "status"),
    [
        (lambda: Rotate(float("nan"), 0), ParseStatus.BAD_ACTION),
        (lambda: Rotate(0, float("inf")), ParseStatus.BAD_ACTION),
        (lambda: Submit(float("nan"), 0), ParseStatus.BAD_ACTION),
        (lambda: Submit(1e9, 0), ParseStatus.OUT_OF_RANGE),
        (lambda: Rotate(-1e300, 0), ParseStatus.OUT_OF_RANGE),
    ],
)
def test_angles_that_are_none_use_up_the_turn(action: Callable[[], Rotate | Submit], status: ParseStatus) -> None:
    decision = started(Scripted(lambda: Decision(action()))).decide(blank())
    assert decision.action is None and decision.status is status and decision.raw


def test_a_policy_that_never_returns_meets_the_deadline(hold: threading.Event) -> None:
    runner = started(Scripted(hold.wait), deadline_s=0.1)
    began = time.monotonic()
    failure = failure_of(lambda: runner.decide(blank()))
    assert failure.outcome is Outcome.POLICY_TIMEOUT and "0.1 s" in str(failure)
    assert time.monotonic() - began < 2.0


@pytest.mark.parametrize("stage", ["create", "start", "decide"])
def test_cancel_ends_the_wait_at_once(stage: str, hold: threading.Event) -> None:
    decision = Decision(Rotate(1, 0))

    def stuck() -> Decision:
        hold.wait()
        return decision

    def create() -> Scripted:
        if stage == "create":
            hold.wait()
        return Scripted(stuck, stuck if stage == "start" else lambda: None)

    runner = PolicyRunner(create)  # type: ignore[arg-type]
    canceled_at: list[float] = []

    def cancel() -> None:
        canceled_at.append(time.monotonic())
        runner.cancel()

    threading.Timer(0.15, cancel).start()

    def run() -> None:
        runner.start(TASK)
        runner.decide(blank())

    failure = failure_of(run)
    assert failure.outcome is Outcome.CANCELED
    assert time.monotonic() - canceled_at[0] < 0.2


def test_cancel_ends_the_grace_of_a_stuck_answer_too(hold: threading.Event) -> None:
    runner = started(Scripted(hold.wait), deadline_s=0.05, grace_s=30.0)
    failure_of(lambda: runner.decide(blank()))
    threading.Timer(0.1, runner.cancel).start()
    began = time.monotonic()
    assert failure_of(lambda: runner.start(TASK)).outcome is Outcome.CANCELED
    assert time.monotonic() - began < 1.0


def test_after_reset_the_next_search_runs() -> None:
    runner = started(Scripted(lambda: Decision(Rotate(1, 0))))
    runner.cancel()
    assert failure_of(lambda: runner.decide(blank())).outcome is Outcome.CANCELED
    runner.reset()
    runner.start(TASK)
    assert runner.decide(blank()).action == Rotate(1, 0)


def test_a_stuck_policy_is_replaced_and_closed(hold: threading.Event) -> None:
    made: list[Scripted] = []

    def create() -> Scripted:
        made.append(Scripted(hold.wait if not made else lambda: Decision(Rotate(1, 0))))
        return made[-1]

    runner = PolicyRunner(create, deadline_s=0.05, grace_s=0.05)  # type: ignore[arg-type]
    runner.start(TASK)
    failure_of(lambda: runner.decide(blank()))
    runner.start(TASK)
    assert len(made) == 2 and made[0].closed.is_set()
    assert runner.decide(blank()).action == Rotate(1, 0)


def test_a_late_answer_is_dropped_and_the_policy_kept() -> None:
    answers = iter([0.2, 0.0])

    def decide() -> Decision:
        time.sleep(next(answers))
        return Decision(Rotate(1, 0))

    runner = started(Scripted(decide), deadline_s=0.05)
    assert failure_of(lambda: runner.decide(blank())).outcome is Outcome.POLICY_TIMEOUT
    runner.start(TASK)
    assert runner.decide(blank()).action == Rotate(1, 0)


def test_a_policy_that_is_stuck_even_in_close_holds_nobody(hold: threading.Event) -> None:
    policy = Scripted(lambda: None)
    policy.close = hold.wait  # type: ignore[method-assign, assignment]
    runner = started(policy, grace_s=0.05)
    began = time.monotonic()
    runner.close()
    assert time.monotonic() - began < 1.0


def test_a_policy_that_cannot_be_made_is_unavailable() -> None:
    runner = PolicyRunner(fail(PolicyError("no such model")))  # type: ignore[arg-type]
    failure = failure_of(runner.load)
    assert failure.outcome is Outcome.POLICY_UNAVAILABLE and "no such model" in str(failure)


def test_a_canceled_load_is_taken_up_again(hold: threading.Event) -> None:
    made: list[Scripted] = []

    def create() -> Scripted:
        hold.wait()
        made.append(Scripted(lambda: Decision(Rotate(1, 0))))
        return made[-1]

    runner = PolicyRunner(create)  # type: ignore[arg-type]
    threading.Timer(0.05, runner.cancel).start()
    assert failure_of(runner.load).outcome is Outcome.CANCELED
    runner.reset()
    hold.set()
    runner.load()
    assert len(made) == 1


def test_a_policy_made_after_the_end_is_closed(hold: threading.Event) -> None:
    policy = Scripted(lambda: None)

    def create() -> Scripted:
        hold.wait()
        return policy

    runner = PolicyRunner(create)  # type: ignore[arg-type]
    threading.Timer(0.05, runner.cancel).start()
    failure_of(runner.load)
    runner.close()
    hold.set()
    assert policy.closed.wait(2.0)


def test_an_action_error_in_start_is_a_failure() -> None:
    runner = PolicyRunner(lambda: Scripted(lambda: None, lambda: Rotate(float("nan"), 0)))  # type: ignore[arg-type, return-value]
    assert failure_of(lambda: runner.start(TASK)).outcome is Outcome.POLICY_FAILED


class Cancelable(Scripted):
    """A policy that thinks until it is canceled."""

    def __init__(self) -> None:
        super().__init__(self._think)
        self.canceled = threading.Event()
        self.cancels = 0

    def _think(self) -> object:
        if self.canceled.wait(20.0):
            raise PolicyError("canceled")
        return Decision(Rotate(1, 0))

    def cancel(self) -> None:
        self.cancels += 1
        self.canceled.set()


def test_a_policy_that_can_be_canceled_is_told_when_the_search_is() -> None:
    policy = Cancelable()
    runner = started(policy)
    threading.Timer(0.1, runner.cancel).start()
    assert failure_of(lambda: runner.decide(blank())).outcome is Outcome.CANCELED
    assert policy.canceled.wait(5.0) and policy.cancels == 1


def test_it_is_told_when_nobody_waits_for_it_any_more() -> None:
    policy = Cancelable()
    runner = started(policy, deadline_s=0.05)
    assert failure_of(lambda: runner.decide(blank())).outcome is Outcome.POLICY_TIMEOUT
    assert policy.canceled.wait(5.0) and policy.cancels == 1


def test_what_goes_wrong_in_cancel_is_no_matter(hold: threading.Event) -> None:
    policy = Cancelable()
    runner = started(policy, grace_s=0.05)
    policy.cancel = fail(RuntimeError("cannot"))  # type: ignore[assignment, method-assign]
    runner.cancel()
    policy.cancel = hold.wait  # type: ignore[assignment, method-assign]
    began = time.monotonic()
    runner.cancel()
    assert time.monotonic() - began < 1.0


def test_a_cancel_on_its_way_does_not_reach_the_next_search(hold: threading.Event) -> None:
    made: list[Cancelable] = []

    def create() -> Cancelable:
        made.append(Cancelable())
        return made[-1]

    runner = PolicyRunner(create, grace_s=0.05)  # type: ignore[arg-type]
    runner.start(TASK)
    made[0].cancel = hold.wait  # type: ignore[assignment, method-assign]
    runner.cancel()
    runner.reset()
    runner.start(TASK)
    assert len(made) == 2


def test_a_policy_may_describe_itself() -> None:
    policy = Scripted(lambda: None)
    runner = PolicyRunner(lambda: policy)  # type: ignore[arg-type, return-value]
    assert runner.describe() == {}
    runner.load()
    assert runner.describe() == {}
    policy.describe = lambda: {"model": "tiny", "layers": 2, "api_key": "s3cret"}  # type: ignore[attr-defined]
    assert runner.describe() == {"model": "tiny", "layers": "2", "api_key": "(not shown)"}
    policy.describe = fail(RuntimeError("not now"))  # type: ignore[attr-defined]
    assert "not now" in runner.describe()["description"]
