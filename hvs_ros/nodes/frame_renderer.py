"""Makes the picture that a policy sees of a camera's message: decoded, undistorted, level, of the policy's camera."""

from __future__ import annotations

import math
import re
import threading
from typing import Any

from sensor_msgs.msg import CameraInfo

from hvs_ros.neck.robot import HeadCameraMount
from hvs_ros.nodes.camera_frames import CameraFrame
from hvs_ros.nodes.camera_info import info_camera
from hvs_ros.nodes.search_views import TRANSPORTS
from hvs_ros.panorama.camera import Camera, CameraError
from hvs_ros.panorama.reproject import Reprojector
from hvs_ros.search.view import Picture

_RECTIFIED = re.compile(r"/image_rect[^/]*(/compressed)?$")
"""Topics that image_proc, and drivers that do its work, publish undistorted pictures on."""


class FrameRenderer:
    """Renders frames of one camera. Thread-safe.

    Pictures of a topic named ``image_rect...`` are rectified already: of camera_info, P describes them, not K and D.

    Args:
        mount: how the camera is mounted, and how its pictures come.
        target: the camera that pictures are wanted from; None: native, as they are.
        prefilter: average pixels where several fall on one of the target, against moire.
    """

    def __init__(self, mount: HeadCameraMount, target: Camera | None, *, prefilter: bool = False) -> None:
        self._mount, self._target, self._prefilter = mount, target, prefilter
        self._rectified = _RECTIFIED.search(mount.image) is not None
        self._decode = TRANSPORTS[mount.transport][2]
        self._lock = threading.Lock()
        self._known: tuple[Any, Camera] | None = None
        self._reprojector: Reprojector | None = None

    def camera(self, info: CameraInfo) -> Camera:
        """Return the camera that a calibration describes; the same object for equal ones.

        Raises:
            CameraError: an uncalibrated camera, or a distortion model that is not known.
        """
        key = (info.width, info.height, tuple(info.k), tuple(info.d), tuple(info.p), info.distortion_model)
        with self._lock:
            if self._known is None or self._known[0] != key:
                self._known = key, _rectified_camera(info) if self._rectified else info_camera(info)
            return self._known[1]

    def render(self, frame: CameraFrame, roll: float) -> tuple[Picture, Camera, str]:
        """Return a frame's picture, the camera that it is of, and how it was made.

        Args:
            frame: what the camera sent.
            roll: rad, the gaze's roll at that moment, right side down positive. The mount's own rotation is not in it.

        Raises:
            ImageError: the message cannot be decoded.
            CameraError: the calibration is none, or is not this picture's.
        """
        camera = self.camera(frame.info)
        picture: Picture = self._decode(frame.message)
        height, width = picture.shape[:2]
        if (width, height) != (camera.width, camera.height):
            raise CameraError(
                f"pictures are {width}x{height}, but camera_info is of {camera.width}x{camera.height}: give the"
                f" calibration of this resolution ({self._mount.image}, {self._mount.info})"
            )
        roll += self._mount.turned
        if self._target is None:
            return picture, camera, _native(camera, roll)
        view = self._reprojector_of(camera, self._target).view(picture, roll)
        return view.image, self._target, view.made

    def _reprojector_of(self, camera: Camera, target: Camera) -> Reprojector:
        with self._lock:
            if self._reprojector is None or self._reprojector.source is not camera:
                self._reprojector = Reprojector(camera, target, prefilter=self._prefilter)
            return self._reprojector


def _rectified_camera(info: CameraInfo) -> Camera:
    p = info.p
    return Camera.from_camera_info(info.width, info.height, (*p[0:3], *p[4:7], *p[8:11]))


def _native(camera: Camera, roll: float) -> str:
    """Return how a picture that is left as it is was made."""
    field = f", {camera.hfov_deg:.1f}°" if math.isfinite(camera.hfov_deg) else ""
    text = f"native, {camera.width}x{camera.height}{field} ({camera.distortion_model})"
    roll_deg = math.degrees(math.remainder(roll, 2 * math.pi))
    return text if abs(roll_deg) < 0.05 else f"{text}, rolled by {roll_deg:.1f}° and not turned back"
