"""One search among many in an event loop: what ``hvs_ros.search.loop`` does, without blocking.

The head is a panorama that is looked at from its middle: a move has ended when it was commanded, and the view is cut
out at once, as in ``hvs_ros.benchmark.in_process``. So a policy decides the same here as there. Views are drawn in
threads; the decision is awaited.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass

from hvs_ros.angles import Direction
from hvs_ros.benchmark.record import SearchRecord, TurnRecord
from hvs_ros.panorama import ViewSampler, mark_cross
from hvs_ros.policy.crew import Searcher
from hvs_ros.search.episode import SearchFailure, SearchSession, Turn, TurnTimes
from hvs_ros.search.task import Task
from hvs_ros.search.view import Arrival, MoveOutcome, View

MARK = "green cross"


@dataclass(frozen=True)
class Place:
    """Where a search takes place.

    Attributes:
        sampler: makes the views.
        pool: has threads to make them in.
    """

    sampler: ViewSampler
    pool: Executor

    async def look(self, direction: Direction) -> View:
        """Return the view in a direction, with the green cross drawn into it."""
        return await asyncio.get_running_loop().run_in_executor(self.pool, self._draw, direction)

    def _draw(self, direction: Direction) -> View:
        image = self.sampler.render(direction.yaw_deg, direction.pitch_deg)
        mark_cross(image)
        made = f"{self.sampler.info.made}, {MARK}"
        return View(image, direction, time.time_ns(), self.sampler.camera.hfov_deg, made)


async def search_once(
    task: Task,
    place: Place,
    start: Direction,
    searcher: Searcher,
    on_turn: Callable[[TurnRecord], None] | None = None,
) -> SearchRecord:
    """Search, and return how it ended; failures of the policy are in the record, not raised.

    Args:
        task: what to find.
        place: where.
        start: where the head looks first.
        searcher: decides; has nothing else under way.
        on_turn: is told of each turn when it is complete.
    """
    session = SearchSession(task, keep_pictures=False)
    direction = start.normalized()
    try:
        await searcher.start(task)
        while not session.done:
            turn = await _turn(session, place, direction, searcher)
            direction = turn.direction
            if on_turn is not None:
                on_turn(TurnRecord.of(turn))
    except SearchFailure as failure:
        session.fail(failure)
    return SearchRecord.of(session.result)


async def _turn(session: SearchSession, place: Place, direction: Direction, searcher: Searcher) -> Turn:
    began = time.monotonic()
    observation = session.observe(await place.look(direction))
    looked = time.monotonic()
    decision = await searcher.decide(observation)
    decided = time.monotonic()
    goal = session.decide(decision)
    arrival = None if goal is None else Arrival(MoveOutcome.REACHED, goal.normalized(), time.time_ns())
    return session.conclude(arrival, TurnTimes(looked - began, decided - looked, time.monotonic() - decided))
