"""The QoS of topics that late subscribers must not miss."""

from __future__ import annotations

from rclpy.qos import DurabilityPolicy, QoSProfile


def latched(depth: int = 1) -> QoSProfile:
    """Return reliable and transient local: the last so many messages are kept for who comes late."""
    return QoSProfile(depth=depth, durability=DurabilityPolicy.TRANSIENT_LOCAL)
