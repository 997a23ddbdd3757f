"""Writes bags in a thread of its own, so that a slow or full disk never holds up whoever receives messages.

What waits to be written is bounded: when the disk cannot keep up, views are dropped first, and what was dropped is
counted and told. A bag that cannot be written is given up, and says so once; the next one is tried afresh.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from hvs_ros.recording.bag import EpisodeBag, Topic
from hvs_ros.recording.definitions import Definitions
from hvs_ros.recording.errors import RecordingError

LARGE = 16_384
"""Bytes above which a message is a view, or like one: dropped first."""
FLUSH_S = 0.5
"""What a kill may cost."""


class Ending(Enum):
    """What became of a bag."""

    RECORDING = "recording"
    COMPLETE = "complete"
    INCOMPLETE = "incomplete"
    FAILED = "failed"


@dataclass(frozen=True)
class BagEvent:
    """Something a person, or whoever waits for a bag, should know.

    Attributes:
        search_id: which search.
        ending: what became of its bag.
        path: its folder; None where none could be made.
        messages: written so far.
        size: their bytes.
        dropped: messages that are missing.
        message: why, for a person.
    """

    search_id: str
    ending: Ending
    path: Path | None
    messages: int = 0
    size: int = 0
    dropped: int = 0
    message: str = ""


@dataclass
class Ticket:
    """A bag as the recorder refers to it. Only the writer's thread touches what is private.

    Attributes:
        search_id: which search.
        dropped: messages that found no room.
    """

    search_id: str
    dropped: int = 0
    _bag: EpisodeBag | None = None
    _failed: bool = False
    _unknown: set[str] = field(default_factory=set)


class WriterThread:
    """Takes orders from any thread and carries them out in order.

    Args:
        directory: where bags are made.
        listener: told of every bag that opens and ends, from the writer's thread.
        limit: bytes that may wait.
    """

    def __init__(self, directory: Path, listener: Callable[[BagEvent], None], limit: int = 256 * 2**20) -> None:
        self._directory = directory
        self._listener = listener
        self._limit = limit
        self._waiting = 0
        self._lock = threading.Lock()
        self._orders: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._definitions = Definitions()
        self._open: list[Ticket] = []
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Bytes that wait to be written."""
        return self._waiting

    def open(self, search_id: str, name: str) -> Ticket:
        """Order a bag and return its ticket."""
        ticket = Ticket(search_id)
        self._orders.put(lambda: self._do_open(ticket, name))
        return ticket

    def write(self, ticket: Ticket, topic: Topic, stamp_ns: int, data: bytes) -> None:
        """Order a message; counted as dropped where there is no room for it."""
        size = len(data)
        with self._lock:
            # Small messages are the search itself: they get twice the room.
            room = self._limit if size > LARGE else 2 * self._limit
            if self._waiting + size > room:
                ticket.dropped += 1
                return
            self._waiting += size
        self._orders.put(lambda: self._do_write(ticket, topic, stamp_ns, data))

    def close(self, ticket: Ticket, description: Mapping[str, object], problem: str) -> None:
        """Order the end of a bag.

        Args:
            ticket: which.
            description: of the episode, for metadata.yaml.
            problem: why it is not complete; empty: it is.
        """
        self._orders.put(lambda: self._do_close(ticket, description, problem))

    def stop(self, limit_s: float) -> bool:
        """Carry out what was ordered, end the thread, and return whether that was done in time."""
        self._orders.put(None)
        self._thread.join(limit_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        flushed = time.monotonic()
        while True:
            try:
                order = self._orders.get(timeout=FLUSH_S)
                if order is None:
                    return
                order()
            except queue.Empty:
                pass
            except Exception:
                # A bug; the searches to come are to be recorded all the same.
                logging.getLogger(__name__).exception("a bag could not be written")
            if time.monotonic() - flushed > FLUSH_S:
                for ticket in list(self._open):
                    self._attempt(ticket, EpisodeBag.flush)
                flushed = time.monotonic()

    def _do_open(self, ticket: Ticket, name: str) -> None:
        try:
            ticket._bag = EpisodeBag(self._directory, name, self._definitions)
        except RecordingError as error:
            self._fail(ticket, str(error))
            return
        self._open.append(ticket)
        self._tell(ticket, Ending.RECORDING)

    def _do_write(self, ticket: Ticket, topic: Topic, stamp_ns: int, data: bytes) -> None:
        with self._lock:
            self._waiting -= len(data)
        if ticket._bag is None or ticket._failed:
            return
        if topic.name in ticket._unknown:
            ticket.dropped += 1
            return
        if topic.name not in ticket._bag:
            try:
                ticket._bag.add(topic)
            except RecordingError:
                ticket._unknown.add(topic.name)
                ticket.dropped += 1
                return
        self._attempt(ticket, lambda bag: bag.write(topic.name, stamp_ns, data))

    def _do_close(self, ticket: Ticket, description: Mapping[str, object], problem: str) -> None:
        problems = [problem] if problem else []
        if ticket.dropped:
            problems.append(f"{ticket.dropped} messages are missing: the disk could not keep up")
        if ticket._unknown:
            problems.append(f"no definition for {', '.join(sorted(ticket._unknown))}")
        if ticket._bag is not None:
            ticket._bag.description = description
            self._attempt(ticket, EpisodeBag.close)
        if not ticket._failed:
            self._open.remove(ticket)
            self._tell(ticket, Ending.INCOMPLETE if problems else Ending.COMPLETE, "; ".join(problems))

    def _attempt(self, ticket: Ticket, action: Callable[[EpisodeBag], None]) -> None:
        if ticket._failed or ticket._bag is None:
            return
        try:
            action(ticket._bag)
        except RecordingError as error:
            ticket._bag.abandon(str(error))
            self._open.remove(ticket)
            self._fail(ticket, str(error))

    def _fail(self, ticket: Ticket, message: str) -> None:
        ticket._failed = True
        self._tell(ticket, Ending.FAILED, message)

    def _tell(self, ticket: Ticket, ending: Ending, message: str = "") -> None:
        bag = ticket._bag
        if bag is None:
            event = BagEvent(ticket.search_id, ending, None, dropped=ticket.dropped, message=message)
        else:
            event = BagEvent(
                ticket.search_id, ending, bag.path.resolve(), bag.messages, bag.size, ticket.dropped, message
            )
        self._listener(event)
