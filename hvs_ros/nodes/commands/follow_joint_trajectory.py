"""Commands by the action control_msgs/FollowJointTrajectory, which ros2_control's controllers offer and many drivers.

Unlike the topic of the same controller it says how a motion ended. A newer goal replaces the older one: a controller
that has only one motion ends the older itself; one that would go on with both is asked to cancel the older, once the
newer has been accepted, so that nothing stops in between. A hold cancels, and it is a goal of its own as well: what a
driver does on a cancellation is its own business, and where it comes to rest too.

control_msgs is part of every ROS distribution, but not on PyPI; it is imported when a back end is made.
"""

from __future__ import annotations

import importlib
import threading
from typing import Any

from hvs_ros.neck.commands import CommandError, Verdict
from hvs_ros.neck.joints import Joints
from hvs_ros.neck.trajectory import Trajectory
from hvs_ros.nodes.action_caller import ActionCaller, RemoteGoal
from hvs_ros.nodes.commands import setting
from hvs_ros.nodes.commands.controller_verdict import controller_verdict
from hvs_ros.nodes.commands.registry import BackendSetup
from hvs_ros.nodes.commands.trajectory_message import hold_message, motion_message

CLOSE_LIMIT_S = 0.3
"""A client that is destroyed takes with it what has not been answered yet, and the last goal is a hold."""


class FollowJointTrajectoryCommands:
    """A ``CommandBackend``.

    Args:
        setup: ``commands.topic`` is the action, e.g. ``/head_controller/follow_joint_trajectory``.
        period: s, between the points of a motion.
        hold_time: s, within which a hold brings the joints to rest.
    """

    begins_at_joints = True

    def __init__(self, setup: BackendSetup, *, period: float = 0.05, hold_time: float = 0.1) -> None:
        self._joints = setup.joints
        self._period = setting.number("period", period, 0.001, 1.0)
        self._hold_time = setting.number("hold_time", hold_time, 0.001, 2.0)
        # A lock for this object's fields, and what arrives is told on it.
        self._changed = threading.Condition()
        self._open = True
        self._motion: RemoteGoal | None = None
        self._hold: RemoteGoal | None = None
        self._caller = ActionCaller(setup.node, _import_action(), setup.commands.topic, self._changed)
        self._log = setup.node.get_logger()

    def problem(self) -> str:
        """See CommandBackend."""
        self._report_hold()
        if not self._open:
            return f"the commands to {self._caller.name} are closed"
        if self._caller.server_seen:
            return ""
        return (
            f"there is no action server {self._caller.name} (control_msgs/FollowJointTrajectory); is its controller"
            " loaded and active (ros2 control list_controllers), and is this the action in the robot's YAML"
            " (commands: topic)?"
        )

    def execute(self, trajectory: Trajectory) -> None:
        """See CommandBackend."""
        with self._changed:
            if self._open:
                before = [goal for goal in (self._motion, self._hold) if goal is not None and not goal.ended]
                self._hold = None
                self._motion = self._send(motion_message(self._joints, trajectory, self._period), before)

    def hold(self, position: Joints) -> None:
        """See CommandBackend."""
        with self._changed:
            if not self._open:
                return
            if self._motion is not None and not self._motion.ended:
                self._caller.cancel(self._motion)
                # What becomes of it is no verdict any more.
                self._motion = None
            before = [] if self._hold is None or self._hold.ended else [self._hold]
            self._hold = self._send(hold_message(self._joints, position, self._hold_time), before)

    def verdict(self) -> Verdict | None:
        """See CommandBackend; None as well for a motion that a hold ended."""
        self._report_hold()
        with self._changed:
            return None if self._motion is None else self._verdict(self._motion)

    def close(self) -> None:
        """Send nothing any more; a motion under way is canceled. Waits a moment for the controller's answer."""
        with self._changed:
            if not self._open:
                return
            self._open = False
            if self._motion is not None and not self._motion.ended:
                self._caller.cancel(self._motion)
            if self._caller.server_seen:
                self._changed.wait_for(self._answered, CLOSE_LIMIT_S)
        self._caller.close()

    def _send(self, message: Any, before: list[RemoteGoal]) -> RemoteGoal:
        goal = self._caller.goal()
        goal.trajectory = message

        def replace() -> None:
            for older in before:
                self._caller.cancel(older)

        return self._caller.send(goal, on_accepted=replace)

    def _answered(self) -> bool:
        held = self._hold is None or self._hold.accepted is not None
        return held and (self._motion is None or self._motion.ended)

    def _verdict(self, goal: RemoteGoal) -> Verdict | None:
        code, text = (0, "") if goal.result is None else (goal.result.error_code, goal.result.error_string)
        names = [joint.wire_name for joint in self._joints]
        return controller_verdict(self._caller.name, names, goal.accepted, goal.status, int(code), str(text))

    def _report_hold(self) -> None:
        with self._changed:
            verdict = None if self._hold is None else self._verdict(self._hold)
            if verdict is not None:
                self._hold = None
        if verdict is not None and not verdict.succeeded:
            self._log.warning(f"hold: {verdict.message}")


def _import_action() -> Any:
    try:
        return importlib.import_module("control_msgs.action").FollowJointTrajectory
    except ImportError as error:
        raise CommandError(
            f"control_msgs cannot be imported ({error}): apt install ros-$ROS_DISTRO-control-msgs; without a ROS"
            " distribution use the back end joint_trajectory, with the controller's topic .../joint_trajectory"
        ) from error
