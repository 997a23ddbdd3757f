"""Tells the graph where a head looks: pose, joint_states and, where tf2_msgs is installed, tf.

``tf2_ros`` does not exist outside a distro and a broadcaster is little more than a publisher, so TFMessage is published
directly. The transforms of a view carry the view's own stamp, so that a lookup for it needs no interpolation.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from typing import Any

from hvs_interfaces.msg import HeadPose
from rclpy.node import Node
from sensor_msgs.msg import JointState

from hvs_ros import angles
from hvs_ros.neck.neck import Moment
from hvs_ros.nodes import convert
from hvs_ros.nodes.qos import latched


class StatePublisher:
    """Publishes moments of a head.

    Args:
        node: whose topics they are.
        base_frame: frame that angles refer to.
        gaze_frame: turns with the head.
        optical_frame: of the views, at the same place.
        joint_names: of ``Moment.joints``; may be changed.
        base_in: link of the robot that the base frame belongs to, and its rotation there [rad: roll, pitch, yaw], where
            it is a frame that nobody else publishes; None: it is not.
    """

    def __init__(
        self,
        node: Node,
        base_frame: str,
        gaze_frame: str,
        optical_frame: str,
        joint_names: Sequence[str],
        base_in: tuple[str, tuple[float, float, float]] | None = None,
    ) -> None:
        self._base_frame, self._gaze_frame = base_frame, gaze_frame
        self.joint_names = tuple(joint_names)
        self._pose = node.create_publisher(HeadPose, "pose", 10)
        self._joints = node.create_publisher(JointState, "joint_states", 10)
        self._tf: Any = None
        if importlib.util.find_spec("tf2_msgs") is None:
            node.get_logger().info("tf2_msgs is not installed: tf is left out, pose and joint_states are published")
            return
        self._tf_message: Any = importlib.import_module("tf2_msgs.msg").TFMessage
        self._tf = node.create_publisher(self._tf_message, "/tf", 100)
        self._tf_static = node.create_publisher(self._tf_message, "/tf_static", latched())
        now_ns = node.get_clock().now().nanoseconds
        fixed = [convert.transform(convert.header(now_ns, gaze_frame), optical_frame, angles.OPTICAL_IN_GAZE)]
        if base_in is not None:
            link, (roll, pitch, yaw) = base_in
            rotation = angles.gaze_quaternion(yaw, pitch, roll)
            fixed.append(convert.transform(convert.header(now_ns, link), base_frame, rotation))
        self._tf_static.publish(self._tf_message(transforms=fixed))

    def pose(self, moment: Moment) -> HeadPose:
        """Return the moment as a message."""
        return convert.pose_message(moment.state, moment.stamp_ns, self._base_frame, settled=moment.settled)

    def publish(self, moment: Moment) -> None:
        """Publish a moment on every topic."""
        pose, state, joints = self.pose(moment), moment.state, moment.joints
        self._pose.publish(pose)
        if joints is not None:
            self._joints.publish(
                JointState(
                    header=pose.header,
                    name=list(self.joint_names),
                    position=list(joints.position),
                    velocity=list(joints.velocity),
                )
            )
        if self._tf is not None:
            # Views are level, so their frame is too, however the camera is rolled. The base frame turns with the base.
            rotation = angles.gaze_quaternion(state.yaw - moment.turned, state.pitch)
            transform = convert.transform(pose.header, self._gaze_frame, rotation, moment.place)
            self._tf.publish(self._tf_message(transforms=[transform]))
