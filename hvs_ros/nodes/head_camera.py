"""Makes the views of a panorama head.

One view at a time: stamp, gaze and picture are taken under one lock, so that they belong together and leave in order.
Nothing leaves a camera that is switched off, as it is at first.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from rclpy.node import Node

from hvs_ros.angles import search_direction
from hvs_ros.neck.gaze import Gaze
from hvs_ros.neck.neck import Moment
from hvs_ros.nodes import convert
from hvs_ros.nodes.camera_info import camera_info
from hvs_ros.nodes.head_parameters import HeadParameters
from hvs_ros.nodes.head_state import StatePublisher
from hvs_ros.nodes.view_publisher import ViewPublisher
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

    Attributes:
        publisher: its topics.
    """

    def __init__(
        self, node: Node, parameters: HeadParameters, camera: Camera, gaze: Gaze, state: StatePublisher
    ) -> None:
        self._node, self._gaze, self._state = node, gaze, state
        self._frame = parameters.optical_frame
        self._camera = camera
        self._lock = threading.Lock()
        self._on = False
        self._surroundings: Surroundings | None = None
        self.publisher = ViewPublisher(
            node, parameters.image_reliability, parameters.jpeg_quality, lambda moving: self.offer(moving=moving)
        )
        self.publisher.set_rate(parameters.publish_rate)

    def switch(self, *, on: bool) -> None:
        """Switch it on or off; once it is off, no view is on its way out."""
        with self._lock:
            self._on = on

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
            picture = self._render(self._surroundings, moment) if self.publisher.wanted else None
            self.publisher.publish(header, camera_info(self._camera, header), picture)
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
