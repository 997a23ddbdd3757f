"""Searches: a task in words comes in as a ``search`` goal, a policy decides, a head turns, a direction is the answer.

It is a managed node (``managed``). The policy begins to load when the node is configured, and is closed when the node
is cleaned up; inactive, it refuses goals with the reason. What a search does, and in which threads: ``search_server``.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.clock import Clock, ClockType

from hvs_ros.nodes.head_client import HeadClient
from hvs_ros.nodes.managed import ManagedNode
from hvs_ros.nodes.parameters import declare
from hvs_ros.nodes.process import run_node
from hvs_ros.nodes.search_messages import settings_json
from hvs_ros.nodes.search_parameters import SearchParameters, declare_settings, given_settings
from hvs_ros.nodes.search_publisher import SearchTopics
from hvs_ros.nodes.search_server import SearchServer
from hvs_ros.policy.registry import create_policy
from hvs_ros.policy.runner import PolicyRunner

WATCH_PERIOD_S = 1.0
"""How often it looks whether the head is there."""


class SearchPolicy(ManagedNode):
    """The node."""

    def __init__(self, **options: Any) -> None:
        """Create it; the options are rclpy's, for who runs it beside other nodes."""
        super().__init__("search_policy", **options)
        self._p = declare(self, SearchParameters, on_change=self._on_parameters, fixed=self.fixed)
        declare_settings(self, self.fixed)
        self.autostart()

    def setup(self) -> None:
        """Begin to load the policy, and look for the head."""
        p, settings = self._p, given_settings(self)
        self.diagnostics.hardware_id = p.policy
        changed = threading.Condition()
        self.head = HeadClient(self, p.head, p.image_transport, p.head_limits(), changed)
        self.on_teardown(self.head.close)
        self.runner = PolicyRunner(
            lambda: create_policy(p.policy, settings), deadline_s=p.decision_timeout, load_deadline_s=p.load_timeout
        )
        topics = SearchTopics(self, self.head, p.policy, settings_json(settings))
        self.server = SearchServer(self, p, self.head, topics, self.runner, changed)
        self.on_teardown(self.server.close)
        self.create_timer(
            WATCH_PERIOD_S,
            self._watch,
            callback_group=MutuallyExclusiveCallbackGroup(),
            clock=Clock(clock_type=ClockType.STEADY_TIME),
        )
        self._watch()

    def start(self) -> None:
        """Take goals."""
        self.server.open()

    def halt(self) -> None:
        """Cancel the search under way, so that the head holds, and tell everybody."""
        self.server.stop(self.halt_reason, idle=not self.closing)

    def _watch(self) -> None:
        self.add_facts(head="present" if self.head.present else "absent")

    def _on_parameters(self, new: SearchParameters) -> None:
        self._p = new


def main(args: Sequence[str] | None = None) -> int:
    """Run the node as a process."""
    return run_node(SearchPolicy, args)


if __name__ == "__main__":
    sys.exit(main())
