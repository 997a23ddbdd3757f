"""The base topics of a twin: velocity commands in, odometry out. It turns, and does not drive."""

from __future__ import annotations

import math
from typing import Any

from geometry_msgs.msg import Quaternion, Twist, TwistStamped
from nav_msgs.msg import Odometry
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node

from hvs_ros.mock.twin.twin import Twin
from hvs_ros.neck.robot import Robot
from hvs_ros.nodes import convert

ODOMETRY_HZ = 50.0


class TwinBase:
    """Turns the twin's base.

    Args:
        node: whose topics they are.
        robot: names them.
        twin: that turns.
    """

    def __init__(self, node: Node, robot: Robot, twin: Twin) -> None:
        self._node, self._twin, self._stamped = node, twin, robot.turn.stamped
        self._frame = robot.base.name
        group = MutuallyExclusiveCallbackGroup()
        kind = TwistStamped if self._stamped else Twist
        node.create_subscription(kind, robot.turn.cmd_vel, self._on_command, 10, callback_group=group)
        self._odometry = node.create_publisher(Odometry, robot.turn.odom, 10)
        node.create_timer(1.0 / ODOMETRY_HZ, self._publish, callback_group=MutuallyExclusiveCallbackGroup())

    def _on_command(self, message: Any) -> None:
        twist = message.twist if self._stamped else message
        if math.isfinite(twist.angular.z):
            self._twin.turn_base(self._node.get_clock().now().nanoseconds, twist.angular.z)

    def _publish(self) -> None:
        if not self._odometry.get_subscription_count():
            return
        now_ns = self._node.get_clock().now().nanoseconds
        heading, velocity = self._twin.odometry(now_ns)
        message = Odometry(header=convert.header(now_ns, "odom"), child_frame_id=self._frame)
        message.pose.pose.orientation = Quaternion(z=math.sin(heading / 2), w=math.cos(heading / 2))
        message.twist.twist.angular.z = velocity
        self._odometry.publish(message)
