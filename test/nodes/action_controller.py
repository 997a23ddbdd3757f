"""A stand-in for a controller behind the action FollowJointTrajectory; needs control_msgs."""

from __future__ import annotations

import threading
import time
from typing import Any

from control_msgs.action import FollowJointTrajectory
from controllers import Interpolator
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node

from hvs_ros.nodes import convert


class ActionController(Interpolator):
    """Follows goals.

    Args:
        node: whose action it is.
        name: of the action.
        preempts: a newer goal ends the older one, as in joint_trajectory_controller; or else both go on.

    Attributes:
        refuses: goals are rejected.
        code: error code with which goals end when they are through; 0: they succeed.
        ends: how goals ended, in order.
    """

    def __init__(self, node: Node, name: str, *, preempts: bool = True) -> None:
        super().__init__()
        self.refuses = False
        self.code = 0
        self.ends: list[str] = []
        self._preempts = preempts
        self._newest: Any = None
        self._closed = threading.Event()
        self._server = ActionServer(
            node,
            FollowJointTrajectory,
            name,
            self._execute,
            goal_callback=lambda _: GoalResponse.REJECT if self.refuses else GoalResponse.ACCEPT,
            handle_accepted_callback=self._accept,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            callback_group=ReentrantCallbackGroup(),
        )

    def close(self) -> None:
        """End every goal, and the server."""
        self._closed.set()
        self._server.destroy()

    def _accept(self, handle: Any) -> None:
        self._newest = handle
        self.play(handle.request.trajectory)
        handle.execute()

    def _execute(self, handle: Any) -> Any:
        end = time.monotonic() + convert.duration_s(handle.request.trajectory.points[-1].time_from_start)
        while time.monotonic() < end and not self._closed.is_set():
            if handle.is_cancel_requested:
                if handle is self._newest:
                    self.stay()
                return self._end(handle.canceled, "canceled")
            if self._preempts and handle is not self._newest:
                return self._end(handle.abort, "preempted")
            time.sleep(0.005)
        if self.code:
            return self._end(handle.abort, "failed", self.code)
        return self._end(handle.succeed, "succeeded")

    def _end(self, how: Any, word: str, code: int = 0) -> Any:
        how()
        self.ends.append(word)
        return FollowJointTrajectory.Result(error_code=code, error_string=f"tilt is 0.0123 off, {word}")
