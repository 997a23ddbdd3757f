"""Decides what goes into which bag: opened when a search begins, closed a moment after it has ended.

Told of every message and every state of the search; knows nothing of ROS. The moment after the end is there because
topics arrive in no order: the last turn may come after the state that says DONE. When the next search begins meanwhile,
both bags are open, and messages that name their search find theirs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hvs_ros.recording.bag import Topic
from hvs_ros.recording.buffer import Past, Received
from hvs_ros.recording.info import EpisodeInfo
from hvs_ros.recording.naming import bag_name
from hvs_ros.recording.writer_thread import Ticket, WriterThread

SETTLE_S = 0.5
"""How long a recorder that has just begun listens before it takes a search for one that goes on."""


@dataclass(frozen=True)
class SearchStatus:
    """What a SearchState says that matters here.

    Attributes:
        search_id: which search; empty when there is none.
        done: it has ended.
        started_ns: when it started.
        turn: the present turn.
        info: what it is about.
    """

    search_id: str
    done: bool
    started_ns: int
    turn: int
    info: EpisodeInfo


@dataclass
class _Recording:
    ticket: Ticket
    started_ns: int
    info: EpisodeInfo
    problems: list[str] = field(default_factory=list)
    close_at_s: float | None = None
    turn: int = 0
    turns: set[int] = field(default_factory=set)


class Recorder:
    """One recorder; every method may be called from any thread and returns at once.

    Args:
        writer: writes the bags.
        encode_info: serializes the description of an episode, for its topic in the bag.
        info_topic: that topic.
        since_ns: when the recorder began; searches that ended before are left alone.
        grace_s: from the end of a search to the end of its bag.
        past: what arrived lately.
    """

    def __init__(
        self,
        writer: WriterThread,
        encode_info: Callable[[Mapping[str, Any]], bytes],
        info_topic: Topic,
        *,
        since_ns: int,
        grace_s: float,
        past: Past,
    ) -> None:
        self._writer = writer
        self._encode_info = encode_info
        self._info_topic = info_topic
        self._since_ns = since_ns
        self._grace_s = grace_s
        self._past = past
        self._lock = threading.Lock()
        self._running: _Recording | None = None
        self._ending: list[_Recording] = []
        # Names may come again; a search is known by its name and its start.
        self._ended: set[tuple[str, int]] = set()
        self._last_ns = since_ns
        self._nodes: dict[str, Mapping[str, Any]] = {}
        self._found: tuple[SearchStatus, Received, float] | None = None
        self._scene = ""
        self._closed = False

    @property
    def recording(self) -> str:
        """The search that is being recorded; empty: none."""
        running = self._running
        return running.ticket.search_id if running else ""

    def on_message(self, message: Received) -> None:
        """Take a message of any topic but the search's state."""
        with self._lock:
            self._past.add(message)
            for recording in self._owners(message):
                self._write(recording, message)

    def on_state(self, status: SearchStatus, message: Received, now_s: float) -> None:
        """Take a state of the search, and its message.

        Args:
            status: what it says.
            message: itself.
            now_s: steady clock.
        """
        with self._lock:
            if self._closed:
                return
            self._past.add(message)
            if not status.search_id:
                self._interrupt(now_s, "the searcher was restarted before the search had ended")
                return
            known = self._of(status.search_id, status.started_ns)
            if known is None:
                if (status.search_id, status.started_ns) in self._ended:
                    return
                if status.started_ns < self._since_ns:
                    # Latched, perhaps one of several: whether it still goes on is known in a moment.
                    due = self._found[2] if self._found else now_s + SETTLE_S
                    self._found = None if status.done else (status, message, due)
                    return
                self._found = None
                self._interrupt(now_s, "the next search began before this one had ended")
                known = self._begin(status, message)
            else:
                self._write(known, message)
            known.turn = max(known.turn, status.turn)
            if status.done:
                known.info = replace(status.info, scene=known.info.scene)
                known.close_at_s = now_s + self._grace_s
                if known is self._running:
                    self._running = None
                    self._ending.append(known)

    def on_nodes(self, nodes: Mapping[str, Mapping[str, Any]]) -> None:
        """Take the parameters of nodes, by node: they go into the description of every bag that is open or opens."""
        with self._lock:
            self._nodes.update(nodes)

    def on_scene(self, scene: str) -> None:
        """Take the name of what surrounds the head."""
        with self._lock:
            self._scene = scene
            if self._running is not None and not self._running.info.scene:
                self._running.info = replace(self._running.info, scene=scene)

    def tick(self, now_s: float, *, searcher_gone: bool = False) -> None:
        """Close what is due.

        Args:
            now_s: steady clock.
            searcher_gone: nobody has published the search's state for a while.
        """
        with self._lock:
            if self._found is not None and now_s >= self._found[2]:
                status, message, _ = self._found
                self._found = None
                self._begin(status, message)
            if searcher_gone:
                self._interrupt(now_s, "the searcher went away before the search had ended")
            for recording in [r for r in self._ending if r.close_at_s is not None and now_s >= r.close_at_s]:
                self._ending.remove(recording)
                self._close(recording)

    def close(self) -> None:
        """Close every bag now; nothing is recorded afterwards."""
        with self._lock:
            self._closed = True
            if self._running is not None:
                self._running.problems.append("the recorder was stopped before the search had ended")
                self._ending.append(self._running)
                self._running = None
            for recording in self._ending:
                self._close(recording)
            self._ending.clear()

    def _of(self, search_id: str, started_ns: int | None = None) -> _Recording | None:
        """Return the newest open recording of that name, and of that start where it is given."""
        newest_first = [*([self._running] if self._running else []), *reversed(self._ending)]
        for recording in newest_first:
            if recording.ticket.search_id == search_id and started_ns in (None, recording.started_ns):
                return recording
        return None

    def _owners(self, message: Received) -> list[_Recording]:
        if message.search_id:
            own = self._of(message.search_id)
            return [own] if own else []
        newest_first = [*([self._running] if self._running else []), *reversed(self._ending)]
        # A large view may come after the next search's first state.
        begun = [recording for recording in newest_first if recording.started_ns <= message.stamp_ns]
        return (begun or newest_first)[:1]

    def _begin(self, status: SearchStatus, message: Received) -> _Recording:
        info = replace(status.info, scene=self._scene, nodes=dict(self._nodes))
        name = bag_name(info.instruction, status.search_id, status.started_ns)
        recording = _Recording(self._writer.open(status.search_id, name), status.started_ns, info, turn=status.turn)
        before, own = self._past.since(status.started_ns, status.search_id)
        if not any(one is message for one in own):
            own.append(message)
        began_ns = min([message.received_ns, *(one.received_ns for one in own)])
        self._write_info(recording, began_ns)
        for one in before:
            self._writer.write(recording.ticket, one.topic, began_ns, one.data)
        for one in own:
            self._write(recording, one)
        self._running = recording
        return recording

    def _interrupt(self, now_s: float, problem: str) -> None:
        """The running search has no end that could be recorded."""
        if self._running is not None:
            self._running.problems.append(problem)
            self._running.close_at_s = now_s + self._grace_s
            self._ending.append(self._running)
            self._running = None

    def _write(self, recording: _Recording, message: Received) -> None:
        if message.turn:
            recording.turns.add(message.turn)
        self._writer.write(recording.ticket, message.topic, message.received_ns, message.data)
        self._last_ns = message.received_ns

    def _write_info(self, recording: _Recording, stamp_ns: int) -> None:
        data = self._encode_info(recording.info.to_json())
        self._writer.write(recording.ticket, self._info_topic, stamp_ns, data)

    def _close(self, recording: _Recording) -> None:
        # The last turn is none where the search failed in it.
        missing = sorted(set(range(1, recording.turn)) - recording.turns)
        if missing:
            recording.problems.append(f"turns {', '.join(map(str, missing))} are missing: the recorder came late")
        recording.info = replace(recording.info, nodes=dict(self._nodes), notes=tuple(recording.problems))
        self._write_info(recording, self._last_ns)
        self._writer.close(recording.ticket, recording.info.to_json(), "; ".join(recording.problems))
        self._ended.add((recording.ticket.search_id, recording.started_ns))
