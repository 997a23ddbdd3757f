"""A node of the test's own, to talk to the nodes under test."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any

import rclpy
from rclpy.context import Context
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter

from hvs_ros.nodes.node_entities import is_of_destroyed

WAIT_S = 30.0
"""Limit of every wait in these tests; on an idle machine they take milliseconds."""


def wait_until(condition: Callable[[], Any], limit_s: float = WAIT_S, what: str = "it") -> Any:
    """Return the condition's first true value."""
    end = time.monotonic() + limit_s
    while not (value := condition()):
        assert time.monotonic() < end, f"waited {limit_s:g} s for {what}"
        time.sleep(0.005)
    return value


class Graph:
    """A node of the test's own, spinning in the background, to talk to the nodes under test."""

    def __init__(self, domain: int) -> None:
        self.context = Context()
        os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
        rclpy.init(context=self.context, domain_id=domain)
        self.node = Node("test", context=self.context, parameter_overrides=[Parameter("use_sim_time", value=False)])
        self._executor = MultiThreadedExecutor(4, context=self.context)
        self._executor.add_node(self.node)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()

    def _spin(self) -> None:
        while not self._stop.is_set():
            try:
                self._executor.spin_once(timeout_sec=0.1)
            except ExternalShutdownException:
                return
            except Exception as error:
                if not is_of_destroyed(error):
                    raise

    def collect(self, kind: type, topic: str, qos: Any = 10) -> list[Any]:
        """Subscribe, and return a list that grows with the messages."""
        messages: list[Any] = []
        self.node.create_subscription(kind, topic, messages.append, qos)
        return messages

    def call(self, kind: type, name: str, request: Any, limit_s: float = WAIT_S) -> Any:
        """Call a service and return the response."""
        client = self.node.create_client(kind, name)
        assert client.wait_for_service(limit_s), f"no service {name}"
        future = client.call_async(request)
        return self.result(future, limit_s)

    @staticmethod
    def result(future: Any, limit_s: float = WAIT_S) -> Any:
        """Wait for a future and return its result."""
        done = threading.Event()
        future.add_done_callback(lambda _: done.set())
        assert done.wait(limit_s), f"no answer within {limit_s:g} s"
        return future.result()

    def wait_for_services(self, *names: str, limit_s: float = WAIT_S) -> None:
        """Wait until all these services, or actions given as ``name/_action/send_goal``, are there."""
        wanted = {f"/{name.strip('/')}" for name in names}
        wait_until(
            lambda: wanted <= {name for name, _ in self.node.get_service_names_and_types()},
            limit_s,
            f"the services {sorted(wanted)}",
        )

    def __enter__(self) -> Graph:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the graph."""
        self._stop.set()
        self._executor.wake()
        self._thread.join(WAIT_S)
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)
