"""A search policy, mock heads and a client in one process, for tests that need many searches or odd heads."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import rclpy
from hvs_interfaces.action import Search
from rclpy.context import Context
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from ros_graph import wait_until

from hvs_ros.mock.head import MockHead
from hvs_ros.nodes.action_caller import ActionCaller, RemoteGoal
from hvs_ros.nodes.node_entities import is_of_destroyed
from hvs_ros.nodes.search_client import SearchClient
from hvs_ros.nodes.search_policy import SearchPolicy

SCRIPTED = "hvs_ros.mock.policy:ScriptedPolicy"


class World:
    """Everything in one ROS domain. ``head`` and ``searcher`` add nodes; all spin in one executor."""

    def __init__(self, domain: int) -> None:
        self.context = Context()
        rclpy.init(context=self.context, domain_id=domain)
        self._executor = MultiThreadedExecutor(24, context=self.context)
        self._halt = threading.Event()
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._nodes: list[Any] = []
        self.node = self._add(Node("test", context=self.context))
        self.client = SearchClient(self.node)
        self.changed = threading.Condition()
        self.caller = ActionCaller(self.node, Search, "search", self.changed)
        self._thread.start()

    def head(self, namespace: str = "head", **parameters: object) -> MockHead:
        """Add a mock head."""
        return self._add(MockHead(namespace=namespace, **self._options(parameters)))

    def searcher(
        self, script: str = "", settings: dict[str, object] | None = None, **parameters: object
    ) -> SearchPolicy:
        """Add a search_policy with the scripted policy, unless another is named."""
        given: dict[str, object] = {"policy": SCRIPTED}
        if script:
            given["policy.script"] = script
        given |= {f"policy.{name}": value for name, value in (settings or {}).items()}
        return self._add(SearchPolicy(**self._options(given | parameters)))

    def collect(self, kind: type, topic: str, qos: Any = 10) -> list[Any]:
        """Subscribe, and return a list that grows."""
        messages: list[Any] = []
        self.node.create_subscription(kind, topic, messages.append, qos)
        return messages

    def send(self, goal: Search.Goal) -> RemoteGoal:
        """Send a bare goal."""
        wait_until(lambda: self.caller.server_seen, what="the search action")
        return self.caller.send(goal)

    def goal(self, goal: Search.Goal) -> Search.Result:
        """Send a bare goal and return its result."""
        remote = self.send(goal)
        wait_until(lambda: remote.ended, what="the result")
        return remote.result

    def remove(self, node: Any) -> None:
        """Take a node away, as if its process had ended quietly."""
        self._nodes.remove(node)
        if hasattr(node, "close"):
            node.close()
        self._executor.remove_node(node)
        node.destroy_node()

    def close(self) -> None:
        """End everything."""
        for node in reversed(self._nodes):
            if hasattr(node, "close"):
                node.close()
        self._halt.set()
        self._executor.create_task(lambda: None)
        self._thread.join(5)
        self._executor.shutdown(2)
        self.client.close()
        self.caller.close()
        for node in self._nodes:
            node.destroy_node()
        rclpy.shutdown(context=self.context)

    def _options(self, parameters: dict[str, object]) -> dict[str, Any]:
        overrides = [Parameter(name, value=value) for name, value in parameters.items()]
        return {"context": self.context, "parameter_overrides": overrides}

    def _add(self, node: Any) -> Any:
        self._nodes.append(node)
        self._executor.add_node(node)
        return node

    def _spin(self) -> None:
        while not self._halt.is_set():
            try:
                self._executor.spin_once(0.5)
            except ExternalShutdownException:
                return
            except Exception as error:
                if not is_of_destroyed(error):
                    raise


@pytest.fixture
def world(domain: int) -> Iterator[World]:
    """A world in the test's own domain."""
    world = World(domain)
    yield world
    world.close()


class Background:
    """A search in a thread of its own."""

    def __init__(self, client: SearchClient, instruction: str = "find the exit sign", **options: Any) -> None:
        self.record: Any = None
        self.error: BaseException | None = None
        self.began = time.monotonic()
        self._thread = threading.Thread(target=self._run, args=(client, instruction), kwargs=options, daemon=True)
        self._thread.start()

    def _run(self, client: SearchClient, instruction: str, **options: Any) -> None:
        try:
            self.record = client.search(instruction, **options)
        except BaseException as error:  # the test raises it
            self.error = error

    def result(self, limit_s: float = 15.0) -> Any:
        """Wait for the end."""
        self._thread.join(limit_s)
        assert not self._thread.is_alive(), f"the search did not end within {limit_s} s"
        if self.error is not None:
            raise self.error
        return self.record
