"""A robot's joint states, brought to the joints and signs of its URDF.

Several drivers may publish on the topic, each its own joints; a sample goes out as soon as every joint is known, and
carries the stamp of the message that completed it, as long as no joint's value is older than a limit.
A driver that tells no velocities, or all zeros while positions change, gets them from the positions.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState

from hvs_ros.neck.joints import JointSample
from hvs_ros.neck.robot import NeckJoint
from hvs_ros.nodes.convert import NS, time_ns

SHORTEST_S = 1e-4
"""Messages closer together than this give no velocity."""

MOST_RAD = 1e5
"""Angles beyond it, and those that are no numbers, are a fault of the driver, and nothing moves by them."""
MOST_RAD_S = 1e3
"""Velocities beyond it, and those that are no numbers, count as not told."""


@dataclass
class _Told:
    stamp_ns: int
    position: float
    velocity: float


class RobotJoints:
    """Subscribes to joint states.

    Args:
        node: whose subscription it is.
        topic: of sensor_msgs/JointState.
        joints: names in the URDF, in the order of the samples.
        known: those of them that the robot's YAML tells more of (sign, offset, the driver's name).
        limit_s: a joint that has not been told for so long makes a sample incomplete.
        callback: is given each sample, in a thread of the executor.
    """

    def __init__(
        self,
        node: Node,
        topic: str,
        joints: Sequence[str],
        known: Sequence[NeckJoint],
        limit_s: float,
        callback: Callable[[JointSample], None],
    ) -> None:
        described = {joint.name: joint for joint in known}
        self._node, self._limit_s, self._callback = node, limit_s, callback
        self._joints = [described.get(name, NeckJoint(name)) for name in joints]
        self._lock = threading.Lock()
        self._told: dict[str, _Told] = {}
        self._last_names: list[str] = []
        self._nonsense = ""
        self._complete_s = -math.inf
        # Best effort hears reliable publishers too.
        self._subscription = node.create_subscription(
            JointState,
            topic,
            self._on_message,
            QoSProfile(depth=20, reliability=ReliabilityPolicy.BEST_EFFORT),
            callback_group=MutuallyExclusiveCallbackGroup(),
        )

    def problem(self) -> str:
        """Return why there are no samples, naming topic and joints; empty: there are."""
        topic = self._subscription.topic_name
        with self._lock:
            if time.monotonic() - self._complete_s <= self._limit_s:
                return ""
            if self._nonsense:
                return f"joint states on {topic}: {self._nonsense}"
            missing = [joint.wire_name for joint in self._joints if joint.name not in self._told]
            names = ", ".join(self._last_names[:12])
        publishers = self._node.get_publishers_info_by_topic(topic)
        if not publishers:
            return f"joint states on {topic} (nobody publishes it)"
        kinds = sorted({info.topic_type for info in publishers} - {"sensor_msgs/msg/JointState"})
        if kinds:
            return f"joint states on {topic} (it is of type {', '.join(kinds)})"
        if missing and names:
            return f"joint states of {', '.join(missing)} on {topic} (told are {names})"
        return f"joint states on {topic} (it is published, but nothing arrives)"

    def close(self) -> None:
        """Unsubscribe."""
        self._node.destroy_subscription(self._subscription)

    def _on_message(self, message: JointState) -> None:
        stamp = time_ns(message.header.stamp) or int(self._node.get_clock().now().nanoseconds)
        positions = dict(zip(message.name, message.position, strict=False))
        velocities = dict(zip(message.name, message.velocity, strict=False))
        with self._lock:
            self._last_names = list(message.name)
            self._nonsense = ""
            ours = False
            for joint in self._joints:
                name = joint.wire_name
                if name not in positions:
                    continue
                if not abs(positions[name]) <= MOST_RAD:  # written so that NaN fails too
                    self._nonsense = f"{name} is {positions[name]}"
                    return
                ours = True
                self._tell(joint, stamp, positions[name], velocities.get(name, math.nan))
            sample = self._sample(stamp) if ours else None
        if sample is not None:
            self._callback(sample)

    def _tell(self, joint: NeckJoint, stamp: int, position: float, velocity: float) -> None:
        position = joint.from_driver(position)
        before = self._told.get(joint.name)
        if not abs(velocity) <= MOST_RAD_S or velocity == 0.0:
            velocity = 0.0 if before is None else _slope(before, stamp, position)
        else:
            velocity = joint.sign * velocity
        self._told[joint.name] = _Told(stamp, position, velocity)

    def _sample(self, stamp: int) -> JointSample | None:
        told = [self._told.get(joint.name) for joint in self._joints]
        known = [one for one in told if one is not None and abs(stamp - one.stamp_ns) / NS <= self._limit_s]
        if len(known) < len(told):
            return None
        self._complete_s = time.monotonic()
        return JointSample(stamp, tuple(one.position for one in known), tuple(one.velocity for one in known))


def _slope(before: _Told, stamp: int, position: float) -> float:
    seconds = (stamp - before.stamp_ns) / NS
    return before.velocity if seconds < SHORTEST_S else (position - before.position) / seconds
