"""A robot's camera: its last pictures, the one exposed at or after a given moment, and why there is none.

Whatever QoS the driver offers is taken. Pictures are kept as they came; only the one that is used is decoded. Callbacks
store and notify, nothing else; who wants a picture waits in a thread of its own.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from sensor_msgs.msg import CameraInfo

from hvs_ros.neck.robot import HeadCameraMount
from hvs_ros.nodes.camera_frames import CameraFrame, CameraFrames
from hvs_ros.nodes.convert import NS
from hvs_ros.nodes.frame_renderer import FrameRenderer
from hvs_ros.nodes.picture_topics import picture_topics
from hvs_ros.nodes.search_subscription import MatchingSubscription
from hvs_ros.nodes.search_views import TRANSPORTS
from hvs_ros.panorama.camera import Camera, CameraError
from hvs_ros.search.view import Picture

MAX_AGE_S = 2.0
"""A picture that comes so long after its exposure is refused: its clock is another one, or the network stalls."""

NO_IMAGE_S = 5.0
"""After so long without a picture, the publishers and their QoS are named."""

WATCH_PERIOD_S = 1.0
STOP_PERIOD_S = 0.02
"""How often a wait looks whether it is to end."""

RATE_PICTURES = 30


class RobotCamera:
    """Listens to the camera on a robot's head. Thread-safe; ``frame_after`` is the only call that waits.

    Args:
        node: spun by a multi-threaded executor.
        mount: topics, transport and rotation of the camera.
        target: the camera that pictures are wanted from; None: native, as the camera takes them.
        latency_s: by how much stamps are later than the exposure.
        max_age_s: a picture that comes so long after its exposure is refused.
        prefilter: average pixels where several fall on one of the target, against moire.

    Attributes:
        received: pictures that came, refused ones included.
        refused: of those, the ones whose stamps cannot be right.
    """

    def __init__(
        self,
        node: Node,
        mount: HeadCameraMount,
        target: Camera | None,
        *,
        latency_s: float,
        max_age_s: float = MAX_AGE_S,
        prefilter: bool = False,
    ) -> None:
        self._node, self._mount = node, mount
        self._renderer = FrameRenderer(mount, target, prefilter=prefilter)
        self._changed = threading.Condition()
        self._frames = CameraFrames(latency_s, max_age_s)
        self._arrivals: deque[float] = deque(maxlen=RATE_PICTURES)
        self._began = time.monotonic()
        self._missed: tuple[float, str] = (-math.inf, "")
        self._said = ""
        self.received = self.refused = 0
        self._images = MatchingSubscription(
            node, TRANSPORTS[mount.transport][0], mount.image, self._on_picture, 3, MutuallyExclusiveCallbackGroup()
        )
        self._infos = MatchingSubscription(
            node, CameraInfo, mount.info, self._on_info, 10, MutuallyExclusiveCallbackGroup()
        )
        self._timer = node.create_timer(
            WATCH_PERIOD_S,
            self._watch,
            callback_group=MutuallyExclusiveCallbackGroup(),
            clock=Clock(clock_type=ClockType.STEADY_TIME),
        )

    def close(self) -> None:
        """Stop listening."""
        self._node.destroy_timer(self._timer)
        self._images.close()
        self._infos.close()

    @property
    def latency(self) -> float:
        """By how much stamps are later than the exposure [s]; may be set."""
        return self._frames.latency_ns / NS

    @latency.setter
    def latency(self, seconds: float) -> None:
        with self._changed:
            self._frames.latency_ns = round(seconds * NS)
            self._changed.notify_all()

    @property
    def rate(self) -> float:
        """Pictures per second of late; 0: none."""
        with self._changed:
            arrivals = list(self._arrivals)
        if len(arrivals) < 2 or time.monotonic() - arrivals[-1] > NO_IMAGE_S:
            return 0.0
        return (len(arrivals) - 1) / max(arrivals[-1] - arrivals[0], 1e-6)

    def frame_after(self, stamp_ns: int, limit_s: float, stopped: Callable[[], bool]) -> CameraFrame | None:
        """Wait for the first picture exposed at a moment or later.

        Args:
            stamp_ns: that moment, ns of the ROS clock.
            limit_s: how long to wait, in real time.
            stopped: ends the wait when it returns True.

        Returns:
            None at the limit, ``problem`` says why then; or when stopped.
        """
        began = time.monotonic()
        while not stopped():
            with self._changed:
                frame = self._usable(self._frames.first(stamp_ns))
                left = began + limit_s - time.monotonic()
                if frame is None and left > 0:
                    self._changed.wait(min(STOP_PERIOD_S, left))
            if frame is not None:
                self._missed = (-math.inf, "")
                self._warn_of_unpaired()
                return frame
            if left <= 0:
                self._missed = (time.monotonic(), self._why_none(began) or self._why_not_since(stamp_ns))
                break
        return None

    def latest(self) -> CameraFrame | None:
        """Return the newest picture; None where there is none that is not too old by now."""
        with self._changed:
            frame = self._usable(self._frames.last())
            fresh = frame is not None and self._frames.in_time(frame.stamp_ns, self._now_ns())
        return frame if fresh else None

    def render(self, frame: CameraFrame, roll: float) -> tuple[Picture, Camera, str]:
        """Return a frame's picture, BGR uint8 (height, width, 3), the camera that it is of, and how it was made.

        Re-projected, it is undistorted, level, and grey where the camera saw nothing. Native, it is as it came, neither
        undistorted nor turned, which ``made`` says.

        Args:
            frame: of this camera.
            roll: rad, the gaze's roll when it was exposed, right side down positive (``GazeState.roll``); the rotation
                of the camera's mount, which is not in it, is added here.

        Raises:
            ImageError: the message cannot be decoded.
            CameraError: the calibration is not this picture's.
        """
        return self._renderer.render(frame, roll)

    def problem(self) -> str:
        """Say why there is no picture; empty while they come, and in the first seconds.

        When a wait has been in vain, it says why at once, for some seconds.
        """
        now = time.monotonic()
        when, missed = self._missed
        if now - when > NO_IMAGE_S:
            missed = ""
        if now - self._began < NO_IMAGE_S:
            return missed
        return self._why_none(now - NO_IMAGE_S) or missed

    # Callbacks of the executor's threads.

    def _on_picture(self, message: Any) -> None:
        now_ns = self._now_ns()
        with self._changed:
            self._arrivals.append(time.monotonic())
            self.received += 1
            if not self._frames.add(message, now_ns):
                self.refused += 1
            self._changed.notify_all()

    def _on_info(self, message: CameraInfo) -> None:
        with self._changed:
            self._frames.add_info(message)
            self._changed.notify_all()

    def _watch(self) -> None:
        problem = self.problem()
        if problem and not self._said:
            self._node.get_logger().error(f"camera: {problem}")
        elif self._said and not problem:
            self._node.get_logger().info("camera: pictures come again")
        self._said = problem

    def _usable(self, frame: CameraFrame | None) -> CameraFrame | None:
        """Return the frame if its calibration is one."""
        return None if frame is None or self._fault(frame.info) else frame

    def _fault(self, info: CameraInfo) -> str:
        try:
            self._renderer.camera(info)
        except CameraError as error:
            return f"the calibration on {self._infos.topic} cannot be used: {error}"
        return ""

    def _warn_of_unpaired(self) -> None:
        if self._frames.unpaired:
            self._node.get_logger().warning(
                f"no camera_info on {self._infos.topic} has the stamp of its picture on {self._images.topic}; the last"
                " one of the same frame_id is used",
                once=True,
            )

    # Why there is no picture.

    def _why_none(self, since: float) -> str:
        """Return what keeps pictures from being used, as far as it was so since a moment of the steady clock."""
        with self._changed:
            last = self._arrivals[-1] if self._arrivals else self._began
            heard = bool(self._arrivals) and last >= since
            refusal, lacking, info = self._frames.refusal, self._frames.lacks_info(), self._frames.last_info
        if not heard:
            silent = time.monotonic() - last
            return f"no picture for {silent:.1f} s: {self._images.describe()}{self._elsewhere()}"
        if refusal:
            return f"pictures come on {self._images.topic}, but {refusal}"
        if lacking:
            return f"pictures come on {self._images.topic}, but {lacking}: {self._infos.describe()}"
        return "" if info is None else self._fault(info)

    def _why_not_since(self, stamp_ns: int) -> str:
        with self._changed:
            newest = self._frames.newest_ns
        if newest is None or newest >= stamp_ns:
            return f"no picture on {self._images.topic} came together with its camera_info in time"
        return (
            f"the newest picture on {self._images.topic} was exposed {(stamp_ns - newest) / NS:.2f} s before the moment"
            f" waited for, going by its stamp less a latency of {self.latency:g} s; {self.rate:.1f} come per second"
        )

    def _elsewhere(self) -> str:
        """Name other topics with pictures, if nobody publishes this one."""
        if self._node.count_publishers(self._images.topic):
            return ""
        found = [f"{topic} ({transport})" for topic, transport in picture_topics(self._node).items()]
        return f"; pictures are published on {', '.join(found)}" if found else ""

    def _now_ns(self) -> int:
        return int(self._node.get_clock().now().nanoseconds)
