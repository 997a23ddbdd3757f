"""A head moved by hand, so to say: one direction after the other, each with its view and the joints that turned.

For programs outside the search: the check of signs, a head that is put into its start direction.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState

from hvs_ros.angles import Direction
from hvs_ros.bringup import HEAD_NAMESPACE
from hvs_ros.nodes.head_client import HeadClient
from hvs_ros.nodes.head_mover import HeadLimits
from hvs_ros.nodes.search_stop import Stop
from hvs_ros.search.view import Arrival, View

MOVED_RAD = 0.01
"""A joint that turned less has not turned."""


class WatchedHead:
    """Moves a head and looks; see ``watched_head``.

    Args:
        node: spun by a multi-threaded executor.
        joint_states: topic of the robot's joints; empty: they are not watched.
    """

    def __init__(self, node: Node, joint_states: str = "") -> None:
        self._changed = threading.Condition()
        self._client = HeadClient(node, HEAD_NAMESPACE, "raw", HeadLimits(), self._changed)
        self._stop = Stop(self._changed, wake=lambda: None)
        self._joints: dict[str, float] = {}
        if joint_states:
            node.create_subscription(JointState, joint_states, self._on_joints, qos_profile_sensor_data)

    def begin(self) -> None:
        """Begin; a view can be had from now on."""
        self._client.begin(self._stop)

    def close(self) -> None:
        """Leave the head as it is."""
        self._stop.finish()
        self._client.end()
        self._client.close()

    def turn_to(self, direction: Direction, max_velocity: float = 0.0) -> Arrival:
        """Turn and wait for the end of it.

        Args:
            direction: where to look.
            max_velocity: rad/s; 0: as fast as the head does by itself.

        Raises:
            SearchFailure: no head answers.
        """
        return self._client.turn_to(direction, max_velocity)

    def look(self) -> View:
        """Return the first view since the last move.

        Raises:
            SearchFailure: there is none.
        """
        return self._client.look()

    def joints(self) -> dict[str, float]:
        """Return where the joints are now [rad], by their names in joint_states."""
        with self._changed:
            return dict(self._joints)

    def _on_joints(self, message: JointState) -> None:
        with self._changed:
            self._joints.update(zip(message.name, message.position, strict=False))


@contextmanager
def watched_head(node: Node, joint_states: str = "") -> Iterator[WatchedHead]:
    """Give the head of a graph to the block; see ``WatchedHead``."""
    head = WatchedHead(node, joint_states)
    try:
        head.begin()
        yield head
    finally:
        head.close()


def turned_most(before: dict[str, float], after: dict[str, float]) -> list[str]:
    """Return the joints that turned, the one that turned most first."""
    ways = {name: abs(position - before[name]) for name, position in after.items() if name in before}
    return sorted((name for name, way in ways.items() if way > MOVED_RAD), key=lambda name: -ways[name])
