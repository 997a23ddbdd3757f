"""The parameters of the nodes that take part in a search: asked for, without waiting for anything.

Which nodes those are follows from the graph: whoever publishes the head's pose or the search's state. They are asked
when they appear, and again when a search begins.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from typing import Any

from rcl_interfaces.srv import GetParameters, ListParameters
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.exceptions import InvalidHandle
from rclpy.node import Node
from rclpy.parameter import parameter_value_to_python

Values = dict[str, Any]
PERIOD_S = 0.25


class NodeParameters:
    """Asks nodes for their parameters.

    Args:
        node: that asks.
        topics: whose publishers are asked.
        callback: is given a node's name and its parameters, from the executor's threads.
    """

    def __init__(self, node: Node, topics: Sequence[str], callback: Callable[[str, Values], None]) -> None:
        self._node, self._callback = node, callback
        self._topics = [node.resolve_topic_name(topic) for topic in topics]
        self._group = ReentrantCallbackGroup()
        self._clients: dict[str, tuple[Any, Any]] = {}
        self._lock = threading.Lock()
        self._asked: set[str] = set()
        node.create_timer(
            PERIOD_S,
            self._ask,
            callback_group=MutuallyExclusiveCallbackGroup(),
            clock=Clock(clock_type=ClockType.STEADY_TIME),
        )

    def refresh(self) -> None:
        """Ask everybody again, soon."""
        with self._lock:
            self._asked.clear()

    def _ask(self) -> None:
        publishers = (info for topic in self._topics for info in self._node.get_publishers_info_by_topic(topic))
        for name in {f"{info.node_namespace.rstrip('/')}/{info.node_name}" for info in publishers}:
            lister, _ = self._pair(name)
            with self._lock:
                if name in self._asked or not lister.service_is_ready():
                    continue
                self._asked.add(name)
            future = lister.call_async(ListParameters.Request())
            future.add_done_callback(lambda done, name=name: self._on_names(name, done))

    def _pair(self, name: str) -> tuple[Any, Any]:
        if name not in self._clients:
            self._clients[name] = (
                self._node.create_client(ListParameters, f"{name}/list_parameters", callback_group=self._group),
                self._node.create_client(GetParameters, f"{name}/get_parameters", callback_group=self._group),
            )
        return self._clients[name]

    def _on_names(self, name: str, future: Any) -> None:
        names = list(future.result().result.names)
        _, getter = self._pair(name)
        try:
            answer = getter.call_async(GetParameters.Request(names=names))
        except InvalidHandle:  # this node is going
            return
        answer.add_done_callback(lambda done: self._on_values(name, names, done))

    def _on_values(self, name: str, names: list[str], future: Any) -> None:
        # A node may answer with fewer, when one went away meanwhile.
        values = zip(names, future.result().values, strict=False)
        self._callback(name, {key: _json(parameter_value_to_python(value)) for key, value in values})


def _json(value: Any) -> Any:
    """Return a parameter's value as JSON has it."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return [_json(item) for item in value]
