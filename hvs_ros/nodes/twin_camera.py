"""The camera topics of a twin: pictures and camera_info, with identical stamps and frames.

A picture that arrives now was exposed ``latency`` ago, so that is where the twin is asked for. What nobody has
subscribed to is not made.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import CameraInfo, CompressedImage, Image

from hvs_ros.mock.twin.camera import TwinCamera
from hvs_ros.mock.twin.twin import Twin
from hvs_ros.neck.robot import HeadCameraMount
from hvs_ros.nodes import convert
from hvs_ros.nodes.camera_info import camera_info
from hvs_ros.nodes.convert import NS
from hvs_ros.nodes.images import to_compressed, to_image
from hvs_ros.nodes.twin_parameters import TwinParameters
from hvs_ros.panorama import Panorama


class TwinImages:
    """Publishes what the twin sees.

    Args:
        node: whose topics they are.
        parameters: returns the node's present ones.
        mount: the camera's topics and frame.
        twin: where the camera is.
    """

    def __init__(
        self, node: Node, parameters: Callable[[], TwinParameters], mount: HeadCameraMount, twin: Twin
    ) -> None:
        p = parameters()
        self._node, self._parameters, self._mount, self._twin = node, parameters, mount, twin
        self._sensor = p.sensor()
        self._camera = TwinCamera(self._sensor, twin.start.position)
        self._random = random.Random(p.seed)
        self._panorama: Panorama | None = None
        self._lock = threading.Lock()
        self._last_ns = 0
        self._compressed = mount.transport == "compressed"
        qos = QoSProfile(depth=5, reliability=ReliabilityPolicy[p.image_reliability.upper()])
        self._images = node.create_publisher(CompressedImage if self._compressed else Image, mount.image, qos)
        self._infos = node.create_publisher(CameraInfo, mount.info, qos)
        node.create_timer(1.0 / p.image_rate, self._shoot, callback_group=MutuallyExclusiveCallbackGroup())

    def surround(self, panorama: Panorama) -> None:
        """Exchange what is around the camera."""
        with self._lock:
            self._panorama = panorama

    def _shoot(self) -> None:
        p = self._parameters()
        if p.dead_camera or self._panorama is None or self._random.random() < p.drop_frames:
            return
        now_ns = self._node.get_clock().now().nanoseconds
        late_ns = round((p.latency + p.late_frames * self._random.random()) * NS)
        # The exposure is over, and pictures come in their order.
        middle_ns = now_ns - max(late_ns, round(p.exposure * NS / 2))
        if self._last_ns <= now_ns:
            middle_ns = max(middle_ns, self._last_ns + 1)
        self._last_ns = middle_ns
        header = convert.header(now_ns if p.arrival_stamps else middle_ns, self._mount.frame)
        if self._images.get_subscription_count() > 0:
            with self._lock:
                picture = self._camera.expose(self._panorama, self._twin.in_world, middle_ns)
            image = to_compressed(picture, header, p.jpeg_quality) if self._compressed else to_image(picture, header)
            self._images.publish(image)
        if self._infos.get_subscription_count() > 0:
            self._infos.publish(camera_info(self._sensor.camera, header))
