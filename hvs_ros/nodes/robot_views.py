"""Makes the views of a robot's head: the camera's picture of a settled head, at the camera model that policies expect.

A view belongs to the moment of its exposure, not of its arrival: the joints are interpolated to that moment, and what
comes of it is the pose that goes out with the view, under the same stamp.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from rclpy.node import Node

from hvs_ros.image_encodings import ImageError
from hvs_ros.neck.neck import Moment
from hvs_ros.neck.robot_gaze import RobotGaze
from hvs_ros.nodes import convert
from hvs_ros.nodes.camera_frames import CameraFrame
from hvs_ros.nodes.camera_info import camera_info
from hvs_ros.nodes.head_camera import ViewError
from hvs_ros.nodes.head_state import StatePublisher
from hvs_ros.nodes.robot_camera import RobotCamera
from hvs_ros.nodes.robot_parameters import RobotHeadParameters
from hvs_ros.nodes.view_publisher import ViewPublisher
from hvs_ros.panorama.camera import Camera, CameraError

JOINTS_LIMIT_S = 0.3
"""How long the joint states around a picture's moment are waited for; they usually come before the picture. Then the
next picture is tried: joint states may have been lost."""
LOOK_S = 0.005
OFFER_S = 1.0
"""How long a view is looked for that nobody waits for."""


class RobotViews:
    """The views of a robot's head.

    Args:
        node: whose topics they are.
        parameters: of the head.
        camera: the robot's.
        gaze: where it looks.
        state: the pose of each view goes out with it.
        on_view: is told, after a view, with which camera it was made, and how.

    Attributes:
        publisher: its topics.
    """

    def __init__(
        self,
        node: Node,
        parameters: RobotHeadParameters,
        camera: RobotCamera,
        gaze: RobotGaze,
        state: StatePublisher,
        on_view: Callable[[Camera, str], None],
    ) -> None:
        self._node, self._camera, self._gaze, self._state, self._on_view = node, camera, gaze, state, on_view
        self._limit_s = parameters.view_timeout
        self._native = parameters.view == "native"
        self._frame_id = parameters.optical_frame
        self._lock = threading.Lock()
        self._on = False
        self.publisher = ViewPublisher(
            node, parameters.image_reliability, parameters.jpeg_quality, lambda moving: self.offer(moving=moving)
        )
        self.publisher.set_rate(parameters.publish_rate)

    def switch(self, *, on: bool) -> None:
        """Switch it on or off; once it is off, no view is on its way out."""
        with self._lock:
            self._on = on

    def shoot(self, disturbed: Callable[[], bool]) -> Moment | None:
        """Publish the first view of the head at rest where it was told to look, and return its moment.

        Args:
            disturbed: ends the wait for a picture when it returns True.

        Returns:
            None when it is off, the head moves (again), or the wait was ended.

        Raises:
            ViewError: no picture comes, or it cannot be used.
        """
        since = self._gaze.settled_ns()
        if since is None or not self._on:
            return None

        def over() -> bool:
            return disturbed() or self._gaze.settled_ns() is None

        end = time.monotonic() + self._limit_s
        while (frame := self._frame(since, end, over)) is not None:
            moment = self._moment(frame, over)
            if moment is not None:
                return self._publish(frame, moment) if moment.settled else None
            if time.monotonic() > end:
                raise ViewError(
                    "where the joints were when the picture was taken is not known: joint states are missing around"
                    " its stamp; do the camera and the joint states use the same clock?"
                )
            since = frame.stamp_ns + 1
        return None

    def offer(self, *, moving: bool = False) -> None:
        """Publish a view soon, if there is one of a head at rest or, the newest, ``moving``; a failure is logged."""
        try:
            if moving:
                self._publish_newest()
                return
            # Whoever subscribes just now may have to wait for the next picture, or for the head to be known at rest.
            end = time.monotonic() + OFFER_S
            while self._on and self.shoot(lambda: time.monotonic() > end) is None and time.monotonic() < end:
                time.sleep(LOOK_S)
        except ViewError as error:
            self._node.get_logger().error(str(error), throttle_duration_sec=5.0)

    def _publish_newest(self) -> None:
        frame = self._camera.latest()
        moment = None if frame is None else self._gaze.at(frame.stamp_ns)
        if frame is not None and moment is not None:
            self._publish(frame, moment)

    def _frame(self, since: int, end: float, over: Callable[[], bool]) -> CameraFrame | None:
        """Wait for a picture; None: the wait was ended."""
        frame = self._camera.frame_after(since, max(0.0, end - time.monotonic()), over)
        if frame is None and not over():
            raise ViewError(
                f"the head is at rest where it was told to look, but no picture of it came within {self._limit_s:g} s:"
                f" {self._camera.problem()}"
            )
        return frame

    def _moment(self, frame: CameraFrame, over: Callable[[], bool]) -> Moment | None:
        """Wait until it is known where the head looked; None: it is not, or the wait was ended."""
        end = time.monotonic() + JOINTS_LIMIT_S
        while (moment := self._gaze.at(frame.stamp_ns)) is None and not over() and time.monotonic() < end:
            time.sleep(LOOK_S)
        return moment

    def _publish(self, frame: CameraFrame, moment: Moment) -> Moment | None:
        with self._lock:
            if not self._on:
                return None
            try:
                picture, camera, made = self._camera.render(frame, moment.state.roll)
            except (ImageError, CameraError) as error:
                raise ViewError(f"the camera's picture cannot be used: {error}") from error
            self._on_view(camera, made)
            frame_id = frame.message.header.frame_id if self._native else self._frame_id
            header = convert.header(moment.stamp_ns, frame_id)
            self._state.publish(moment)
            self.publisher.publish(header, camera_info(camera, header), picture)
            return moment
