"""The camera topics of a head: image_raw, its compressed form and camera_info, with equal stamps and frames.

What nobody has subscribed to is not made. A new subscriber is shown a view at once: a head at rest would otherwise have
nothing to say to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import CameraInfo, CompressedImage, Image
from std_msgs.msg import Header

from hvs_ros.nodes.images import to_compressed, to_image
from hvs_ros.search.view import Picture


class ViewPublisher:
    """Publishes views; one at a time, which the caller sees to.

    Args:
        node: whose topics they are.
        reliability: "reliable" or "best_effort".
        jpeg_quality: of the compressed form; may be changed.
        offer: publishes a view now, if there is one; the argument says whether the head may be moving. It is called
            when somebody subscribes, and by the timer of ``set_rate``.
    """

    def __init__(self, node: Node, reliability: str, jpeg_quality: int, offer: Callable[[bool], None]) -> None:
        self._node, self._offer = node, offer
        self.jpeg_quality = jpeg_quality
        self._group = MutuallyExclusiveCallbackGroup()
        self._timer: Any = None
        qos = QoSProfile(depth=5, reliability=ReliabilityPolicy[reliability.upper()])
        self._raw = self._publisher(Image, "camera/image_raw", qos)
        self._compressed = self._publisher(CompressedImage, "camera/image_raw/compressed", qos)
        self._info = node.create_publisher(CameraInfo, "camera/camera_info", qos)

    def set_rate(self, rate: float) -> None:
        """Publish so many views per second, moving or not; 0: only on demand."""
        if self._timer is not None:
            self._node.destroy_timer(self._timer)
            self._timer = None
        if rate > 0.0:
            self._timer = self._node.create_timer(1.0 / rate, lambda: self._offer(True), callback_group=self._group)

    @property
    def wanted(self) -> bool:
        """Somebody has subscribed to pictures."""
        return any(publisher.get_subscription_count() > 0 for publisher in (self._raw, self._compressed))

    def publish(self, header: Header, info: CameraInfo, picture: Picture | None) -> None:
        """Publish a view.

        Args:
            header: stamp and frame of all of it.
            info: the camera's calibration, with the same header.
            picture: BGR uint8; None: only the calibration goes out.
        """
        self._info.publish(info)
        if picture is None:
            return
        if self._raw.get_subscription_count() > 0:
            self._raw.publish(to_image(picture, header))
        if self._compressed.get_subscription_count() > 0:
            self._compressed.publish(to_compressed(picture, header, self.jpeg_quality))

    def _publisher(self, kind: type, topic: str, qos: QoSProfile) -> Publisher:
        try:
            from rclpy.event_handler import PublisherEventCallbacks

            events = PublisherEventCallbacks(matched=self._on_match)
        except (ImportError, TypeError):  # Humble does not tell
            return self._node.create_publisher(kind, topic, qos)
        return self._node.create_publisher(kind, topic, qos, event_callbacks=events, callback_group=self._group)

    def _on_match(self, info: Any) -> None:
        if info.current_count_change > 0:
            self._offer(False)
