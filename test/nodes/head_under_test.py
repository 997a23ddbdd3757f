"""A head as the contract tests see it: its action, its topics, and a scene whose colours tell where a view looks."""

from __future__ import annotations

import math
import threading
import time
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from action_msgs.msg import GoalStatus
from hvs_interfaces.action import MoveHead
from hvs_interfaces.msg import HeadCapabilities, HeadPose
from hvs_interfaces.srv import LoadScene
from rclpy.action import ActionClient
from rclpy.qos import DurabilityPolicy, QoSProfile
from ros_graph import WAIT_S, Graph, wait_until
from sensor_msgs.msg import CameraInfo, Image

from hvs_ros.nodes.convert import duration_message, time_ns
from hvs_ros.nodes.images import from_image
from hvs_ros.search.view import Picture

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
SUCCEEDED, CANCELED, ABORTED = GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_CANCELED, GoalStatus.STATUS_ABORTED
Result = MoveHead.Result


def write_panorama(path: Path, turned: float = 0.0) -> None:
    """Write a picture whose colour at each point tells its direction: cos and sin of the yaw, and the pitch.

    Args:
        path: PNG file.
        turned: rad, added to every yaw, so that scenes can be told apart.
    """
    height, width = 256, 512
    yaw = -((np.arange(width) + 0.5) / width - 0.5) * 2 * math.pi + turned
    pitch = ((np.arange(height) + 0.5) / height - 0.5) * math.pi
    blue = np.broadcast_to(128 + 120 * np.cos(yaw), (height, width))
    green = np.broadcast_to(128 + 120 * np.sin(yaw), (height, width))
    red = np.broadcast_to((128 + 120 * pitch / (math.pi / 2))[:, None], (height, width))
    path.parent.mkdir(parents=True, exist_ok=True)
    cv2.imwrite(str(path), np.rint(np.dstack([blue, green, red])).astype(np.uint8))


def seen_direction(picture: Picture) -> tuple[float, float]:
    """Return (yaw, pitch) [rad] that the middle of a view of such a panorama shows, to 0.03 rad."""
    height, width = picture.shape[:2]
    middle = picture[height // 2 - 1 : height // 2 + 1, width // 2 - 1 : width // 2 + 1].reshape(-1, 3)
    blue, green, red = middle.astype(float).mean(axis=0) - 128
    return math.atan2(green, blue), red / 120 * math.pi / 2


def off(a: float, b: float) -> float:
    """Return the angle between two yaws [rad]."""
    return abs(math.remainder(a - b, 2 * math.pi))


class GatedClient(ActionClient):
    """An action client for threads outside the executor.

    rclpy notes who waits for a response only after the request has left; a response that is handled before that is
    dropped. So none is handled while a request is being sent.
    """

    def __init__(self, *args: Any) -> None:
        self._gate = threading.Lock()
        super().__init__(*args)

    def send_goal_async(self, *args: Any, **kwargs: Any) -> Any:
        with self._gate:
            return super().send_goal_async(*args, **kwargs)

    def _get_result_async(self, *args: Any) -> Any:
        with self._gate:
            return super()._get_result_async(*args)

    def _cancel_goal_async(self, *args: Any) -> Any:
        with self._gate:
            return super()._cancel_goal_async(*args)

    async def execute(self, taken_data: Any) -> None:
        with self._gate:
            pass
        await super().execute(taken_data)


class Goal:
    """A goal that was sent."""

    def __init__(self, graph: Graph, handle: Any) -> None:
        assert handle.accepted
        self._graph, self._handle = graph, handle
        self._future = handle.get_result_async()

    @property
    def ended(self) -> bool:
        return bool(self._future.done())

    def result(self, limit_s: float = WAIT_S) -> tuple[int, Any]:
        """Wait for its end; return the goal's status and result."""
        answer = self._graph.result(self._future, limit_s)
        return answer.status, answer.result

    def cancel(self) -> float:
        """Cancel it and return how long the answer took [s]."""
        began = time.monotonic()
        answer = self._graph.result(self._handle.cancel_goal_async())
        assert answer.goals_canceling, "the cancellation was refused"
        return time.monotonic() - began


class HeadClient:
    """Talks to a head in the namespace ``head``."""

    def __init__(self, graph: Graph, namespace: str = "head") -> None:
        self.graph = graph
        self.namespace = namespace
        self.feedback: list[Any] = []
        self.views = graph.collect(Image, f"{namespace}/camera/image_raw", QoSProfile(depth=50))
        self.infos = graph.collect(CameraInfo, f"{namespace}/camera/camera_info", QoSProfile(depth=50))
        self.poses = graph.collect(HeadPose, f"{namespace}/pose", QoSProfile(depth=1000))
        self._capabilities = graph.collect(HeadCapabilities, f"{namespace}/capabilities", LATCHED)
        self._move = GatedClient(graph.node, MoveHead, f"{namespace}/move")

    def wait(self) -> HeadClient:
        """Wait until the head is there and hears and is heard."""
        assert self._move.wait_for_server(WAIT_S), "no head"
        wait_until(lambda: self._capabilities and self.poses, what="capabilities and pose")
        return self

    @property
    def capabilities(self) -> HeadCapabilities:
        return self._capabilities[-1]

    @property
    def limits(self) -> tuple[float, float]:
        """Largest velocity and acceleration; infinite where the head moves at once."""
        return self.capabilities.max_velocity or math.inf, self.capabilities.max_acceleration or math.inf

    def send(
        self,
        yaw: float,
        pitch: float = 0.0,
        *,
        relative: bool = False,
        max_velocity: float = 0.0,
        timeout_s: float = 0.0,
        mode: int | None = None,
    ) -> Goal:
        """Send a goal and wait until it is accepted."""
        goal = MoveHead.Goal(
            mode=mode if mode is not None else MoveHead.Goal.RELATIVE if relative else MoveHead.Goal.ABSOLUTE,
            yaw=yaw,
            pitch=pitch,
            max_velocity=max_velocity,
            timeout=duration_message(timeout_s),
        )
        future = self._move.send_goal_async(goal, feedback_callback=lambda m: self.feedback.append(m.feedback))
        return Goal(self.graph, self.graph.result(future))

    def move(self, yaw: float, pitch: float = 0.0, **options: Any) -> tuple[int, Any]:
        """Send a goal and wait for its end; return the goal's status and result."""
        return self.send(yaw, pitch, **options).result()

    def load_scene(self, scene: str, yaw: float = 0.0, pitch: float = 0.0) -> Any:
        request = LoadScene.Request(scene=scene, yaw=yaw, pitch=pitch)
        return self.graph.call(LoadScene, f"{self.namespace}/load_scene", request)

    def view_since(self, stamp: Any) -> Image:
        """Wait for the first view with this stamp or a later one."""
        return wait_until(
            lambda: next((view for view in self.views if time_ns(view.header.stamp) >= time_ns(stamp)), None),
            what=f"a view since {time_ns(stamp)}",
        )

    def looks_at(self, result: Any) -> tuple[float, float]:
        """Return the direction [rad] that the view of a result shows."""
        return seen_direction(from_image(self.view_since(result.view_stamp)))

    def pose_at_rest(self) -> HeadPose:
        """Wait for a pose from now on that is settled; the head's clock is this machine's."""
        now = time.time_ns()
        return wait_until(lambda: next((p for p in self.poses_since(now) if p.settled), None), what="a pose at rest")

    def poses_since(self, stamp_ns: int) -> list[HeadPose]:
        """Return the poses of that moment and later; what is received now may have been sent before."""
        return [pose for pose in self.poses if time_ns(pose.header.stamp) >= stamp_ns]
