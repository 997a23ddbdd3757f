"""Goals for an action server, sent and waited for from threads that are not the executor's.

Why not plain ActionClient calls:

* rclpy notes who waits for a response only after the request has left. Called from another thread, the response can
  come first; it is then dropped and the goal hangs for ever. So every request is sent by a callback in the client's
  own, mutually exclusive callback group, where no response can be handled at the same time.
* A server that dies says nothing, and DDS takes 20 s to notice. So the server is pinged while somebody waits: a request
  for the result of a goal that never existed is answered at once by every action server and changes nothing.
* A server that has been discovered may not have discovered this client yet; what it answers is lost. A ping that was
  answered proves that it has: the result's endpoint is the last of the client's services to be announced.

Waits are on a condition that also tells of interruptions; none is without a limit.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections import deque
from collections.abc import Callable
from typing import Any

from rclpy.action import ActionClient
from rclpy.action.client import ClientGoalHandle
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.exceptions import InvalidHandle
from rclpy.node import Node
from unique_identifier_msgs.msg import UUID

PING_PERIOD_S = 0.5
FIRST_PING_PERIOD_S = 0.1
"""Until the first answer."""
KEPT_PINGS = 20
DISCOVERY_POLL_S = 0.05
"""The graph has no event for an action server that appears."""


class _Client(ActionClient):
    """An action client that may be destroyed while a message for it is about to be taken."""

    def take_data(self) -> dict[str, Any]:
        """See rclpy, whose other entities do this by themselves."""
        try:
            data: dict[str, Any] = super().take_data()
        except InvalidHandle:
            return {}
        return data


class RemoteGoal:
    """A goal on its way. Fields are written by the executor's threads and read by the one that waits.

    Attributes:
        accepted: None until the server has answered.
        status: GoalStatus of the end; None until then. STATUS_UNKNOWN: the server does not know the goal any more.
        result: the action's Result; None until then.
    """

    def __init__(
        self, on_feedback: Callable[[Any], None] | None, on_accepted: Callable[[], None] | None = None
    ) -> None:
        self.accepted: bool | None = None
        self.status: int | None = None
        self.result: Any = None
        self.on_feedback = on_feedback
        self.on_accepted = on_accepted
        self.handle: ClientGoalHandle | None = None
        self.cancel_wanted = False
        self.futures: list[Any] = []

    @property
    def ended(self) -> bool:
        """It was rejected, or its result is here."""
        return self.accepted is False or self.status is not None


class ActionCaller:
    """A client of one action.

    Args:
        node: spun by an executor in some other thread.
        action_type: the action.
        name: relative names are the node's, remappable.
        changed: notified whenever something arrives; its lock guards nothing else here.
    """

    def __init__(self, node: Node, action_type: Any, name: str, changed: threading.Condition) -> None:
        self._node = node
        self._type = action_type
        self._changed = changed
        self._group = MutuallyExclusiveCallbackGroup()
        self._client = _Client(node, action_type, name, callback_group=self._group)
        self._calls: deque[Callable[[], None]] = deque()
        self._guard = node.create_guard_condition(self._run_calls, callback_group=self._group)
        self._unanswered = 0
        self._pinged_s = 0.0
        self._heard = False
        self._pings: deque[Any] = deque()
        self.name = node.resolve_service_name(name)

    def close(self) -> None:
        """Destroy the client."""
        self._node.destroy_guard_condition(self._guard)
        self._client.destroy()

    @property
    def server_seen(self) -> bool:
        """A server of this action is in the graph (or was, some seconds ago)."""
        try:
            return bool(self._client.server_is_ready())
        except InvalidHandle:  # the node is being destroyed
            return False

    def goal(self) -> Any:
        """Return a new goal message."""
        return self._type.Goal()

    def send(
        self,
        goal: Any,
        on_feedback: Callable[[Any], None] | None = None,
        on_accepted: Callable[[], None] | None = None,
    ) -> RemoteGoal:
        """Send a goal and return at once.

        Args:
            goal: the message.
            on_feedback: is given feedback messages, in a thread of the executor.
            on_accepted: is called when the goal has been accepted, in a thread of the executor.
        """
        remote = RemoteGoal(on_feedback, on_accepted)
        self._call(lambda: self._send(goal, remote))
        return remote

    def cancel(self, remote: RemoteGoal) -> None:
        """Ask the server to end the goal; also when it has not been answered yet."""
        self._call(lambda: self._cancel(remote))

    def abandon(self, remote: RemoteGoal) -> None:
        """Stop waiting for a result that will not come; a goal that is accepted late is still canceled if asked for."""
        if remote.accepted:
            self._call(lambda: [future.cancel() for future in remote.futures if not future.done()])

    def ask_again(self, remote: RemoteGoal) -> None:
        """Ask for the result once more: a server that was restarted ends a goal that it does not know, status UNKNOWN.

        It answers pings like the one before it, so that its silence tells nothing.
        """
        if remote.accepted and not remote.ended:
            self._call(lambda: self._ask_result(remote))

    def expect_life(self) -> None:
        """Start to count the server's silence from now."""
        self._unanswered, self._heard = 0, False

    def answers(self) -> bool:
        """Return whether the server has answered anything since ``expect_life``, and ping it if not."""
        if not self._heard:
            self._ping_after(FIRST_PING_PERIOD_S)
        return self._heard

    def silence_s(self) -> float:
        """Return for how long the server has said nothing, and ping it; to be called again and again while waiting.

        What counts is pings without an answer, so that a stall of this process is not taken for one of the server.
        """
        self._ping_after(PING_PERIOD_S)
        return self._unanswered * PING_PERIOD_S

    def _ping_after(self, period_s: float) -> None:
        now = time.monotonic()
        if now - self._pinged_s > period_s:
            self._pinged_s = now
            self._unanswered += 1
            self._call(self._send_ping)

    def _call(self, function: Callable[[], Any]) -> None:
        self._calls.append(function)
        self._guard.trigger()

    def _run_calls(self) -> None:
        while self._calls:
            self._calls.popleft()()

    def _send(self, goal: Any, remote: RemoteGoal) -> None:
        def on_feedback(message: Any) -> None:
            self._hear()
            if remote.on_feedback is not None:
                remote.on_feedback(message.feedback)

        future = self._client.send_goal_async(goal, feedback_callback=on_feedback)
        remote.futures.append(future)
        future.add_done_callback(lambda done: self._answered(done, remote))

    def _answered(self, future: Any, remote: RemoteGoal) -> None:
        handle = None if future.cancelled() else future.result()
        if handle is None:
            return
        self._hear()
        remote.handle = handle
        if handle.accepted:
            self._call(lambda: self._ask_result(remote))
            if remote.on_accepted is not None:
                remote.on_accepted()
        with self._changed:
            remote.accepted = bool(handle.accepted)
            self._changed.notify_all()

    def _ask_result(self, remote: RemoteGoal) -> None:
        assert remote.handle is not None
        future = remote.handle.get_result_async()
        remote.futures.append(future)
        future.add_done_callback(lambda done: self._ended(done, remote))
        if remote.cancel_wanted:
            remote.handle.cancel_goal_async()

    def _ended(self, future: Any, remote: RemoteGoal) -> None:
        response = None if future.cancelled() else future.result()
        if response is None:
            return
        self._hear()
        with self._changed:
            remote.result, remote.status = response.result, response.status
            self._changed.notify_all()

    def _cancel(self, remote: RemoteGoal) -> None:
        if remote.handle is None:
            remote.cancel_wanted = True
        elif not remote.ended:
            remote.handle.cancel_goal_async()

    def _send_ping(self) -> None:
        if not self.server_seen:
            return
        # An answer may be late, but not for ever.
        if len(self._pings) == KEPT_PINGS:
            self._pings.popleft().cancel()
        nobody = ClientGoalHandle(
            self._client, UUID(uuid=list(uuid.uuid4().bytes)), self._type.Impl.SendGoalService.Response()
        )
        ping = nobody.get_result_async()
        self._pings.append(ping)
        ping.add_done_callback(lambda done: None if done.cancelled() else self._hear())

    def _hear(self) -> None:
        self._unanswered = 0
        with self._changed:
            self._heard = True
            self._changed.notify_all()
