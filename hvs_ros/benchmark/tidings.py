"""What a worker on another machine tells of its searches, and the box in which that waits to be fetched.

Tidings are numbered, and kept until they are asked for with a later number: an answer that got lost on its way is asked
for again, and a tiding is heard once.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from hvs_ros.benchmark.record import SearchRecord, TurnRecord
from hvs_ros.benchmark.result import EpisodeResult


@dataclass(frozen=True)
class Ready:
    """The policy is there; episodes are welcome.

    Attributes:
        facts: what the policy tells of itself.
        room: searches at the same time.
    """

    facts: Mapping[str, str]
    room: int


@dataclass(frozen=True)
class Began:
    """An episode begins."""

    episode_id: str


@dataclass(frozen=True)
class Turned:
    """A turn is complete."""

    turn: TurnRecord


@dataclass(frozen=True)
class Retried:
    """The machinery failed, and the episode is run again."""

    episode_id: str
    record: SearchRecord
    attempt: int


@dataclass(frozen=True)
class Ended:
    """An episode has ended."""

    result: EpisodeResult


@dataclass(frozen=True)
class Noted:
    """Something a person should know."""

    text: str


@dataclass(frozen=True)
class Unfit:
    """The worker cannot search, or cannot any more: its machine lacks something, or its policy does not answer.

    Attributes:
        reason: in one line, without the machine's name.
        everywhere: it would be the same on every machine.
    """

    reason: str
    everywhere: bool = False


@dataclass(frozen=True)
class Lost:
    """The worker, or the machine that it ran on, has gone."""

    reason: str


Tiding = Ready | Began | Turned | Retried | Ended | Noted | Unfit | Lost


class Box:
    """Holds tidings until they have been heard; from any thread."""

    def __init__(self) -> None:
        self._tidings: deque[Tiding] = deque()
        self._first = 0
        self._changed = threading.Condition()

    def put(self, tiding: Tiding) -> None:
        """Add one."""
        with self._changed:
            self._tidings.append(tiding)
            self._changed.notify_all()

    def after(self, heard: int, limit_s: float) -> list[Tiding]:
        """Return what has not been heard; waits for it, and returns nothing at the end of the limit.

        Args:
            heard: so many have been; they are forgotten.
            limit_s: of the wait.
        """
        with self._changed:
            while self._tidings and self._first < heard:
                self._tidings.popleft()
                self._first += 1
            self._changed.wait_for(lambda: bool(self._tidings), limit_s)
            return list(self._tidings)
