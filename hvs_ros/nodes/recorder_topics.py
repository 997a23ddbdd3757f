"""The topics that a recorder listens to, as serialized messages.

A subscription asks for what the publisher should offer (reliable; latched where late listeners matter) and comes down
to what it does offer when that is less: a subscriber that asks for more than is offered hears nothing at all. Messages
stay serialized, for decoding and encoding a picture again would cost more than everything else here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from hvs_ros.recording.bag import Topic
from hvs_ros.recording.qos import Offer

try:
    from rclpy.event_handler import SubscriptionEventCallbacks
except ImportError:  # Humble
    from rclpy.qos_event import SubscriptionEventCallbacks


@dataclass(frozen=True)
class Wanted:
    """A topic to be recorded.

    Attributes:
        name: relative names are the node's, remappable.
        message: its class.
        latched: late listeners are told the last message.
        depth: of the queue.
        required: an episode without it is poor, and nobody publishing it is worth a warning.
        headed: the message begins with a Header.
    """

    name: str
    message: Any
    latched: bool = False
    depth: int = 50
    required: bool = False
    headed: bool = True


class RawSubscription:
    """Listens to one topic.

    Args:
        node: whose subscription it is.
        wanted: what.
        callback: is given the topic as it is recorded, and the serialized message.
        group: of the callback.
    """

    def __init__(
        self, node: Node, wanted: Wanted, callback: Callable[[Topic, bytes], None], group: CallbackGroup
    ) -> None:
        self.wanted = wanted
        self._node, self._callback, self._group = node, callback, group
        self._lock = threading.Lock()
        self._reliable, self._latched = True, wanted.latched
        self._offer: Offer | None = None
        self._kind = f"{wanted.message.__module__.split('.')[0]}/msg/{wanted.message.__name__}"
        self._subscription = self._subscribe()
        self.name: str = self._subscription.topic_name

    @property
    def publishers(self) -> int:
        """How many publish it now."""
        return int(self._node.count_publishers(self.name))

    def topic(self) -> Topic:
        """Return the topic with what its publishers offer."""
        if self._offer is None:
            offered = self._offered()
            default = Offer(latched=self.wanted.latched, depth=1 if self.wanted.latched else 10)
            if not offered:
                return Topic(self.name, self._kind, default)
            # Depths are not told; late listeners want the last message.
            latched = any(qos.durability == DurabilityPolicy.TRANSIENT_LOCAL for qos in offered)
            reliable = all(qos.reliability != ReliabilityPolicy.BEST_EFFORT for qos in offered)
            self._offer = Offer(reliable, latched, 1 if latched else 10)
        return Topic(self.name, self._kind, self._offer)

    def adapt(self) -> None:
        """Come down to what is offered."""
        offered = self._offered()
        if not offered:
            return
        reliable = all(qos.reliability != ReliabilityPolicy.BEST_EFFORT for qos in offered)
        latched = self.wanted.latched and all(qos.durability != DurabilityPolicy.VOLATILE for qos in offered)
        with self._lock:
            if (reliable, latched) == (self._reliable, self._latched):
                return
            self._node.destroy_subscription(self._subscription)
            self._reliable, self._latched, self._offer = reliable, latched, None
            self._subscription = self._subscribe()
        words = f"{'reliable' if reliable else 'best effort'}, {'latched' if latched else 'volatile'}"
        self._node.get_logger().info(f"{self.name}: subscribed {words}, as it is published")

    def _offered(self) -> list[QoSProfile]:
        return [info.qos_profile for info in self._node.get_publishers_info_by_topic(self.name)]

    def _subscribe(self) -> Any:
        profile = QoSProfile(
            depth=self.wanted.depth,
            reliability=ReliabilityPolicy.RELIABLE if self._reliable else ReliabilityPolicy.BEST_EFFORT,
            durability=DurabilityPolicy.TRANSIENT_LOCAL if self._latched else DurabilityPolicy.VOLATILE,
        )
        return self._node.create_subscription(
            self.wanted.message,
            self.wanted.name,
            self._take,
            profile,
            callback_group=self._group,
            event_callbacks=SubscriptionEventCallbacks(incompatible_qos=lambda _: self.adapt()),
            raw=True,
        )

    def _take(self, data: Any) -> None:
        self._callback(self.topic(), data)
