"""The next message of a topic, for who wants just one."""

from __future__ import annotations

import threading
from typing import Any

from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data


def first_message(node: Node, kind: Any, topic: str, limit_s: float) -> Any:
    """Return the next message; None: there is none within the limit.

    Args:
        node: spun in other threads.
        kind: of the message.
        topic: relative names are the node's.
        limit_s: how long to wait.
    """
    came = threading.Event()
    messages: list[Any] = []

    def take(message: Any) -> None:
        messages.append(message)
        came.set()

    # Best effort hears reliable publishers too.
    subscription = node.create_subscription(kind, topic, take, qos_profile_sensor_data)
    try:
        came.wait(limit_s)
    finally:
        node.destroy_subscription(subscription)
    return messages[0] if messages else None
