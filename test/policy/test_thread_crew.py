"""Any policy as a crew: one a searcher, in threads, cancellable, its failures named; and crews by name."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hvs_ros.angles import Direction
from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError
from hvs_ros.policy.crew import Crew
from hvs_ros.policy.crews import make_crew
from hvs_ros.policy.random_walk import RandomPolicy
from hvs_ros.policy.thread_crew import ThreadCrew
from hvs_ros.search.action import OutOfRangeError, Submit
from hvs_ros.search.decision import Decision, ParseStatus
from hvs_ros.search.episode import Outcome, SearchFailure
from hvs_ros.search.task import Task
from hvs_ros.search.view import Observation

LIMIT_S = 20.0
VIEW = Observation(np.zeros((9, 16, 3), np.uint8), Direction(40.0, 0.0), 100.0, 1, 10)


class Scripted:
    """Decides by a function; notes what happens to it."""

    def __init__(self, answer: Callable[[], Decision]) -> None:
        self.answer = answer
        self.started: list[str] = []
        self.canceled = self.closed = 0

    def start(self, task: Task) -> None:
        self.started.append(task.instruction)

    def decide(self, observation: Observation) -> Decision:
        return self.answer()

    def cancel(self) -> None:
        self.canceled += 1

    def close(self) -> None:
        self.closed += 1

    def describe(self) -> dict[str, Any]:
        return {"device": "abacus", "api_key": "very secret"}


def right() -> Decision:
    return Decision(Submit(90.0, 0.0))


def made_by(answer: Callable[[], Decision], made: list[Scripted]) -> Callable[[], Scripted]:
    def create() -> Scripted:
        made.append(Scripted(answer))
        return made[-1]

    return create


def run(work: Any) -> Any:
    return asyncio.run(asyncio.wait_for(work, LIMIT_S))


def test_each_searcher_has_a_policy_of_its_own_and_all_decide_at_the_same_time() -> None:
    made: list[Scripted] = []
    together = threading.Barrier(3)

    def answer() -> Decision:
        together.wait(LIMIT_S)
        return right()

    async def work() -> None:
        before = set(threading.enumerate())
        crew = ThreadCrew(made_by(answer, made), size=3)
        await crew.open()
        assert len(made) == 1 and crew.describe()["device"] == "abacus"
        assert "very secret" not in str(crew.describe())
        searchers = [crew.searcher() for _ in range(3)]
        with pytest.raises(RuntimeError, match="all 3"):
            crew.searcher()
        await asyncio.gather(*(searcher.start(Task(f"find {n}")) for n, searcher in enumerate(searchers)))
        assert await asyncio.gather(*(searcher.decide(VIEW) for searcher in searchers)) == [right()] * 3
        await crew.close()
        assert [policy.closed for policy in made] == [1, 1, 1]
        assert sorted(policy.started for policy in made) == [["find 0"], ["find 1"], ["find 2"]]
        assert not [thread for thread in set(threading.enumerate()) - before if thread.name.startswith("crew")]

    run(work())


def test_a_canceled_searcher_tells_its_policy_and_is_fit_for_the_next_search() -> None:
    made: list[Scripted] = []
    deciding, free = threading.Event(), threading.Event()

    def answer() -> Decision:
        deciding.set()
        free.wait(LIMIT_S)
        return right()

    async def work() -> None:
        crew = ThreadCrew(made_by(answer, made))
        await crew.open()
        searcher = crew.searcher()
        await searcher.start(Task("find it"))
        call = asyncio.create_task(searcher.decide(VIEW))
        await asyncio.get_running_loop().run_in_executor(None, deciding.wait, LIMIT_S)
        call.cancel()
        began = time.monotonic()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert time.monotonic() - began < 2.0 and made[0].canceled == 1
        free.set()
        await searcher.start(Task("find another"))
        assert await searcher.decide(VIEW) == right()
        await crew.close()
        # Its late answer was waited for, so it is still the one policy.
        assert len(made) == 1 and made[0].started == ["find it", "find another"]

    run(work())


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (PolicyUnavailableError("no server"), Outcome.POLICY_UNAVAILABLE),
        (PolicyError("the context is too short"), Outcome.POLICY_FAILED),
        (ZeroDivisionError("a bug"), Outcome.POLICY_FAILED),
    ],
)
def test_failures_are_named(error: Exception, outcome: Outcome) -> None:
    def answer() -> Decision:
        raise error

    async def work() -> None:
        crew = ThreadCrew(made_by(answer, []))
        await crew.open()
        searcher = crew.searcher()
        await searcher.start(Task("find it"))
        with pytest.raises(SearchFailure, match=str(error)) as failure:
            await searcher.decide(VIEW)
        assert failure.value.outcome is outcome
        await crew.close()

    run(work())


def test_angles_that_are_none_use_up_a_turn_and_slow_answers_a_deadline() -> None:
    answers: list[Callable[[], Decision]] = []

    async def work() -> None:
        crew = ThreadCrew(made_by(lambda: answers.pop()(), []), deadline_s=0.05)
        await crew.open()
        searcher = crew.searcher()
        await searcher.start(Task("find it"))
        answers.append(lambda: Decision(Submit(1e9, 0.0)))
        assert (await searcher.decide(VIEW)).status is ParseStatus.OUT_OF_RANGE
        answers.append(lambda: time.sleep(0.5) or right())
        with pytest.raises(SearchFailure, match=r"after 0\.05 s") as failure:
            await searcher.decide(VIEW)
        assert failure.value.outcome is Outcome.POLICY_TIMEOUT
        await crew.close()

    with pytest.raises(OutOfRangeError):
        Submit(1e9, 0.0)
    run(work())


def test_a_policy_that_cannot_be_made_is_known_when_the_crew_opens() -> None:
    def missing() -> Scripted:
        raise PolicyUnavailableError("the package oracle is not installed")

    def broken() -> Scripted:
        raise ZeroDivisionError("a bug")

    async def opened(create: Callable[[], Scripted]) -> None:
        crew = ThreadCrew(create)
        try:
            await crew.open()
        finally:
            await crew.close()

    with pytest.raises(PolicyUnavailableError, match="oracle"):
        run(opened(missing))
    with pytest.raises(PolicyError, match="a bug"):
        run(opened(broken))


class TestByName:
    def test_a_policy_without_a_crew_of_its_own_is_made_for_each_searcher(self) -> None:
        crew = make_crew("random", {"seed": 7})
        assert isinstance(crew, ThreadCrew) and crew.size == 1
        assert make_crew("random", {"seed": 7}, 12).size == 12

    def test_a_policy_with_one_says_how_large_it_is_by_itself(self) -> None:
        given: list[Any] = []

        class Fleet(RandomPolicy):
            @staticmethod
            def crew(settings: Any, size: int | None) -> Crew:
                given.append((settings, size))
                return ThreadCrew(RandomPolicy, 40 if size is None else size)

        globals()["Fleet"] = Fleet
        assert make_crew(f"{__name__}:Fleet", {"seed": 1}).size == 40
        assert make_crew(f"{__name__}:Fleet", {}, 3).size == 3
        assert given == [({"seed": 1}, None), ({}, 3)]

    @pytest.mark.parametrize(
        ("policy", "settings", "says"),
        [("nobody", {}, "there is no policy 'nobody'"), ("random", {"model": "x"}, "has no setting model")],
    )
    def test_what_is_wrong_is_known_before_anything_is_loaded(self, policy: str, settings: Any, says: str) -> None:
        with pytest.raises(PolicyError, match=says):
            make_crew(policy, settings)
