"""One search's side of a crew whose searchers share a model: its dialogue, and where its questions are answered.

Pictures are encoded in the event loop's own thread pool, so that whoever runs many searches says how many threads that
may take (``loop.set_default_executor``). What a search is asked and told stays on the loop.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Sequence
from typing import Protocol

from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError
from hvs_ros.policy.conversation import Message, Shown
from hvs_ros.policy.dialogue import Dialogue
from hvs_ros.policy.engine import Answer
from hvs_ros.search.decision import Decision
from hvs_ros.search.episode import Outcome, SearchFailure
from hvs_ros.search.task import Task
from hvs_ros.search.view import Observation, Picture


class Line(Protocol):
    """A search's connection to a model that others use as well. A cancelled call leaves it fit for ``begin``."""

    def begin(self) -> None:
        """Forget the last search."""
        ...

    def prepare(self, shown: Shown) -> None:
        """Do for a picture what takes long and needs no model; in a thread, before it is in a question."""
        ...

    async def answer(self, messages: Sequence[Message]) -> Answer:
        """Return what the model says next.

        Raises:
            PolicyUnavailableError: the model cannot be reached.
            PolicyError: it cannot answer this.
        """
        ...


class ModelSearcher:
    """Lets a model decide for one search at a time (see ``hvs_ros.policy.crew.Searcher``).

    Args:
        dialogue: nobody else's.
        line: nobody else's.
    """

    def __init__(self, dialogue: Dialogue, line: Line) -> None:
        self._dialogue, self._line = dialogue, line

    async def start(self, task: Task) -> None:
        """Begin a new search and forget the last one."""
        with _failures("starting"):
            self._line.begin()
            self._dialogue.start(task)

    async def decide(self, observation: Observation) -> Decision:
        """Show the model the view and return what it decides."""
        with _failures("deciding"):
            shown = await asyncio.to_thread(self._encoded, observation.image)
            answer = await self._line.answer(self._dialogue.ask(observation, shown))
            return self._dialogue.answered(answer)

    def _encoded(self, picture: Picture) -> Shown:
        shown = self._dialogue.encode(picture)
        self._line.prepare(shown)
        return shown


@contextlib.contextmanager
def _failures(what: str) -> Iterator[None]:
    """Give failures the names that a search knows, as ``PolicyRunner`` does."""
    try:
        yield
    except Exception as error:
        unavailable = isinstance(error, PolicyUnavailableError)
        outcome = Outcome.POLICY_UNAVAILABLE if unavailable else Outcome.POLICY_FAILED
        detail = str(error) if isinstance(error, PolicyError) else repr(error)
        raise SearchFailure(outcome, f"the policy failed while {what}: {detail}") from error
