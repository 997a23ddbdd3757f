"""Searches from Python, through whichever node offers the ``search`` action.

Like this::

    from hvs_ros.nodes.search_client import SearchClient

    with SearchClient() as client:
        found = client.search("find the exit sign")
        print(found.outcome.value, found.submitted)

Alone, it has a node, a context and an executor of its own and leaves the process's rclpy as it is. Given a node, it
uses that one, which somebody else must spin; ``search`` blocks, so it is never called from a callback of that executor.

What comes back are records in search degrees, without pictures. A search that failed is a record too, with the outcome
and the reason; only when there is nobody to ask, or nobody answers any more, it is a ``SearchClientError``.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Any

import rclpy
from action_msgs.msg import GoalStatus
from hvs_interfaces.action import Search
from hvs_interfaces.msg import SearchState
from hvs_interfaces.msg import Turn as TurnMessage
from rclpy.context import Context
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node

from hvs_ros.benchmark.record import SearchRecord, TurnRecord
from hvs_ros.nodes.action_caller import DISCOVERY_POLL_S, ActionCaller, RemoteGoal
from hvs_ros.nodes.search_messages import search_record, task_goal, turn_record
from hvs_ros.search.task import DEFAULT_MAX_TURNS, Task, TaskKind

ACCEPT_LIMIT_S = 5.0
SILENCE_LIMIT_S = 10.0
"""A server that answers nothing for so long is gone."""
ASK_AGAIN_S = 5.0
"""How often a search under way is asked for: a server that was restarted meanwhile does not know it."""
CANCEL_LIMIT_S = 10.0


class SearchClientError(Exception):
    """There is no answer to a search; the message says why, and what to do."""


class SearchClient:
    """Asks for searches and waits for their ends. One search at a time; ``cancel`` may come from any thread.

    Args:
        node: to use; None: one of its own.
        action: name of the Search action.
        cancel_limit_s: a search that has not ended so long after its cancellation is given up.
    """

    def __init__(
        self, node: Node | None = None, *, action: str = "search", cancel_limit_s: float = CANCEL_LIMIT_S
    ) -> None:
        self._cancel_limit_s = cancel_limit_s
        self._own = _OwnNode() if node is None else None
        self._node = self._own.node if self._own is not None else node
        assert self._node is not None
        self._changed = threading.Condition()
        self._caller = ActionCaller(self._node, Search, action, self._changed)
        self._feedback: deque[Any] = deque()
        self._cancel = threading.Event()

    def __enter__(self) -> SearchClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Leave the graph (a node that was given stays)."""
        if self._own is not None:
            self._own.stop()
        self._caller.close()
        if self._own is not None:
            self._own.destroy()

    def wait_for_server(self, limit_s: float = 10.0) -> None:
        """Wait until a node offers the action and answers.

        Raises:
            SearchClientError: none does within the limit.
        """
        end = time.monotonic() + limit_s
        self._caller.expect_life()
        while not (self._caller.server_seen and self._caller.answers()):
            if time.monotonic() > end:
                spun = "" if self._own is not None else " Is the node given to this client spun in another thread?"
                raise SearchClientError(
                    f"no node offered the action {self._caller.name} within {limit_s:g} s: is search_policy running,"
                    f" in the same ROS_DOMAIN_ID?{spun}"
                )
            if self._cancel.is_set():
                return
            with self._changed:
                self._changed.wait(DISCOVERY_POLL_S)

    def search(
        self,
        instruction: str,
        *,
        kind: TaskKind = TaskKind.OBJECT,
        max_turns: int = DEFAULT_MAX_TURNS,
        search_id: str = "",
        on_turn: Callable[[TurnRecord], None] | None = None,
        on_state: Callable[[SearchState], None] | None = None,
        limit_s: float | None = None,
        server_limit_s: float = 10.0,
    ) -> SearchRecord:
        """Search, and return how it ended.

        Args:
            instruction: what to find, in words.
            kind: an object, or a path to take.
            max_turns: after how many turns a search without a submission ends.
            search_id: name for records; empty: the node makes one.
            on_turn: is given every finished turn, in this thread.
            on_state: is given every change of state until the end, in this thread.
            limit_s: after so long the search is canceled; None: its own limits must do.
            server_limit_s: how long to wait for a node that offers the action.

        Raises:
            TaskError: an empty instruction or no turn.
            SearchClientError: there is no such node, or it does not answer any more.
        """
        goal = task_goal(Task(instruction, kind, max_turns), search_id)
        self._cancel.clear()
        self._feedback.clear()
        self.wait_for_server(server_limit_s)
        remote = self._caller.send(goal, self._on_feedback)
        report = _Report(on_turn, on_state)
        try:
            self._wait(remote, report, limit_s)
        except BaseException:  # KeyboardInterrupt too: nothing is left running behind the user's back
            if not remote.ended:
                self._caller.cancel(remote)
                with contextlib.suppress(SearchClientError):
                    self._wait(remote, _Report(None, None), None, canceled=True)
            raise
        if not remote.accepted:
            raise SearchClientError(f"{self._caller.name} rejected the goal: it is shutting down")
        if remote.status == GoalStatus.STATUS_UNKNOWN:
            raise SearchClientError(f"{self._caller.name} does not know the search any more: its node was restarted")
        for turn in remote.result.turns:
            report.turn(turn)
        return search_record(remote.result)

    def cancel(self) -> None:
        """End the search under way: it returns as CANCELED. From any thread."""
        self._cancel.set()
        with self._changed:
            self._changed.notify_all()

    def _wait(self, remote: RemoteGoal, report: _Report, limit_s: float | None, *, canceled: bool = False) -> None:
        began = asked = time.monotonic()
        cancel_s = began if canceled else None
        while True:
            with self._changed:
                if not remote.ended and not self._feedback:
                    self._changed.wait(0.2)
            report.tell(self._feedback)
            if remote.ended:
                return
            now = time.monotonic()
            if cancel_s is None and (self._cancel.is_set() or (limit_s is not None and now - began > limit_s)):
                cancel_s = now
                self._caller.cancel(remote)
            if cancel_s is not None and now - cancel_s > self._cancel_limit_s:
                late = f"did not end the search within {self._cancel_limit_s:g} s of its cancellation"
                raise self._gone(remote, late)
            if remote.accepted is None and now - began > ACCEPT_LIMIT_S:
                raise self._gone(remote, f"did not answer the goal within {ACCEPT_LIMIT_S:g} s")
            if now - asked > ASK_AGAIN_S:
                asked = now
                self._caller.ask_again(remote)
            if self._caller.silence_s() > SILENCE_LIMIT_S:
                raise self._gone(remote, f"has not answered for {SILENCE_LIMIT_S:g} s and seems to be gone")

    def _gone(self, remote: RemoteGoal, what: str) -> SearchClientError:
        self._caller.abandon(remote)
        return SearchClientError(f"{self._caller.name} {what}")

    def _on_feedback(self, feedback: Any) -> None:
        with self._changed:
            self._feedback.append(feedback)
            self._changed.notify_all()


class _Report:
    """Tells the caller's functions what came in."""

    def __init__(
        self, on_turn: Callable[[TurnRecord], None] | None, on_state: Callable[[SearchState], None] | None
    ) -> None:
        self._on_turn = on_turn
        self._on_state = on_state
        self._told = 0

    def tell(self, feedback: deque[Any]) -> None:
        while feedback:
            message = feedback.popleft()
            self.turn(message.turn)
            if self._on_state is not None:
                self._on_state(message.state)

    def turn(self, message: TurnMessage) -> None:
        if message.turn > self._told:
            self._told = message.turn
            if self._on_turn is not None:
                self._on_turn(turn_record(message))


class _OwnNode:
    """A node that spins in a thread, in a context that nobody else uses."""

    def __init__(self) -> None:
        self._context = Context()
        rclpy.init(context=self._context)
        self.node = Node("search_client", context=self._context, use_global_arguments=False)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._halt = threading.Event()
        self._thread = threading.Thread(target=self._spin, name="search_client", daemon=True)
        self._thread.start()

    def _spin(self) -> None:
        while not self._halt.is_set():
            try:
                self._executor.spin_once(timeout_sec=0.5)
            except ExternalShutdownException:
                return

    def stop(self) -> None:
        self._halt.set()
        self._executor.create_task(lambda: None)  # makes spin_once return
        self._thread.join(5.0)

    def destroy(self) -> None:
        self._executor.shutdown(0)
        self.node.destroy_node()
        rclpy.try_shutdown(context=self._context)
