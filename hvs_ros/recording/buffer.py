"""What arrived lately: a search's first messages may come before the state that says it has begun.

Topics arrive in no order among each other, so the recorder listens all the time, keeps a short past, and the last
message of every topic for as long as it runs (latched ones, but also the view that a resting head sent a minute ago).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from hvs_ros.recording.bag import Topic


@dataclass(frozen=True)
class Received:
    """A message.

    Attributes:
        topic: on which.
        data: serialized.
        received_ns: when it came, ROS clock.
        stamp_ns: its header's stamp; where it has none, when it came.
        search_id: which search it belongs to; empty: to whatever goes on.
        turn: a Turn's number; 0: it is none.
    """

    topic: Topic
    data: bytes
    received_ns: int
    stamp_ns: int
    search_id: str = ""
    turn: int = 0


class Past:
    """The last seconds, and the last message of each topic.

    Args:
        seconds: how long messages are kept.
        limit: bytes that are kept at most.
    """

    def __init__(self, seconds: float, limit: int) -> None:
        self._span_ns = round(seconds * 1e9)
        self._limit = limit
        self._recent: deque[Received] = deque()
        self._size = 0
        self._last: dict[str, Received] = {}

    def add(self, message: Received) -> None:
        """Remember a message."""
        self._last[message.topic.name] = message
        self._recent.append(message)
        self._size += len(message.data)
        oldest = message.received_ns - self._span_ns
        while self._recent and (self._recent[0].received_ns < oldest or self._size > self._limit):
            self._size -= len(self._recent.popleft().data)

    def since(self, started_ns: int, search_id: str) -> tuple[list[Received], list[Received]]:
        """Return (last known before the search, messages of the search so far), each in the order of arrival.

        Args:
            started_ns: when the search started.
            search_id: messages of other searches are left out.
        """
        own = [
            message
            for message in self._recent
            if message.stamp_ns >= started_ns and message.search_id in ("", search_id)
        ]
        held = {id(message) for message in own}
        before = [m for m in self._last.values() if not m.search_id and id(m) not in held and m.stamp_ns < started_ns]
        return sorted(before, key=lambda message: message.received_ns), own
