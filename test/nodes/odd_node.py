"""A node that misbehaves as its parameter says, to see what becomes of its process."""

from __future__ import annotations

import ctypes
import sys
import time
from dataclasses import dataclass

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node

from hvs_ros.nodes import process
from hvs_ros.nodes.parameters import declare, parameter


@dataclass(frozen=True)
class Settings:
    """What it can be told."""

    fault: str = parameter("", "What it does wrong")


class OddNode(Node):
    """The node."""

    def __init__(self) -> None:
        super().__init__("odd_node")
        self._fault = declare(self, Settings).fault
        self._ticks = 0
        if self._fault == "cannot start":
            raise process.StartError("the cable is loose: plug it in")
        if self._fault == "bug":
            raise RuntimeError("a bug")
        self.create_timer(0.05, self._tick)
        if self._fault == "busy":
            group = ReentrantCallbackGroup()
            for _ in range(30):
                self.create_timer(0.001, lambda: time.sleep(0.002), callback_group=group)

    def close(self) -> None:
        """Say goodbye."""
        print("closing", flush=True)
        if self._fault == "close hangs":
            time.sleep(1000)

    def destroy_node(self) -> None:
        """Be removed."""
        if self._fault == "destroy hangs":
            ctypes.PyDLL(None).sleep(1000)  # without letting other threads run
        super().destroy_node()

    def _tick(self) -> None:
        self._ticks += 1
        if self._fault == "callback raises" and self._ticks == 1:
            raise ValueError("the first tick")
        print(f"tick {self._ticks}", flush=True)
        if self._fault == "callback hangs":
            time.sleep(1000)


if __name__ == "__main__":
    if "hangs" in " ".join(sys.argv):
        process.SHUTDOWN_LIMIT_S, process.DRAIN_LIMIT_S = 1.5, 0.5
    sys.exit(process.run_node(OddNode))
