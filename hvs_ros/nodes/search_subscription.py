"""A subscription that hears reliable and best-effort publishers alike.

A reliable subscriber never hears a best-effort publisher, and a best-effort one loses most large pictures of a reliable
publisher to fragmentation. So the subscription takes the reliability of what is published: reliable as long as
everybody is, best effort as soon as one publisher is.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

try:
    from rclpy.event_handler import SubscriptionEventCallbacks
except ImportError:  # Humble
    from rclpy.qos_event import SubscriptionEventCallbacks


class MatchingSubscription:
    """Subscribes to one topic.

    Args:
        node: whose subscription it is.
        kind: message type.
        topic: relative names are the node's, remappable.
        callback: is given the messages, in threads of the executor.
        depth: of the queue.
        group: of the callback.
    """

    def __init__(
        self, node: Node, kind: Any, topic: str, callback: Callable[[Any], None], depth: int, group: CallbackGroup
    ) -> None:
        self._node, self._kind, self._topic, self._callback = node, kind, topic, callback
        self._depth, self._group = depth, group
        self._lock = threading.Lock()
        self._reliability = ReliabilityPolicy.RELIABLE
        self._subscription = self._subscribe()
        self.topic: str = self._subscription.topic_name

    def match(self) -> bool:
        """Take the reliability of the publishers that are there now; return whether that changed anything."""
        with self._lock:
            offered = [info.qos_profile.reliability for info in self._publishers()]
            best_effort = ReliabilityPolicy.BEST_EFFORT in offered
            wanted = ReliabilityPolicy.BEST_EFFORT if best_effort else ReliabilityPolicy.RELIABLE
            if not offered or wanted == self._reliability:
                return False
            self._node.destroy_subscription(self._subscription)
            self._reliability = wanted
            self._subscription = self._subscribe()
        self._node.get_logger().info(f"{self.topic}: subscribed {_word(wanted)}, as it is published")
        return True

    def describe(self) -> str:
        """Say who publishes the topic, of which type and with which QoS."""
        publishers = self._publishers()
        if not publishers:
            return f"nobody publishes {self.topic}"
        return f"{self.topic} is published by {'; '.join(map(self._description, publishers))}"

    def _publishers(self) -> list[Any]:
        return list(self._node.get_publishers_info_by_topic(self._topic))

    def _description(self, info: Any) -> str:
        qos = info.qos_profile
        wanted = f"{self._kind.__module__.split('.')[0]}/msg/{self._kind.__name__}"
        wrong = "" if info.topic_type == wanted else f", of type {info.topic_type} instead of {wanted}"
        node = f"{info.node_namespace.rstrip('/')}/{info.node_name}"
        return f"{node} ({_word(qos.reliability)}, {_word(qos.durability)}{wrong})"

    def _subscribe(self) -> Any:
        return self._node.create_subscription(
            self._kind,
            self._topic,
            self._callback,
            QoSProfile(depth=self._depth, reliability=self._reliability, durability=DurabilityPolicy.VOLATILE),
            callback_group=self._group,
            event_callbacks=SubscriptionEventCallbacks(incompatible_qos=lambda _: self._incompatible()),
        )

    def _incompatible(self) -> None:
        self.match()


def _word(policy: Any) -> str:
    return str(policy.name).lower().replace("_", " ")
