"""A topic that a controller listens to."""

from __future__ import annotations

import threading
from typing import Any

from rclpy.duration import Duration
from rclpy.node import Node

ACKNOWLEDGED_LIMIT_S = 0.2
"""A publisher that is destroyed takes with it what has not arrived yet, and the last command is a hold."""


class Outlet:
    """Publishes until it is closed, and knows whether anybody listens. Thread-safe.

    A controller that is loaded but not active listens as well, and drops what it hears: that only the joints can tell.

    Args:
        node: whose publisher it is.
        kind: message type.
        topic: relative names are the node's, remappable.
    """

    def __init__(self, node: Node, kind: Any, topic: str) -> None:
        self._node = node
        self._lock = threading.Lock()
        self._open = True
        self._kind = f"{kind.__module__.split('.')[0]}/{kind.__name__}"
        self._publisher = node.create_publisher(kind, topic, 10)
        self.topic = str(self._publisher.topic_name)

    def send(self, message: Any) -> None:
        """Publish; after ``close``: nothing."""
        with self._lock:
            if self._open:
                self._publisher.publish(message)

    def problem(self) -> str:
        """Return why nobody would hear a command; empty: somebody does."""
        with self._lock:
            if not self._open:
                return f"the commands on {self.topic} are closed"
            if self._publisher.get_subscription_count() > 0:
                return ""
            others = self._node.get_subscriptions_info_by_topic(self.topic)
        if others:
            found = ", ".join(sorted({f"{other.node_name} ({other.topic_type})" for other in others}))
            return f"nobody understands {self._kind} on {self.topic}: {found} listens with another type or QoS"
        return (
            f"nobody subscribes to {self.topic} ({self._kind}); is its controller loaded and active"
            " (ros2 control list_controllers), and is this the topic in the robot's YAML (commands: topic)?"
        )

    def close(self) -> None:
        """Send nothing any more; what was sent last is waited for a moment."""
        with self._lock:
            if self._open:
                self._open = False
                self._publisher.wait_for_all_acked(Duration(seconds=ACKNOWLEDGED_LIMIT_S))
                self._node.destroy_publisher(self._publisher)
