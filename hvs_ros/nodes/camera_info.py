"""A camera of the core as a CameraInfo message, and back; and the one that a topic tells of."""

from __future__ import annotations

from rclpy.node import Node
from sensor_msgs.msg import CameraInfo
from std_msgs.msg import Header

from hvs_ros.nodes.first_message import first_message
from hvs_ros.panorama.camera import Camera, CameraError


def camera_info(camera: Camera, header: Header) -> CameraInfo:
    """Return the camera's calibration; stamp and frame must equal those of the picture it goes with."""
    message = CameraInfo(header=header, width=camera.width, height=camera.height)
    message.distortion_model = camera.distortion_model
    message.d = [float(value) for value in camera.d]
    message.k = [float(value) for value in camera.k]
    message.r = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
    message.p = [float(value) for value in camera.p]
    return message


def info_camera(message: CameraInfo) -> Camera:
    """Return the camera that a calibration describes.

    Raises:
        CameraError: an uncalibrated camera, or a distortion model that is not known.
    """
    return Camera.from_camera_info(message.width, message.height, message.k, message.d, message.distortion_model)


def published_camera(node: Node, topic: str, limit_s: float) -> Camera | None:
    """Return the camera that a topic tells of; None: it tells of none within the limit, or of one that cannot be."""
    info = first_message(node, CameraInfo, topic, limit_s)
    try:
        return None if info is None else info_camera(info)
    except CameraError:
        return None
