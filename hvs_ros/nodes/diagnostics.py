"""A node's state on /diagnostics: once a second, and at once when it changes.

A steady timer, so that a node whose ROS clock stands still says so too.
"""

from __future__ import annotations

import threading

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

OK: bytes = DiagnosticStatus.OK
WARN: bytes = DiagnosticStatus.WARN
ERROR: bytes = DiagnosticStatus.ERROR
PERIOD_S = 1.0


class Diagnostics:
    """Publishes one status, named like the node; every method may be called from any thread.

    Args:
        node: whose state it is.
        hardware_id: what the state is about, e.g. the head's or the policy's name; may be changed.
    """

    def __init__(self, node: Node, hardware_id: str = "") -> None:
        self._node = node
        self._lock = threading.Lock()
        self.hardware_id = hardware_id
        self._level, self._message = OK, "starting"
        self._values: dict[str, str] = {}
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self._timer = node.create_timer(
            PERIOD_S,
            self.publish,
            callback_group=ReentrantCallbackGroup(),
            clock=Clock(clock_type=ClockType.STEADY_TIME),
        )

    def set(self, level: bytes, message: str, **values: object) -> None:
        """Set the state; key values that are not named keep theirs.

        Args:
            level: OK, WARN or ERROR.
            message: for a person: what it does, or what is wrong and what to do.
            values: further facts, published as text; None removes one.
        """
        with self._lock:
            before = (self._level, self._message, dict(self._values))
            self._level, self._message = level, message
            for key, value in values.items():
                if value is None:
                    self._values.pop(key, None)
                else:
                    self._values[key] = str(value)
            changed = before != (self._level, self._message, self._values)
        if changed:
            self.publish()

    def publish(self) -> None:
        """Publish the state now."""
        with self._lock:
            status = DiagnosticStatus(
                level=self._level,
                name=self._node.get_fully_qualified_name().lstrip("/"),
                message=self._message,
                hardware_id=self.hardware_id,
                values=[KeyValue(key=key, value=value) for key, value in self._values.items()],
            )
        array = DiagnosticArray(status=[status])
        array.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(array)
