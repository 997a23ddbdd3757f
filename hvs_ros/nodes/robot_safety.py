"""What stops a head whatever it is doing: the topic ``e_stop`` and the service ``stop``.

Either ends all motion at once and makes every goal refused; ``e_stop`` until it says false, ``stop`` until ``release``
is called. Both must be released. ``e_stop`` is heard from latched and from volatile publishers alike; a latched one
also reaches a head that starts after it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

try:
    from rclpy.event_handler import SubscriptionEventCallbacks
except ImportError:  # Humble
    from rclpy.qos_event import SubscriptionEventCallbacks

KEPT = 10
"""Messages that wait to be heard: a button that is pressed for a moment has been pressed."""
OVERTAKEN_NS = 5_000_000_000
"""A release that was sent so long before a press, at most, was overtaken by it; longer, a clock was set back."""


@dataclass
class Stops:
    """What has been stopped and not released. A node keeps it while it is cleaned up: that releases nothing.

    Attributes:
        pressed: by the topic.
        asked: by the service.
        pressed_ns: when the last press was sent.
    """

    pressed: bool = False
    asked: bool = False
    pressed_ns: int = 0


class SafetyStop:
    """Listens for stops.

    Args:
        node: whose topic and services these are.
        stop: ends all motion and tells whoever commanded it why; called in a thread of the executor, at once.
        stops: those that there are already, written to; None: none.
    """

    def __init__(self, node: Node, stop: Callable[[str], None], stops: Stops | None = None) -> None:
        self._node, self._stop = node, stop
        self._stops = Stops() if stops is None else stops
        self._lock = threading.Lock()
        self._presses: deque[int] = deque(maxlen=4 * KEPT)  # when those of late were sent [ns]
        # In threads at the same time, a release could overtake the press that came after it.
        one_by_one = MutuallyExclusiveCallbackGroup()
        self._topic = node.resolve_topic_name("e_stop")
        # A latched subscription does not hear volatile publishers, and a volatile one is not told what was latched. A
        # reliable one does not hear best-effort publishers, and a best-effort one may lose what a reliable one sends.
        for durability, reliability in (
            (DurabilityPolicy.TRANSIENT_LOCAL, ReliabilityPolicy.RELIABLE),
            (DurabilityPolicy.VOLATILE, ReliabilityPolicy.RELIABLE),
            (DurabilityPolicy.VOLATILE, ReliabilityPolicy.BEST_EFFORT),
        ):
            qos = QoSProfile(depth=KEPT, reliability=reliability, durability=durability)
            # rclpy would warn that the latched one hears nothing from a publisher that the volatile one hears.
            silent = SubscriptionEventCallbacks(use_default_callbacks=False)
            node.create_subscription(
                Bool, "e_stop", cast(Any, self._on_e_stop), qos, callback_group=one_by_one, event_callbacks=silent
            )
        group = ReentrantCallbackGroup()
        # A service does not tell its resolved name itself.
        self._service, self._release = (node.resolve_service_name(name) for name in ("stop", "release"))
        node.create_service(Trigger, "stop", self._on_stop, callback_group=group)
        node.create_service(Trigger, "release", self._on_release, callback_group=group)

    @property
    def engaged(self) -> str:
        """Why nothing may move, and what releases it; empty: it may."""
        with self._lock:
            reasons = []
            if self._stops.pressed:
                reasons.append(f"the emergency stop is pressed ({self._topic} says true): release it")
            if self._stops.asked:
                reasons.append(f"it was stopped by {self._service}: call {self._release}")
        return "; ".join(reasons)

    def _on_e_stop(self, message: Bool, info: dict[str, Any]) -> None:
        sent_ns = int(info["source_timestamp"])
        with self._lock:
            if message.data:
                if sent_ns in self._presses:
                    return  # another subscription has heard of it
                self._presses.append(sent_ns)
                self._stops.pressed_ns = sent_ns
            elif 0 < self._stops.pressed_ns - sent_ns < OVERTAKEN_NS:
                return  # another subscription has heard of the press that came after it
            changed, self._stops.pressed = self._stops.pressed != message.data, bool(message.data)
        if message.data:
            # Also when it was pressed before: the second message must not mean less than the first.
            self._stop("the emergency stop was pressed")
        if changed:
            text = "pressed: the head holds" if message.data else "released"
            self._node.get_logger().warning(f"the emergency stop is {text}")

    def _on_stop(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        with self._lock:
            self._stops.asked = True
        self._stop(f"{self._service} was called")
        self._node.get_logger().warning(f"stopped: the head holds until {self._release} is called")
        response.success, response.message = True, f"the head holds; {self._release} lets it move again"
        return response

    def _on_release(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        with self._lock:
            self._stops.asked = False
        response.message = self.engaged
        response.success = not response.message
        return response
