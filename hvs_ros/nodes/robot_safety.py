"""What stops a head whatever it is doing: the topic ``e_stop`` and the service ``stop``.

Either ends all motion at once and makes every goal refused; ``e_stop`` until it says false, ``stop`` until ``release``
is called. Both must be released. ``e_stop`` is heard from latched and from volatile publishers alike; a latched one
also reaches a head that starts after it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import Bool
from std_srvs.srv import Trigger


class SafetyStop:
    """Listens for stops.

    Args:
        node: whose topic and services these are.
        stop: ends all motion and tells whoever commanded it why; called in a thread of the executor, at once.
    """

    def __init__(self, node: Node, stop: Callable[[str], None]) -> None:
        self._node, self._stop = node, stop
        self._lock = threading.Lock()
        self._pressed = self._asked = False
        group = ReentrantCallbackGroup()
        self._topic = node.resolve_topic_name("e_stop")
        # A latched subscription does not hear volatile publishers, and a volatile one is not told what was latched.
        for durability in (DurabilityPolicy.TRANSIENT_LOCAL, DurabilityPolicy.VOLATILE):
            qos = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=durability)
            if durability == DurabilityPolicy.VOLATILE:
                qos.reliability = ReliabilityPolicy.BEST_EFFORT
            node.create_subscription(Bool, "e_stop", self._on_e_stop, qos, callback_group=group)
        self._service = node.create_service(Trigger, "stop", self._on_stop, callback_group=group)
        self._release = node.create_service(Trigger, "release", self._on_release, callback_group=group)

    @property
    def engaged(self) -> str:
        """Why nothing may move, and what releases it; empty: it may."""
        with self._lock:
            reasons = []
            if self._pressed:
                reasons.append(f"the emergency stop is pressed ({self._topic} says true): release it")
            if self._asked:
                reasons.append(f"it was stopped by {self._service.srv_name}: call {self._release.srv_name}")
        return "; ".join(reasons)

    def _on_e_stop(self, message: Bool) -> None:
        with self._lock:
            changed, self._pressed = self._pressed != message.data, bool(message.data)
        if message.data:
            # Also when it was pressed before: the second message must not mean less than the first.
            self._stop("the emergency stop was pressed")
        if changed:
            text = "pressed: the head holds" if message.data else "released"
            self._node.get_logger().warning(f"the emergency stop is {text}")

    def _on_stop(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        with self._lock:
            self._asked = True
        self._stop(f"{self._service.srv_name} was called")
        self._node.get_logger().warning(f"stopped: the head holds until {self._release.srv_name} is called")
        response.success, response.message = True, f"the head holds; {self._release.srv_name} lets it move again"
        return response

    def _on_release(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        with self._lock:
            self._asked = False
        response.message = self.engaged
        response.success = not response.message
        return response
