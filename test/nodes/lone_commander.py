"""Sends a head one goal and goes without canceling it, as a program that crashes does."""

from __future__ import annotations

import contextlib
from typing import Any

import rclpy
from hvs_interfaces.action import MoveHead
from rclpy.action import ActionClient
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node


class LoneCommander(Node):
    """Sends it again where a busy machine kept the head from it, as long as this runs."""

    def __init__(self) -> None:
        super().__init__("lone_commander")
        self._client = ActionClient(self, MoveHead, "move")
        assert self._client.wait_for_server(15.0)
        self._send()

    def leave(self) -> None:
        """Leave the graph in order; who is killed does not get this far."""
        self._client.destroy()
        self.destroy_node()

    def _send(self) -> None:
        self._client.send_goal_async(MoveHead.Goal(yaw=3.0)).add_done_callback(self._on_accepted)

    def _on_accepted(self, future: Any) -> None:
        future.result().get_result_async().add_done_callback(self._on_result)

    def _on_result(self, future: Any) -> None:
        if future.result().result.outcome in (MoveHead.Result.REFUSED, MoveHead.Result.FAULT):
            self._send()


if __name__ == "__main__":
    rclpy.init()
    node = LoneCommander()
    with contextlib.suppress(ExternalShutdownException):
        rclpy.spin(node)
    node.leave()
