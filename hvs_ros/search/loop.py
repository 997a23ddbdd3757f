"""The loop of a search: look, decide, turn, until it is over.

Three roles and no more: a head that shows views and turns, a policy that decides, and watchers that are told. A
recorder, a report, a progress line and the ROS topics are all watchers; which kind of head it is, nobody asks. The
loop blocks; whoever needs the thread for something else runs it in one of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import Enum
from typing import Protocol

from hvs_ros.angles import Direction
from hvs_ros.search.decision import Decision
from hvs_ros.search.episode import SearchFailure, SearchResult, SearchSession, Turn, TurnTimes
from hvs_ros.search.task import Task
from hvs_ros.search.view import Arrival, Observation, Picture, View


class Head(Protocol):
    """A head that can be searched with."""

    def look(self) -> View:
        """Return a view taken at rest, no older than the last move.

        Raises:
            SearchFailure: there is none.
        """
        ...

    def turn_to(self, goal: Direction) -> Arrival:
        """Turn and wait until the move has ended.

        Raises:
            SearchFailure: the head does not answer, or the search was canceled.
        """
        ...


class Decider(Protocol):
    """A policy as the loop needs it; failures of it are SearchFailures."""

    def start(self, task: Task) -> None:
        """Begin a new search."""
        ...

    def decide(self, observation: Observation) -> Decision:
        """Decide one turn."""
        ...


class Phase(Enum):
    """What a search is busy with; names as in SearchState.msg."""

    LOOKING = "looking"
    THINKING = "thinking"
    MOVING = "moving"


class Watcher:
    """Is told what happens in a search. Override what is of interest."""

    def on_phase(self, phase: Phase, turn: int) -> None:
        """A part of a turn begins."""

    def on_view(self, observation: Observation) -> None:
        """The policy is about to be given this."""

    def on_decision(self, observation: Observation, decision: Decision) -> None:
        """The policy has decided; the head has not moved yet."""

    def on_turn(self, turn: Turn) -> None:
        """A turn is complete."""

    def on_end(self, result: SearchResult) -> None:
        """The search is over."""


def run_search(
    task: Task,
    head: Head,
    policy: Decider,
    watchers: Sequence[Watcher] = (),
    *,
    mark: Callable[[Picture], Picture] | None = None,
    mark_name: str = "",
) -> SearchResult:
    """Search, and return how it ended; failures of head or policy are in the result, not raised.

    Args:
        task: what to find.
        head: shows views and turns.
        policy: decides.
        watchers: told in order; an error in one of them ends the search with that error.
        mark: returns the picture for the policy (the green cross drawn into a copy); None: the view as it is.
        mark_name: what the mark is, for the record.
    """
    session = SearchSession(task)
    try:
        policy.start(task)
        while not session.done:
            _turn(session, head, policy, watchers, mark, mark_name)
    except SearchFailure as failure:
        session.fail(failure)
    result = session.result
    for watcher in watchers:
        watcher.on_end(result)
    return result


def _turn(
    session: SearchSession,
    head: Head,
    policy: Decider,
    watchers: Sequence[Watcher],
    mark: Callable[[Picture], Picture] | None,
    mark_name: str,
) -> None:
    number = session.turn
    began = time.monotonic()
    _tell_phase(watchers, Phase.LOOKING, number)
    view = head.look()
    made = ", ".join(part for part in (view.made, mark_name) if part)
    observation = session.observe(view if mark is None else replace(view, image=mark(view.image)), picture=made)
    for watcher in watchers:
        watcher.on_view(observation)
    looked = time.monotonic()

    _tell_phase(watchers, Phase.THINKING, number)
    decision = policy.decide(observation)
    decided = time.monotonic()
    goal = session.decide(decision)
    for watcher in watchers:
        watcher.on_decision(observation, decision)

    arrival = None
    if goal is not None:
        _tell_phase(watchers, Phase.MOVING, number)
        arrival = head.turn_to(goal)
    times = TurnTimes(looked - began, decided - looked, time.monotonic() - decided)
    turn = session.conclude(arrival, times)
    for watcher in watchers:
        watcher.on_turn(turn)


def _tell_phase(watchers: Sequence[Watcher], phase: Phase, turn: int) -> None:
    for watcher in watchers:
        watcher.on_phase(phase, turn)
