"""What a node owns: to remove what was added since some moment, while an executor spins it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from rclpy.exceptions import InvalidHandle
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node


class NodeEntities:
    """Remembers the topics, services, actions, timers and guard conditions that a node has when this is made.

    Args:
        node: whose they are.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        # Those that make work go first, those that others use last. Events go with their publishers and subscriptions,
        # so that what is left of the waitables is actions.
        self._destroyers: dict[str, Callable[[Any], object]] = {
            "timers": node.destroy_timer,
            "subscriptions": node.destroy_subscription,
            "services": node.destroy_service,
            "clients": node.destroy_client,
            "publishers": node.destroy_publisher,
            "waitables": lambda action: action.destroy(),
            "guards": node.destroy_guard_condition,
        }
        self._lasting = {id(entity): entity for kind in self._destroyers for entity in getattr(node, kind)}

    def destroy_new(self) -> None:
        """Destroy everything that has been added since."""
        for kind, destroy in self._destroyers.items():
            for entity in [entity for entity in getattr(self._node, kind) if id(entity) not in self._lasting]:
                with suppress(InvalidHandle):
                    destroy(entity)


def is_of_destroyed(error: Exception) -> bool:
    """Return whether an error in an executor only says that something was destroyed while it was in use.

    The executor notices most of these itself, but not that an action went between two of its steps, or a publisher
    while a callback was about to use it.
    """
    if isinstance(error, InvalidHandle):
        return True
    return isinstance(error, rclpy_implementation.RCLError) and "is invalid" in str(error)
