"""A subscription that hears reliable and best-effort publishers alike.

A reliable subscriber never hears a best-effort publisher, and a best-effort one loses most large pictures of a reliable
publisher to fragmentation. So the subscription takes the reliability of what is published: reliable as long as
everybody is, best effort as soon as one publisher is.

The publishers are looked at from time to time. Incompatible publishers are announced by events as well, but an event
whose subscription is exchanged while the executor is about to take it stays in its callback group for ever, and the new
subscription would hear nothing (rclpy of Jazzy).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from rclpy.callback_groups import CallbackGroup, MutuallyExclusiveCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

try:
    from rclpy.event_handler import SubscriptionEventCallbacks
except ImportError:  # Humble
    from rclpy.qos_event import SubscriptionEventCallbacks

MATCH_PERIOD_S = 0.5


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
        self._closed = False
        self._subscription = self._subscribe()
        self.topic: str = self._subscription.topic_name
        self._timer = node.create_timer(
            MATCH_PERIOD_S,
            self.match,
            callback_group=MutuallyExclusiveCallbackGroup(),
            clock=Clock(clock_type=ClockType.STEADY_TIME),
        )
        self.match()

    def match(self) -> bool:
        """Take the reliability of the publishers that are there now; return whether that changed anything."""
        with self._lock:
            offered = [info.qos_profile.reliability for info in self._publishers()]
            best_effort = ReliabilityPolicy.BEST_EFFORT in offered
            wanted = ReliabilityPolicy.BEST_EFFORT if best_effort else ReliabilityPolicy.RELIABLE
            if self._closed or not offered or wanted == self._reliability:
                return False
            self._node.destroy_subscription(self._subscription)
            self._reliability = wanted
            self._subscription = self._subscribe()
        self._node.get_logger().info(f"{self.topic}: subscribed {_word(wanted)}, as it is published")
        return True

    def close(self) -> None:
        """Unsubscribe for good."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._node.destroy_timer(self._timer)
                self._node.destroy_subscription(self._subscription)

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
            event_callbacks=SubscriptionEventCallbacks(use_default_callbacks=False),
        )


def _word(policy: Any) -> str:
    return str(policy.name).lower().replace("_", " ")
