"""A head for tests and demonstrations that can go wrong in every way that real heads have.

It offers the head contract with pictures of one colour (blue and green tell the yaw, red the pitch), and from a given
move on it has one fault. Run it as ``python -m hvs_ros.mock.head --ros-args -r __ns:=/head -p fault:=stalls``.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hvs_interfaces.action import MoveHead
from hvs_interfaces.msg import HeadCapabilities
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import CameraInfo, CompressedImage, Image

from hvs_ros import angles
from hvs_ros.angles import Direction
from hvs_ros.nodes import convert
from hvs_ros.nodes.camera_info import camera_info
from hvs_ros.nodes.images import to_compressed, to_image
from hvs_ros.nodes.parameters import declare, parameter
from hvs_ros.nodes.process import run_node
from hvs_ros.nodes.qos import latched
from hvs_ros.panorama.camera import Camera
from hvs_ros.search.view import Picture

FAULTS = (
    "",
    "unanswered",  # a goal is neither accepted nor rejected
    "rejects",  # rclpy's rejection, without a reason
    "refuses",  # REFUSED, with a reason
    "stalls",  # never ends, but can be canceled
    "stuck",  # never ends and ignores a cancellation
    "aborts",  # FAULT
    "short",  # REACHED, but 20 degrees short
    "clamps",  # CLAMPED, as if it could not look further than 30 degrees
    "no_stamp",  # the result has no view_stamp
    "no_view",  # no picture is published
    "late_clock",  # the camera's clock is 10 s behind
    "early_clock",  # the camera's clock is an hour ahead
    "no_info",  # no camera_info
    "bad_encoding",  # a picture that nobody understands
)


@dataclass(frozen=True)
class MockHeadParameters:
    """How it behaves."""

    fault: str = parameter("", "What goes wrong", choices=FAULTS, live=True)
    from_move: int = parameter(1, "The first move that goes wrong; the first is 1", low=1, high=1_000_000, live=True)
    move_time: float = parameter(0.0, "How long a move takes [s]", low=0.0, high=600.0, live=True)
    width: int = parameter(64, "Width of a view [pixels]", low=16, high=8192)
    height: int = parameter(36, "Height of a view [pixels]", low=16, high=8192)
    scene: str = parameter("mock", "Name of the scene", live=True)
    reliability: str = parameter("reliable", "QoS of the camera topics", choices=("reliable", "best_effort"))


class MockHead(Node):
    """The node. ``moves`` holds the goals it was given, ``canceled`` counts the moves that were canceled."""

    def __init__(self, **options: Any) -> None:
        super().__init__("mock_head", **options)
        self.settings = declare(self, MockHeadParameters, on_change=self._on_parameters)
        self.looking = Direction(0.0, 0.0)
        self.moves: list[MoveHead.Goal] = []
        self.canceled = 0
        self._closed = threading.Event()
        self._camera = Camera(self.settings.width, self.settings.height, 100.0)
        reliability = ReliabilityPolicy[self.settings.reliability.upper()]
        qos = QoSProfile(depth=5, reliability=reliability)
        self._images = self.create_publisher(Image, "camera/image_raw", qos)
        self._compressed = self.create_publisher(CompressedImage, "camera/image_raw/compressed", qos)
        self._infos = self.create_publisher(CameraInfo, "camera/camera_info", qos)
        self._capabilities = self.create_publisher(HeadCapabilities, "capabilities", latched())
        self._publish_capabilities()
        self._server = ActionServer(
            self,
            MoveHead,
            "move",
            execute_callback=self._execute,
            goal_callback=self._on_goal,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            callback_group=ReentrantCallbackGroup(),
        )

    def close(self) -> None:
        """Let everything that stalls go."""
        self._closed.set()

    def destroy_node(self) -> None:
        """Remove the action, then the node."""
        self._server.destroy()
        super().destroy_node()

    def _on_parameters(self, new: MockHeadParameters) -> None:
        scene = self.settings.scene
        self.settings = new
        if new.scene != scene:
            self._publish_capabilities()

    def _fault(self, move: int) -> str:
        return self.settings.fault if move >= self.settings.from_move else ""

    def _on_goal(self, _goal: MoveHead.Goal) -> GoalResponse:
        fault = self._fault(len(self.moves) + 1)
        if fault == "unanswered":
            self._closed.wait()
        return GoalResponse.REJECT if fault == "rejects" else GoalResponse.ACCEPT

    def _execute(self, handle: ServerGoalHandle) -> MoveHead.Result:
        goal = handle.request
        self.moves.append(goal)
        fault = self._fault(len(self.moves))
        outcomes = MoveHead.Result
        if fault == "refuses":
            return self._end(handle, outcomes.REFUSED, "this head does not look there")
        if fault == "aborts":
            return self._end(handle, outcomes.FAULT, "motor 2 is too hot; let it cool down")
        until = math.inf if fault in ("stalls", "stuck") else time.monotonic() + self.settings.move_time
        while time.monotonic() < until and not self._closed.is_set():
            if handle.is_cancel_requested and fault != "stuck":
                self.canceled += 1
                return self._end(handle, outcomes.STOPPED, "canceled; the head holds where it is")
            handle.publish_feedback(MoveHead.Feedback(pose=self._pose()))
            self._closed.wait(min(0.02, max(0.0, until - time.monotonic())))
        if self._closed.is_set():
            return self._end(handle, outcomes.STOPPED, "the head shuts down")
        outcome = self._arrive(goal, fault)
        stamp_ns = int(self.get_clock().now().nanoseconds)
        if fault != "no_view":
            self._shoot(stamp_ns, fault)
        return self._end(handle, outcome, "", 0 if fault == "no_stamp" else stamp_ns)

    def _arrive(self, goal: MoveHead.Goal, fault: str) -> int:
        wanted = angles.search_direction(goal.yaw, goal.pitch)
        if goal.mode == MoveHead.Goal.RELATIVE:
            wanted = self.looking.turned(angles.search_turn_deg(goal.yaw), angles.search_turn_deg(goal.pitch))
        if fault == "short":
            wanted = wanted.turned(-20.0, 0.0)
        if fault == "clamps":
            limited = max(-30.0, min(30.0, angles.yaw_difference_deg(wanted.yaw_deg, 0.0)))
            wanted = Direction(limited, wanted.pitch_deg).normalized()
        self.looking = wanted
        return int(MoveHead.Result.CLAMPED if fault == "clamps" else MoveHead.Result.REACHED)

    def _end(self, handle: ServerGoalHandle, outcome: int, message: str, view_ns: int = 0) -> MoveHead.Result:
        if outcome in (MoveHead.Result.REACHED, MoveHead.Result.CLAMPED):
            handle.succeed()
        elif handle.is_cancel_requested:
            handle.canceled()
        else:
            handle.abort()
        return MoveHead.Result(
            outcome=outcome, message=message, pose=self._pose(), view_stamp=convert.time_message(view_ns)
        )

    def _pose(self) -> Any:
        return convert.direction_pose(self.looking, int(self.get_clock().now().nanoseconds), "base_link")

    def _shoot(self, stamp_ns: int, fault: str) -> None:
        off_s = {"late_clock": -10, "early_clock": 3600}.get(fault, 0)
        header = convert.header(stamp_ns + off_s * convert.NS, "camera_optical_frame")
        if fault != "no_info":
            self._infos.publish(camera_info(self._camera, header))
        picture = mock_picture(self.looking, self._camera)
        image = to_image(picture, header)
        if fault == "bad_encoding":
            image.encoding = "smell8"
        self._images.publish(image)
        self._compressed.publish(to_compressed(picture, header, 90))

    def _publish_capabilities(self) -> None:
        self._capabilities.publish(
            HeadCapabilities(
                header=convert.header(int(self.get_clock().now().nanoseconds), "base_link"),
                kind="mock",
                name=self.get_fully_qualified_name(),
                scene=self.settings.scene,
                view="one colour",
                yaw_continuous=True,
                yaw_min=-math.pi,
                yaw_max=math.pi,
                pitch_min=-math.pi / 2,
                pitch_max=math.pi / 2,
                width=self._camera.width,
                height=self._camera.height,
                hfov=abs(angles.ros_turn(self._camera.hfov_deg)),
                gaze_frame="gaze",
                optical_frame="camera_optical_frame",
            )
        )


def mock_picture(looking: Direction, camera: Camera) -> Picture:
    """Return the picture of that direction: blue is yaw // 2 degrees, green the rest times 100, red pitch + 90."""
    colour = (int(looking.yaw_deg // 2), int(looking.yaw_deg % 2 * 100), round(looking.pitch_deg + 90))
    return np.full((camera.height, camera.width, 3), colour, np.uint8)


def main(args: Sequence[str] | None = None) -> int:
    """Run the node as a process."""
    return run_node(MockHead, args, threads=16)


if __name__ == "__main__":
    sys.exit(main())
