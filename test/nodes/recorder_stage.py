"""A stand-in for head and searcher that publishes what they publish, as slowly or as quickly as a test wants."""

from __future__ import annotations

import json
import math
import time
from typing import Any

import numpy as np
from hvs_interfaces.msg import HeadCapabilities, HeadPose, SearchCommand, SearchState, Turn
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from ros_graph import wait_until
from sensor_msgs.msg import CameraInfo, CompressedImage, Image
from std_msgs.msg import String

from hvs_ros.angles import Direction
from hvs_ros.nodes.convert import direction_pose, header, time_message
from hvs_ros.nodes.images import to_compressed, to_image

LATCHED = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
ONE_LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
Angles = tuple[float, float]


class Stage:
    """Publishes searches."""

    def __init__(self, node: Node, *, reliable_camera: bool = True) -> None:
        self._node = node
        reliability = ReliabilityPolicy.RELIABLE if reliable_camera else ReliabilityPolicy.BEST_EFFORT
        camera = QoSProfile(depth=30, reliability=reliability)
        self.raw = node.create_publisher(Image, "head/camera/image_raw", camera)
        self._compressed = node.create_publisher(CompressedImage, "head/camera/image_raw/compressed", camera)
        self._info = node.create_publisher(CameraInfo, "head/camera/camera_info", camera)
        self._pose = node.create_publisher(HeadPose, "head/pose", 10)
        self._capabilities = node.create_publisher(HeadCapabilities, "head/capabilities", ONE_LATCHED)
        self._description = node.create_publisher(String, "robot_description", ONE_LATCHED)
        self._states = node.create_publisher(SearchState, "search/state", LATCHED)
        self._commands = node.create_publisher(SearchCommand, "search/command", 10)
        self._turns = node.create_publisher(Turn, "search/turn", 10)
        self._capabilities.publish(
            HeadCapabilities(scene="hall", name="test", kind="panorama", width=64, height=36, hfov=math.radians(100))
        )
        self._description.publish(String(data="<robot name='test'/>"))
        self._base: dict[str, Any] = {}
        self._random = np.random.default_rng(1)
        self.search_id = ""

    def wait_for_listeners(self, count: int = 1) -> None:
        """Wait until so many recorders hear everything."""
        search = (self._states, self._commands, self._turns)
        heard = (*search, self._pose, self._capabilities, self._info, self._description)
        wait_until(lambda: all(p.get_subscription_count() >= count for p in heard), what="the recorder's subscriptions")
        pictures = (self.raw, self._compressed)
        wait_until(lambda: any(p.get_subscription_count() >= count for p in pictures), what="the recorder's camera")
        # The other side may need a moment more to know of this one; what is sent before that, it never hears.
        time.sleep(0.5)

    def now(self) -> int:
        return int(self._node.get_clock().now().nanoseconds)

    def view(self, yaw_deg: float, pitch_deg: float, *, noise: bool = False) -> int:
        """Publish a view and return its stamp."""
        stamp = self.now()
        picture = np.full((36, 64, 3), 100, np.uint8)
        if noise:
            picture = self._random.integers(0, 255, (180, 320, 3), np.uint8)
        self._pose.publish(direction_pose(Direction(yaw_deg, pitch_deg), stamp, "base"))
        self._info.publish(CameraInfo(header=header(stamp, "optical"), width=64, height=36))
        self.raw.publish(to_image(picture, header(stamp, "optical")))
        self._compressed.publish(to_compressed(picture, header(stamp, "optical"), 90))
        return stamp

    def begin(self, search_id: str, instruction: str) -> None:
        """Begin a search."""
        self.search_id = search_id
        self._base = {
            "started": time_message(self.now()),
            "search_id": search_id,
            "instruction": instruction,
            "max_turns": 10,
            "policy": "signs",
            "parameters": json.dumps({"reader": "rapidocr"}),
        }
        self.state(SearchState.LOOKING, 1)

    def state(self, state: int, turn: int, outcome: int = 0) -> None:
        self._states.publish(
            SearchState(header=header(self.now(), "base"), state=state, turn=turn, outcome=outcome, **self._base)
        )

    def turn(self, number: int, view_stamp: int, view: Angles, kind: str, angles: Angles) -> None:
        """Publish a turn's command and the turn."""
        stamp = self.now()
        self.state(SearchState.THINKING, number)
        command = SearchCommand(
            header=header(stamp, "base"),
            search_id=self._base["search_id"],
            turn=number,
            kind=SearchCommand.ROTATE if kind == "rotate" else SearchCommand.SUBMIT,
            yaw=-math.radians(angles[0]),
            pitch=-math.radians(angles[1]),
        )
        self._commands.publish(command)
        after = (view[0] + angles[0], view[1] + angles[1]) if kind == "rotate" else view
        self._turns.publish(
            Turn(
                header=header(stamp, "optical"),
                search_id=self._base["search_id"],
                turn=number,
                view_stamp=time_message(view_stamp),
                pose=direction_pose(Direction(*view), view_stamp, "base"),
                status=Turn.STATUS_OK,
                thought="I look",
                command=command,
                achieved=direction_pose(Direction(*after), stamp, "base"),
            )
        )

    def done(self, turn: int) -> None:
        """End the search."""
        self.state(SearchState.DONE, turn, outcome=1)

    def search(self, search_id: str, instruction: str) -> None:
        """Publish a whole search of three turns."""
        self.begin(search_id, instruction)
        steps = (((0.0, 0.0), "rotate", (90.0, 0.0)), ((90.0, 0.0), "rotate", (45.0, -10.0)))
        for number, (view, kind, angles) in enumerate(steps, start=1):
            self.turn(number, self.view(*view), view, kind, angles)
            self.state(SearchState.LOOKING, number + 1)
            time.sleep(0.02)
        self.turn(3, self.view(135.0, -10.0), (135.0, -10.0), "submit", (140.0, -8.0))
        self.done(3)

    def leave(self) -> None:
        """Stop being a searcher."""
        for publisher in (self._states, self._turns, self._commands):
            self._node.destroy_publisher(publisher)
