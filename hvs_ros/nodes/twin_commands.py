"""What a twin's controllers are told on topics goes to its joints."""

from __future__ import annotations

import math
from collections.abc import Callable

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from hvs_ros.mock.twin.controller import JointUnits, Waypoint
from hvs_ros.mock.twin.twin import Twin
from hvs_ros.neck.robot import NeckJoint
from hvs_ros.nodes import convert


class TrajectoryReader:
    """Understands trajectories.

    Args:
        joints: that they may be for.
    """

    def __init__(self, joints: tuple[NeckJoint, ...]) -> None:
        self._units = JointUnits(joints)

    def read(self, message: JointTrajectory) -> tuple[list[str], list[Waypoint], int]:
        """Return the URDF's names of its joints, its points, and the moment that they count from (0: at once).

        Raises:
            ValueError: a joint that is not known, too few values, or times that do not increase.
        """
        joints = self._units.named(message.joint_names)
        points, before = [], -math.inf
        for point in message.points:
            time = convert.duration_s(point.time_from_start)
            if not time > before:
                raise ValueError(f"the times of its points do not increase: {before:g} s, then {time:g} s")
            if not convert.is_finite(*point.positions, *point.velocities):
                raise ValueError(f"the point at {time:g} s is not of finite numbers")
            points.append(JointUnits.waypoint(joints, time, point.positions, point.velocities))
            before = time
        return [joint.name for joint in joints], points, convert.time_ns(message.header.stamp)


class TrajectoryTopic:
    """Listens to trajectory_msgs/JointTrajectory.

    Args:
        node: that listens.
        twin: whose joints move.
        topic: name.
        joints: that the controller has.
        complain: is told what could not be done.
    """

    def __init__(
        self, node: Node, twin: Twin, topic: str, joints: tuple[NeckJoint, ...], complain: Callable[[str], None]
    ) -> None:
        self._node, self._twin, self._topic, self._complain = node, twin, topic, complain
        self._reader = TrajectoryReader(joints)
        group = MutuallyExclusiveCallbackGroup()
        node.create_subscription(JointTrajectory, topic, self._on_message, 10, callback_group=group)

    def _on_message(self, message: JointTrajectory) -> None:
        try:
            joints, points, begin_ns = self._reader.read(message)
        except ValueError as error:
            self._complain(f"{self._topic}: a trajectory is refused: {error}")
            return
        if points:
            beyond = self._twin.beyond(dict(zip(joints, points[-1].position, strict=True)))
            if beyond:
                self._complain(f"{self._topic}: driven into its stop: {beyond}")
        self._twin.follow(self._node.get_clock().now().nanoseconds, joints, points, begin_ns)


class PositionTopic:
    """Listens to std_msgs/Float64MultiArray: a position for each joint, in the order of the robot's file.

    Args:
        node: that listens.
        twin: whose joints move.
        topic: name.
        joints: that the controller has.
        complain: is told what could not be done.
    """

    def __init__(
        self, node: Node, twin: Twin, topic: str, joints: tuple[NeckJoint, ...], complain: Callable[[str], None]
    ) -> None:
        self._node, self._twin, self._topic, self._complain = node, twin, topic, complain
        self._joints = joints
        group = MutuallyExclusiveCallbackGroup()
        node.create_subscription(Float64MultiArray, topic, self._on_message, 10, callback_group=group)

    def _on_message(self, message: Float64MultiArray) -> None:
        if len(message.data) != len(self._joints) or not convert.is_finite(*message.data):
            names = ", ".join(joint.wire_name for joint in self._joints)
            self._complain(f"{self._topic}: refused: {list(message.data)} are no positions of {names}")
            return
        pairs = zip(self._joints, message.data, strict=True)
        positions = {joint.name: joint.from_driver(value) for joint, value in pairs}
        beyond = self._twin.beyond(positions)
        if beyond:
            self._complain(f"{self._topic}: driven into its stop: {beyond}")
        self._twin.forward(self._node.get_clock().now().nanoseconds, positions)
