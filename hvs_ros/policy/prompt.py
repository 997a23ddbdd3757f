"""What a set of prompts offers: the words around the pictures of a search.

A checkpoint answers best to the words that it was trained with, so they are data: a YAML file (``prompt_file``), or the
prompt module of the published environment in the user's own checkout of it (``published_prompt``).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from hvs_ros.angles import Direction, wrap_yaw_deg
from hvs_ros.policy.contract import PolicyError
from hvs_ros.search.task import Task
from hvs_ros.search.view import MoveOutcome, Observation

Around = tuple[str, str]
"""The text before a picture and the text after it."""


class PromptError(PolicyError):
    """A set of prompts that cannot be used; the message names the file and the place in it."""


class Done(Enum):
    """What came of an answer."""

    DONE = "done"
    CLAMPED = "clamped"
    """As far as the head can turn."""
    REFUSED = "refused"
    """By the head."""
    INVALID = "invalid"
    """There was no valid action in it."""


@dataclass(frozen=True)
class LastTurn:
    """What became of the last answer.

    Attributes:
        extracted: the action in it as the model wrote it; empty where there was none.
        done: what came of it.
        reason: the head's own words where it refused.
    """

    extracted: str
    done: Done
    reason: str = ""

    @classmethod
    def of(cls, extracted: str, observation: Observation) -> LastTurn:
        """Return it as the view after it tells.

        Args:
            extracted: the action as the model wrote it; empty where there was no valid one.
            observation: of the turn after it.
        """
        arrival = observation.arrival
        if not extracted:
            return cls("", Done.INVALID)
        if arrival is None or arrival.outcome is MoveOutcome.REACHED:
            return cls(extracted, Done.DONE)
        if arrival.outcome is MoveOutcome.CLAMPED:
            return cls(extracted, Done.CLAMPED)
        return cls(extracted, Done.REFUSED, arrival.message or arrival.outcome.value)


class Prompts(Protocol):
    """The words of a search, all of them decided by task, turn and direction alone.

    Attributes:
        name: of the set.
        digest: SHA-256 of the file it comes from, hexadecimal.
        notes: what else is to be recorded about where its words come from.
    """

    name: str
    digest: str
    notes: str

    def system(self, task: Task) -> str:
        """Return the system message."""
        ...

    def first(self, task: Task, observation: Observation) -> Around:
        """Return the first message around its picture."""
        ...

    def later(self, task: Task, observation: Observation, last: LastTurn) -> Around:
        """Return the message of a later turn around its picture."""
        ...

    def resumed(self, task: Task, observation: Observation) -> Around | None:
        """Return what to say in place of ``later`` when the answer before it is left out; None: nothing else."""
        ...


def whole_degrees(direction: Direction) -> tuple[int, int]:
    """Return (yaw in 0 to 359, pitch) as a model is told and as it is to answer: in whole degrees."""
    return round(wrap_yaw_deg(direction.yaw_deg)) % 360, round(direction.pitch_deg)
