"""Turns a head back and forth and records what its camera and its pose tell meanwhile, to find the camera's latency.

The robot's own camera is listened to, not the head's views: those have been paired with joint states already. Of each
picture only the shift since the one before is kept.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from hvs_interfaces.action import MoveHead
from hvs_interfaces.msg import HeadPose
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import CameraInfo

from hvs_ros.bringup import HEAD_NAMESPACE
from hvs_ros.image_encodings import ImageError
from hvs_ros.neck.image_shift import Middle, image_shift, middle_of, turn_angle
from hvs_ros.neck.latency import LATEST, GazeYaw, SeenStep
from hvs_ros.neck.robot import HeadCameraMount
from hvs_ros.nodes.camera_info import info_camera
from hvs_ros.nodes.convert import NS, time_ns
from hvs_ros.nodes.head_mover import HeadLimits, HeadMover
from hvs_ros.nodes.search_stop import Stop
from hvs_ros.nodes.search_subscription import MatchingSubscription
from hvs_ros.nodes.search_views import TRANSPORTS
from hvs_ros.panorama.camera import Camera, CameraError

POLL_S = 0.05
FIRST_S = 10.0
"""For the first picture, its camera_info and the first pose."""
REST_S = LATEST + 0.2
"""At the start and at the end, so that what was exposed early and what comes late is recorded too."""


class ProbeError(Exception):
    """Nothing can be recorded; the message says what is missing."""


class LatencyProbe:
    """Records; see ``latency_probe``.

    Args:
        node: spun by a multi-threaded executor.
        mount: the camera.
        head: prefix of the head's names.
    """

    def __init__(self, node: Node, mount: HeadCameraMount, head: str = HEAD_NAMESPACE) -> None:
        self._node, self._mount, self._head = node, mount, head
        self._changed = threading.Condition()
        self._mover = HeadMover(node, f"{head}/move", HeadLimits(), self._changed)
        self._stop = Stop(self._changed, wake=lambda: None)
        self._lock = threading.Lock()
        self._origin_ns: int | None = None
        self._camera: Camera | None = None
        self._last: tuple[float, Middle] | None = None
        self._steps: list[tuple[float, float, float]] = []
        self._gaze: list[GazeYaw] = []
        self._unusable = ""
        self.pictures = 0
        kind, _, self._decode = TRANSPORTS[mount.transport]
        pictures, rest = MutuallyExclusiveCallbackGroup(), MutuallyExclusiveCallbackGroup()
        self._images = MatchingSubscription(node, kind, mount.image, self._on_picture, 5, pictures)
        self._infos = MatchingSubscription(node, CameraInfo, mount.info, self._on_info, 1, rest)
        qos = QoSProfile(depth=200, reliability=ReliabilityPolicy.BEST_EFFORT)
        node.create_subscription(HeadPose, f"{head}/pose", self._on_pose, qos, callback_group=rest)

    def begin(self) -> None:
        """Wait until pictures, their calibration and the head's pose come.

        Raises:
            ProbeError: one of them does not come.
        """
        self._mover.begin(self._stop)
        end = time.monotonic() + FIRST_S
        while missing := self._missing():
            if time.monotonic() > end:
                raise ProbeError(f"within {FIRST_S:g} s {missing}")
            self._images.match()
            self._infos.match()
            time.sleep(POLL_S)

    def sweep(
        self, directions: list[tuple[float, float]], max_velocity: float, tell: Callable[[int], None] = lambda _: None
    ) -> None:
        """Turn to one direction after the other, and record.

        Args:
            directions: (yaw, pitch) [rad].
            max_velocity: rad/s; a head that is slower by itself stays so.
            tell: is told the number of each direction, from 0.

        Raises:
            ProbeError: the head did not do what it was told.
            SearchFailure: no head answers.
        """
        time.sleep(REST_S)
        for number, (yaw, pitch) in enumerate(directions):
            tell(number)
            goal = MoveHead.Goal(mode=MoveHead.Goal.ABSOLUTE, yaw=yaw, pitch=pitch, max_velocity=max_velocity)
            arrival = self._mover.move(goal)
            if not arrival.outcome.arrived:
                raise ProbeError(f"the head did not turn: {arrival.outcome.value}: {arrival.message}")
        time.sleep(REST_S)

    def recording(self) -> tuple[list[SeenStep], list[GazeYaw]]:
        """Return what was seen and where the head looked meanwhile.

        Raises:
            ProbeError: pictures came, but none could be used.
        """
        with self._lock:
            camera, steps, gaze = self._camera, list(self._steps), list(self._gaze)
        assert camera is not None
        if not steps and self._unusable:
            raise ProbeError(f"no picture of {self._images.topic} could be used: {self._unusable}")
        sideways = abs(math.sin(self._mount.turned)) > abs(math.cos(self._mount.turned))
        extent = camera.height if sideways else camera.width
        focal = camera.fy if sideways else camera.fx
        return [SeenStep(start, end, turn_angle(shift, focal, extent)) for start, end, shift in steps], gaze

    def close(self) -> None:
        """Leave the head as it is."""
        self._stop.finish()
        self._mover.end()
        self._mover.close()

    def _missing(self) -> str:
        with self._lock:
            camera, gaze, unusable = self._camera, self._gaze, self._unusable
        found = []
        if not self.pictures:
            found.append(f"no picture came: {self._images.describe()}")
        if camera is None:
            found.append(f"no camera_info could be used: {unusable or self._infos.describe()}")
        if not gaze:
            found.append(f"the head told nothing of where it looks on {self._head}/pose")
        return "; ".join(found)

    def _time(self, stamp_ns: int) -> float:
        """Return a stamp in seconds since the first one: as seconds since 1970 it would lose its microseconds."""
        with self._lock:
            if self._origin_ns is None:
                self._origin_ns = stamp_ns
            return (stamp_ns - self._origin_ns) / NS

    def _on_picture(self, message: Any) -> None:
        self.pictures += 1
        moment = self._time(time_ns(message.header.stamp))
        try:
            middle = middle_of(self._decode(message))
        except ImageError as error:
            self._unusable = str(error)
            return
        last, self._last = self._last, (moment, middle)
        if last is None or moment <= last[0]:
            return
        shift = image_shift(last[1], middle, self._mount.turned)
        if shift is None:
            self._unusable = "they are blank: is it dark, or the lens covered?"
            return
        with self._lock:
            self._steps.append((last[0], moment, shift))

    def _on_info(self, message: CameraInfo) -> None:
        try:
            camera = info_camera(message)
        except CameraError as error:
            self._unusable = str(error)
            return
        with self._lock:
            self._camera = camera

    def _on_pose(self, message: HeadPose) -> None:
        moment = self._time(time_ns(message.header.stamp))
        with self._lock:
            if not self._gaze or moment > self._gaze[-1].time:
                self._gaze.append(GazeYaw(moment, message.yaw))


@contextmanager
def latency_probe(node: Node, mount: HeadCameraMount) -> Iterator[LatencyProbe]:
    """Give a probe of the head in the node's namespace to the block, when pictures and poses come.

    Raises:
        ProbeError: they do not come.
    """
    probe = LatencyProbe(node, mount)
    try:
        probe.begin()
        yield probe
    finally:
        probe.close()
