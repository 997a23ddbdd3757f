"""Publishes the views of a panorama head: image_raw, its compressed form and camera_info, with equal stamps and frames.

One view at a time: stamp, gaze and picture are taken under one lock, so that they belong together and leave in order.
What nobody has subscribed to is not made. A new subscriber is shown the present view at once: a head at rest would
otherwise have nothing to say to it. Nothing leaves a camera that is switched off, as it is at first.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import CameraInfo, CompressedImage, Image

from hvs_ros.angles import search_direction
from hvs_ros.neck.gaze import Gaze
from hvs_ros.neck.neck import Moment
from hvs_ros.nodes import convert
from hvs_ros.nodes.camera_info import camera_info
from hvs_ros.nodes.head_parameters import HeadParameters
from hvs_ros.nodes.head_state import StatePublisher
from hvs_ros.nodes.images import to_compressed, to_image
from hvs_ros.panorama import Camera
from hvs_ros.panorama.surroundings import Surroundings
from hvs_ros.search.view import Picture


class ViewError(Exception):
    """A view cannot be made; the message says why."""


class HeadCamera:
    """The camera of a panorama head.

    Args:
        node: whose topics they are.
        parameters: of the head.
        camera: what it sees with.
        gaze: where it looks.
        state: the pose of each view goes out with it.
    """

    def __init__(
        self, node: Node, parameters: HeadParameters, camera: Camera, gaze: Gaze, state: StatePublisher
    ) -> None:
        self._node, self._gaze, self._state = node, gaze, state
        self._frame = parameters.optical_frame
        self._camera = camera
        self.jpeg_quality = parameters.jpeg_quality
        self._lock = threading.Lock()
        self._on = False
        self._surroundings: Surroundings | None = None
        self._group = MutuallyExclusiveCallbackGroup()
        self._timer: Any = None
        reliable = parameters.image_reliability == "reliable"
        qos = QoSProfile(depth=5, reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT)
        self._raw = self._publisher(Image, "camera/image_raw", qos)
        self._compressed = self._publisher(CompressedImage, "camera/image_raw/compressed", qos)
        self._info = node.create_publisher(CameraInfo, "camera/camera_info", qos)
        self.set_rate(parameters.publish_rate)

    def switch(self, *, on: bool) -> None:
        """Switch it on or off; once it is off, no view is on its way out."""
        with self._lock:
            self._on = on

    def set_rate(self, rate: float) -> None:
        """Publish so many views per second, moving or not; 0: only on demand."""
        if self._timer is not None:
            self._node.destroy_timer(self._timer)
            self._timer = None
        if rate > 0.0:
            self._timer = self._node.create_timer(
                1.0 / rate, lambda: self.offer(moving=True), callback_group=self._group
            )

    def change(self, surroundings: Surroundings, place: Callable[[], None]) -> None:
        """Exchange what is around the head; ``place`` puts the head where it looks first."""
        with self._lock:
            self._surroundings = surroundings
            place()

    def shoot(self, *, moving: bool = False) -> Moment | None:
        """Publish a view of now and return when and where it was taken.

        Args:
            moving: even if the head is not settled.

        Returns:
            None if it is off, there is no scene, or the head moves and ``moving`` is not set.

        Raises:
            ViewError: the view cannot be made.
        """
        with self._lock:
            if not self._on or self._surroundings is None:
                return None
            moment = self._gaze.now()
            if not moment.settled and not moving:
                return None
            self._state.publish(moment)
            header = convert.header(moment.stamp_ns, self._frame)
            self._info.publish(camera_info(self._camera, header))
            raw, compressed = (p.get_subscription_count() > 0 for p in (self._raw, self._compressed))
            if raw or compressed:
                picture = self._render(self._surroundings, moment)
                if raw:
                    self._raw.publish(to_image(picture, header))
                if compressed:
                    self._compressed.publish(to_compressed(picture, header, self.jpeg_quality))
            return moment

    def offer(self, *, moving: bool = False) -> None:
        """Publish a view if one can be made; a failure is logged."""
        try:
            self.shoot(moving=moving)
        except ViewError as error:
            self._node.get_logger().error(str(error), throttle_duration_sec=5.0)

    @staticmethod
    def _render(surroundings: Surroundings, moment: Moment) -> Picture:
        try:
            return surroundings.render(search_direction(moment.state.yaw, moment.state.pitch))
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise ViewError(f"no view of '{surroundings.name}' can be made: {reason}") from error

    def _publisher(self, kind: type, topic: str, qos: QoSProfile) -> Publisher:
        try:
            from rclpy.event_handler import PublisherEventCallbacks

            events = PublisherEventCallbacks(matched=self._on_match)
        except (ImportError, TypeError):  # Humble does not tell
            return self._node.create_publisher(kind, topic, qos)
        return self._node.create_publisher(kind, topic, qos, event_callbacks=events, callback_group=self._group)

    def _on_match(self, info: Any) -> None:
        if info.current_count_change > 0:
            self.offer()
