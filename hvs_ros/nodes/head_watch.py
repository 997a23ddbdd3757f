"""Watches a robot's head come up, and says by name what it still waits for.

A head that is there but sees no joint states, no description, no camera or no controller says so on /diagnostics
(``robot_head``); what is not there at all is noticed here. Either way a person reads what is missing, not "timeout".
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from hvs_interfaces.msg import HeadCapabilities
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node

from hvs_ros.bringup import HEAD_NAMESPACE, ROBOT_HEAD
from hvs_ros.nodes.benchmark_graph import action_servers
from hvs_ros.nodes.qos import latched

_NUMBER = re.compile(r"\d+(\.\d+)?")
POLL_S = 0.1
QUIET_S = 4.0
"""What comes up at once needs no word."""
SAY_AGAIN_S = 15.0
STALE_S = 4.0
"""Diagnostics come each second; a node that has said nothing for so long is gone."""


class HeadNotReadyError(Exception):
    """The head did not get ready; the message names what was waited for."""


@dataclass(frozen=True)
class _Said:
    """The last diagnostics of the head."""

    message: str
    level: bytes
    lifecycle: str
    at_s: float

    @property
    def waits(self) -> bool:
        """It does not work yet; that its last move failed does not keep the next one from being made."""
        if self.lifecycle not in ("", "active") or self.message.startswith(("waiting", "starting")):
            return True
        return self.level >= DiagnosticStatus.ERROR and not self.message.startswith("the last move failed")


class HeadWatch:
    """Waits for a head.

    Args:
        node: spun in other threads; names are relative to it.
        searcher: a search policy is waited for too.
        trouble: returns what is wrong with the processes of the graph, where they are known; empty: nothing.
    """

    def __init__(self, node: Node, *, searcher: bool = True, trouble: Callable[[], str] = lambda: "") -> None:
        self._node = node
        self._trouble = trouble
        self._actions = [f"{HEAD_NAMESPACE}/move", *(["search"] if searcher else [])]
        self._lock = threading.Lock()
        self._capabilities: HeadCapabilities | None = None
        self._said: _Said | None = None
        prefix = node.get_namespace().strip("/")
        self._name = "/".join(part for part in (prefix, HEAD_NAMESPACE, ROBOT_HEAD) if part)
        group = MutuallyExclusiveCallbackGroup()
        self._subscriptions = [
            node.create_subscription(
                HeadCapabilities,
                f"{HEAD_NAMESPACE}/capabilities",
                self._on_capabilities,
                latched(),
                callback_group=group,
            ),
            node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10, callback_group=group),
        ]

    def wait(self, limit_s: float, say: Callable[[str], None]) -> HeadCapabilities:
        """Wait until everything is there, and return what the head can do.

        Args:
            limit_s: after which it is given up.
            say: is told what is waited for, when that takes a while, and whenever it changes.

        Raises:
            HeadNotReadyError: something is missing at the end of the limit, or a process has ended.
        """
        began = time.monotonic()
        said, said_s = "", began
        while missing := self.missing():
            if problem := self._trouble():
                raise HeadNotReadyError(problem)
            now = time.monotonic()
            if now - began > limit_s:
                raise HeadNotReadyError(f"gave up after {limit_s:g} s: {missing}")
            what = _NUMBER.sub("", missing)  # seconds that pass are nothing new
            if now - began > QUIET_S and (what != said or now - said_s > SAY_AGAIN_S):
                said, said_s = what, now
                say(missing)
            time.sleep(POLL_S)
        with self._lock:
            assert self._capabilities is not None
            return self._capabilities

    def missing(self) -> str:
        """Say what is waited for now; empty: nothing."""
        with self._lock:
            said, capabilities = self._said, self._capabilities
        if said is not None and time.monotonic() - said.at_s < STALE_S:
            if said.waits:
                return f"{ROBOT_HEAD}: {said.message}"
        elif said is not None:
            return f"{ROBOT_HEAD} said nothing on /diagnostics for {STALE_S:g} s: is it still there?"
        absent = [f"the action {name}" for name in self._actions if not action_servers(self._node, name)]
        if said is None:
            absent.insert(0, f"{self._name} on /diagnostics")
        elif capabilities is None:
            absent.append(f"{HEAD_NAMESPACE}/capabilities")
        return f"waiting for {', '.join(absent)}" if absent else ""

    def _on_capabilities(self, capabilities: HeadCapabilities) -> None:
        with self._lock:
            self._capabilities = capabilities

    def _on_diagnostics(self, array: DiagnosticArray) -> None:
        for status in array.status:
            if status.name.strip("/") == self._name:
                values = {pair.key: pair.value for pair in status.values}
                with self._lock:
                    self._said = _Said(
                        " ".join(status.message.split()), status.level, values.get("lifecycle", ""), time.monotonic()
                    )
