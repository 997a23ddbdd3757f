"""Records every search of its system into a bag of its own.

Callbacks only stamp and hand on: ``recording.Recorder`` decides, its writer's thread writes. What becomes of each bag
is told on ``recorder/episodes``: a std_msgs/String, latched, holding JSON with search_id, state (recording; then one of
complete, incomplete, failed), path, messages, bytes, dropped and message.
"""

from __future__ import annotations

import importlib
import json
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hvs_interfaces.msg import HeadCapabilities, HeadPose, SearchCommand, SearchState, Turn
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import CameraInfo, CompressedImage, Image, JointState
from std_msgs.msg import String

from hvs_ros.nodes.convert import time_ns
from hvs_ros.nodes.diagnostics import ERROR, OK, WARN, Diagnostics
from hvs_ros.nodes.node_parameters import NodeParameters
from hvs_ros.nodes.parameters import declare
from hvs_ros.nodes.process import run_node
from hvs_ros.nodes.qos import latched
from hvs_ros.nodes.recorder_parameters import RecorderParameters
from hvs_ros.nodes.recorder_topics import RawSubscription, Wanted
from hvs_ros.recording import decode
from hvs_ros.recording.bag import Topic
from hvs_ros.recording.buffer import Past, Received
from hvs_ros.recording.info import INFO_TOPIC, EpisodeInfo
from hvs_ros.recording.qos import Offer
from hvs_ros.recording.recorder import Recorder, SearchStatus
from hvs_ros.recording.writer_thread import BagEvent, Ending, WriterThread
from hvs_ros.share import user_path, write_problem

TICK_S = 0.05
KEPT_EPISODES = 100
"""So many messages about bags are latched."""
GONE_S = 5.0
"""After so long without a publisher of the search's state, a search that runs will have no end."""
STOP_LIMIT_S = 5.0

_TARGETS = {number: kind.value for number, kind in decode.TARGETS.items()}
_OUTCOMES = {number: outcome.name for number, outcome in decode.OUTCOMES.items()}


class EpisodeRecorder(Node):
    """The node."""

    def __init__(self) -> None:
        super().__init__("episode_recorder")
        self._settings = declare(self, RecorderParameters)
        self._diagnostics = Diagnostics(self)
        self._episodes = self.create_publisher(String, "recorder/episodes", latched(KEPT_EPISODES))
        self._seen_searcher_s = time.monotonic()
        self._counts = {ending: 0 for ending in Ending}
        self._lock = threading.Lock()
        self._failed = ""
        directory = user_path(self._settings.directory)
        self._writer = WriterThread(directory, self._on_bag, self._settings.queue_memory * 2**20)
        self._recorder = Recorder(
            self._writer,
            lambda info: bytes(serialize_message(String(data=json.dumps(info, sort_keys=True)))),
            Topic(self.resolve_topic_name(INFO_TOPIC), "std_msgs/msg/String", Offer(latched=True, depth=1)),
            since_ns=self._now_ns(),
            grace_s=self._settings.grace,
            past=Past(self._settings.buffer_time, self._settings.buffer_memory * 2**20),
        )
        self._subscriptions_raw = [self._subscribe(wanted) for wanted in _topics(self._settings.views)]
        self._state = next(topic for topic in self._subscriptions_raw if topic.wanted.name == "search/state")
        self._nodes = NodeParameters(
            self, ["head/pose", "search/state"], lambda name, values: self._recorder.on_nodes({name: values})
        )
        self._asked = ""
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        group = MutuallyExclusiveCallbackGroup()
        self.create_timer(TICK_S, self._tick, callback_group=group, clock=self._steady)
        self.create_timer(1.0, self._look_around, callback_group=group, clock=self._steady)
        self._check(directory.absolute())

    def _check(self, directory: Path) -> None:
        """Say now, and not at the first search, when nothing can be recorded; each search tries anew."""
        self._failed = write_problem(directory)
        if self._failed:
            self.get_logger().error(f"searches cannot be recorded: {self._failed}")
            self._diagnostics.set(ERROR, self._failed, directory=str(directory))
        else:
            self.get_logger().info(f"searches are recorded in {directory}")
            self._diagnostics.set(OK, "waiting for a search", directory=str(directory))

    def close(self) -> None:
        """Finish the bags."""
        self._recorder.close()
        if not self._writer.stop(STOP_LIMIT_S):
            self.get_logger().error(
                "the disk did not take what was left to write: the last bag is unfinished ('hvs bag verify' rescues it)"
            )

    def _subscribe(self, wanted: Wanted) -> RawSubscription:
        # Messages of one topic stay in order; topics do not wait for each other.
        group = MutuallyExclusiveCallbackGroup()
        take = self._take_state if wanted.message is SearchState else self._take
        return RawSubscription(self, wanted, lambda topic, data: take(wanted, topic, data), group)

    def _take(self, wanted: Wanted, topic: Topic, data: bytes) -> None:
        now = self._now_ns()
        search_id, turn = "", 0
        if wanted.message is Turn:
            message = deserialize_message(data, Turn)
            search_id, turn = message.search_id, message.turn
        elif wanted.message is SearchCommand:
            search_id = deserialize_message(data, SearchCommand).search_id
        elif wanted.message is HeadCapabilities:
            self._recorder.on_scene(deserialize_message(data, HeadCapabilities).scene)
        stamp = decode.header_stamp_ns(data) if wanted.headed else now
        self._recorder.on_message(Received(topic, data, now, stamp, search_id, turn))

    def _take_state(self, wanted: Wanted, topic: Topic, data: bytes) -> None:
        state = deserialize_message(data, SearchState)
        message = Received(topic, data, self._now_ns(), decode.header_stamp_ns(data), state.search_id)
        self._seen_searcher_s = time.monotonic()
        self._recorder.on_state(_status(state), message, time.monotonic())
        if state.search_id != self._asked:
            self._asked = state.search_id
            self._nodes.refresh()

    def _tick(self) -> None:
        now = time.monotonic()
        gone = now - self._seen_searcher_s > GONE_S
        self._recorder.tick(now, searcher_gone=gone)

    def _look_around(self) -> None:
        """Notice who is there."""
        if self._state.publishers:
            self._seen_searcher_s = time.monotonic()
        missing = [topic.name for topic in self._subscriptions_raw if topic.wanted.required and not topic.publishers]
        recording = self._recorder.recording
        with self._lock:
            failed = self._failed
        if failed:
            self._diagnostics.set(ERROR, f"searches are not recorded: {failed}", recording=recording)
        elif recording and missing:
            self._diagnostics.set(WARN, f"nobody publishes {', '.join(missing)}", recording=recording)
        else:
            text = f"recording {recording}" if recording else "waiting for a search"
            self._diagnostics.set(OK, text, recording=recording)

    def _on_bag(self, event: BagEvent) -> None:
        """Tell what became of a bag; from the writer's thread."""
        path = str(event.path) if event.path else ""
        text = {
            "search_id": event.search_id,
            "state": event.ending.value,
            "path": path,
            "messages": event.messages,
            "bytes": event.size,
            "dropped": event.dropped,
            "message": event.message,
        }
        self._episodes.publish(String(data=json.dumps(text)))
        with self._lock:
            self._counts[event.ending] += 1
            self._failed = event.message if event.ending is Ending.FAILED else ""
            counts = {ending.value: count for ending, count in self._counts.items() if ending is not Ending.RECORDING}
        log = self.get_logger()
        if event.ending is Ending.RECORDING:
            log.info(f"search {event.search_id} is recorded in {path}")
            self._diagnostics.set(OK, f"recording {event.search_id}", bag=path)
        elif event.ending is Ending.COMPLETE:
            log.info(f"{path}: complete, {event.messages} messages, {event.size / 1e6:.1f} MB")
            self._diagnostics.set(OK, "waiting for a search", bag=path, **counts)
        elif event.ending is Ending.INCOMPLETE:
            log.warning(f"{path}: incomplete: {event.message}")
            self._diagnostics.set(WARN, f"the last bag is incomplete: {event.message}", bag=path, **counts)
        else:
            log.error(f"search {event.search_id} is not recorded any further: {event.message}")
            self._diagnostics.set(ERROR, f"the last search was not recorded: {event.message}", bag=path, **counts)

    def _now_ns(self) -> int:
        return int(self.get_clock().now().nanoseconds)


def _topics(views: str) -> list[Wanted]:
    wanted = [
        Wanted("search/state", SearchState, latched=True, required=True),
        Wanted("search/command", SearchCommand),
        Wanted("search/turn", Turn, required=True),
        Wanted("head/pose", HeadPose, required=True),
        Wanted("head/capabilities", HeadCapabilities, latched=True),
        Wanted("head/camera/camera_info", CameraInfo, required=True),
        Wanted("head/joint_states", JointState),
        # A robot's is its own; a head that is all there is has one of its own.
        Wanted("robot_description", String, latched=True, depth=1, headed=False),
        Wanted("head/robot_description", String, latched=True, depth=1, headed=False),
    ]
    if views in ("compressed", "both"):
        wanted.append(Wanted("head/camera/image_raw/compressed", CompressedImage, depth=10, required=True))
    if views in ("raw", "both"):
        wanted.append(Wanted("head/camera/image_raw", Image, depth=5, required=True))
    try:
        transforms = importlib.import_module("tf2_msgs.msg").TFMessage
    except ImportError:  # without a distribution there is no tf, then nobody publishes it either
        return wanted
    return [
        *wanted,
        Wanted("/tf", transforms, depth=100, headed=False),
        Wanted("/tf_static", transforms, latched=True, depth=100, headed=False),
    ]


def _status(state: Any) -> SearchStatus:
    done = state.state == SearchState.DONE
    try:
        parameters: Any = json.loads(state.parameters or "{}")
    except ValueError:
        parameters = state.parameters
    info = EpisodeInfo(
        search_id=state.search_id,
        instruction=state.instruction,
        target=_TARGETS.get(state.target, str(state.target)),
        max_turns=state.max_turns,
        policy=state.policy,
        parameters=parameters if isinstance(parameters, Mapping) else {"text": parameters},
        outcome=_OUTCOMES.get(state.outcome, str(state.outcome)) if done else "",
        message=state.message if done else "",
    )
    return SearchStatus(state.search_id, done, time_ns(state.started), state.turn, info)


def main(args: list[str] | None = None) -> int:
    """Run the node."""
    return run_node(EpisodeRecorder, args)


if __name__ == "__main__":
    sys.exit(main())
