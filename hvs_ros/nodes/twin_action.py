"""The action control_msgs/FollowJointTrajectory of a twin's controller.

It does what joint_trajectory_controller does without tolerances: a goal succeeds when its time is over, wherever the
joints are, and a newer goal takes over. Each goal waits in an executor thread of its own.
"""

from __future__ import annotations

import importlib
import importlib.util
import threading
from collections.abc import Callable
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node

from hvs_ros.mock.twin.twin import Twin
from hvs_ros.neck.robot import NeckJoint
from hvs_ros.nodes.convert import NS
from hvs_ros.nodes.twin_commands import TrajectoryReader
from hvs_ros.nodes.twin_parameters import TwinParameters

POLL_S = 0.01


def have_action() -> bool:
    """Return whether control_msgs is installed: it is not on PyPI."""
    return importlib.util.find_spec("control_msgs") is not None


class TrajectoryAction:
    """Offers the action.

    Args:
        node: whose action it is.
        twin: whose joints move.
        name: of the action.
        joints: that the controller has.
        parameters: returns the node's present ones.
        complain: is told what could not be done.
    """

    def __init__(
        self,
        node: Node,
        twin: Twin,
        name: str,
        joints: tuple[NeckJoint, ...],
        parameters: Callable[[], TwinParameters],
        complain: Callable[[str], None],
    ) -> None:
        self._node, self._twin, self._name = node, twin, name
        self._parameters, self._complain = parameters, complain
        self._reader = TrajectoryReader(joints)
        self._type: Any = importlib.import_module("control_msgs.action").FollowJointTrajectory
        self._lock = threading.Lock()
        self._newest = 0
        self._closed = threading.Event()
        self._server = ActionServer(
            node,
            self._type,
            name,
            execute_callback=self._execute,
            goal_callback=self._on_goal,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            callback_group=ReentrantCallbackGroup(),
        )

    def close(self) -> None:
        """End every goal."""
        self._closed.set()

    def destroy(self) -> None:
        """Remove the action."""
        self._server.destroy()

    def _on_goal(self, goal: Any) -> GoalResponse:
        try:
            self._reader.read(goal.trajectory)
        except ValueError as error:
            self._complain(f"{self._name}: a goal is rejected: {error}")
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _execute(self, handle: ServerGoalHandle) -> Any:
        joints, points, begin_ns = self._reader.read(handle.request.trajectory)
        with self._lock:
            self._newest = mine = self._newest + 1
            now_ns = self._now()
            self._twin.follow(now_ns, joints, points, begin_ns)
        end_ns = (begin_ns or now_ns) + round(points[-1].time * NS if points else 0.0)
        outcomes = self._type.Result
        while self._now() < end_ns and not self._closed.wait(POLL_S):
            if handle.is_cancel_requested:
                with self._lock:
                    # One that has been replaced moves nothing any more, so there is nothing to stop.
                    if self._newest == mine:
                        self._twin.hold(self._now(), joints)
                handle.canceled()
                return outcomes(error_code=outcomes.SUCCESSFUL, error_string="canceled")
            if self._newest != mine:
                handle.abort()
                return outcomes(error_code=outcomes.INVALID_GOAL, error_string="a newer goal took over")
        if self._closed.is_set():
            handle.abort()
            return outcomes(error_code=outcomes.INVALID_GOAL, error_string="the controller shuts down")
        if self._parameters().abort_at_goal:
            handle.abort()
            text = "aborted due to goal_time_tolerance exceeding: a fault that was asked for"
            return outcomes(error_code=outcomes.GOAL_TOLERANCE_VIOLATED, error_string=text)
        handle.succeed()
        return outcomes(error_code=outcomes.SUCCESSFUL, error_string="goal reached")

    def _now(self) -> int:
        return int(self._node.get_clock().now().nanoseconds)
