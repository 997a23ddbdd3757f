"""Sends a head one goal and goes without canceling it, as a program that crashes does."""

from __future__ import annotations

import contextlib

import rclpy
from hvs_interfaces.action import MoveHead
from rclpy.action import ActionClient
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node

if __name__ == "__main__":
    rclpy.init()
    node = Node("lone_commander")
    client = ActionClient(node, MoveHead, "move")
    assert client.wait_for_server(15.0)
    client.send_goal_async(MoveHead.Goal(yaw=3.0))
    with contextlib.suppress(ExternalShutdownException):
        rclpy.spin(node)
