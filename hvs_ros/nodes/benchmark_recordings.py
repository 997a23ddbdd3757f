"""What the recorder says about its bags: where each search is recorded, and when its bag is finished."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from std_msgs.msg import String

from hvs_ros.nodes.qos import latched

TOPIC = "recorder/episodes"
KEPT = 100


@dataclass(frozen=True)
class Recording:
    """State of one bag.

    Attributes:
        state: recording, complete, incomplete or failed.
        path: of the bag; None when there is none.
        message: why it is not complete, for a person.
    """

    state: str
    path: Path | None
    message: str

    @property
    def ended(self) -> bool:
        """Nothing more will be written to it."""
        return self.state != "recording"


class Recordings:
    """Listens to the recorder; every method may be called from any thread."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._changed = threading.Condition()
        self._recordings: dict[str, Recording] = {}
        self._topic = node.create_subscription(
            String, TOPIC, self._on_message, latched(KEPT), callback_group=MutuallyExclusiveCallbackGroup()
        ).topic_name

    def recorders(self) -> int:
        """Return how many recorders are there and listen to searches."""
        there = self._node.get_publishers_info_by_topic(self._topic)
        listening = self._node.get_subscriptions_info_by_topic(self._node.resolve_topic_name("search/state"))
        names = {(info.node_namespace, info.node_name) for info in listening}
        return sum((info.node_namespace, info.node_name) in names for info in there)

    def expect(self, search_id: str) -> None:
        """Forget what an earlier search of this name left."""
        with self._changed:
            self._recordings.pop(search_id, None)

    def of(self, search_id: str, limit_s: float) -> Recording | None:
        """Return how a search is recorded; None when the recorder has not said it within the limit."""
        self._wait(lambda: search_id in self._recordings, limit_s)
        return self._recordings.get(search_id)

    def end_of(self, bag: Path, limit_s: float) -> Recording | None:
        """Wait until a bag is finished, one way or the other; None when it is not within the limit."""
        self._wait(lambda: self._ended(bag) is not None, limit_s)
        return self._ended(bag)

    def _ended(self, bag: Path) -> Recording | None:
        return next((r for r in list(self._recordings.values()) if r.path == bag and r.ended), None)

    def _wait(self, condition: Callable[[], bool], limit_s: float) -> None:
        with self._changed:
            self._changed.wait_for(condition, limit_s)

    def _on_message(self, message: String) -> None:
        try:
            values = json.loads(message.data)
            path = Path(values["path"]) if values["path"] else None
            recording = Recording(values["state"], path, values.get("message", ""))
            search_id = str(values["search_id"])
        except (ValueError, KeyError, TypeError) as error:
            self._node.get_logger().warning(f"{self._topic}: not understood ({error!r}): {message.data:.200}")
            return
        with self._changed:
            self._recordings[search_id] = recording
            self._changed.notify_all()
