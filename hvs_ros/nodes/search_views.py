"""A head's camera topics, kept so that the first view after a given moment can be had.

The view of a move may arrive before the move's result does, so while a search is on the last few pictures are kept as
they came; only the one that is used is decoded. A picture goes with the camera_info of the same stamp.
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from sensor_msgs.msg import CameraInfo, CompressedImage, Image

from hvs_ros.nodes.convert import time_ns
from hvs_ros.nodes.images import from_compressed, from_image
from hvs_ros.nodes.search_subscription import MatchingSubscription
from hvs_ros.search.view import Picture

KEPT_PICTURES = 4
KEPT_INFOS = 32

TRANSPORTS = {
    "raw": (Image, "camera/image_raw", from_image),
    "compressed": (CompressedImage, "camera/image_raw/compressed", from_compressed),
}


@dataclass(frozen=True)
class Shot:
    """A picture as it came, and the calibration that goes with it.

    Attributes:
        message: Image or CompressedImage.
        info: with the same stamp; None while there is none.
    """

    message: Any
    info: CameraInfo | None

    @property
    def stamp_ns(self) -> int:
        """When it was taken."""
        return time_ns(self.message.header.stamp)


class ViewTopics:
    """Listens to a head's camera.

    Args:
        node: whose subscriptions these are.
        head: prefix of the head's topics.
        transport: one of ``TRANSPORTS``.
        changed: notified with every picture and calibration.
    """

    def __init__(self, node: Node, head: str, transport: str, changed: threading.Condition) -> None:
        kind, topic, self._decode = TRANSPORTS[transport]
        self._changed = changed
        self._listening = False
        self._pictures: deque[Any] = deque(maxlen=KEPT_PICTURES)
        self._infos: deque[CameraInfo] = deque(maxlen=KEPT_INFOS)
        self.received = 0
        group = MutuallyExclusiveCallbackGroup()
        self._images = MatchingSubscription(node, kind, f"{head}/{topic}", self._on_picture, 3, group)
        self._calibrations = MatchingSubscription(
            node, CameraInfo, f"{head}/camera/camera_info", self._on_info, 10, MutuallyExclusiveCallbackGroup()
        )

    def listen(self, on: bool) -> None:
        """Begin to keep pictures, or stop and forget them."""
        with self._changed:
            self._listening = on
            self._pictures.clear()
            self._infos.clear()
            self.received = 0

    def match(self) -> bool:
        """Take the QoS of what is published now; return whether that changed anything."""
        images, calibrations = self._images.match(), self._calibrations.match()
        return images or calibrations

    def first(self, not_before_ns: int, not_after_ns: int) -> Shot | None:
        """Return the earliest picture of that time; call it with the condition held."""
        stamped = [(time_ns(message.header.stamp), message) for message in self._pictures]
        usable = [item for item in stamped if not_before_ns <= item[0] <= not_after_ns]
        if not usable:
            return None
        stamp_ns, message = min(usable, key=lambda item: item[0])
        info = next((info for info in self._infos if time_ns(info.header.stamp) == stamp_ns), None)
        return Shot(message, info)

    @property
    def newest_ns(self) -> int | None:
        """Stamp of the newest picture; call it with the condition held."""
        return max((time_ns(message.header.stamp) for message in self._pictures), default=None)

    @property
    def last_info(self) -> CameraInfo | None:
        """The newest calibration, whatever its stamp; call it with the condition held."""
        return self._infos[-1] if self._infos else None

    def forget(self, shot: Shot) -> None:
        """Drop a picture that cannot be used."""
        with self._changed:
            self._pictures = deque((m for m in self._pictures if m is not shot.message), maxlen=KEPT_PICTURES)

    def picture(self, shot: Shot) -> Picture:
        """Return the picture, BGR uint8 (height, width, 3).

        Raises:
            ImageError: it cannot be understood.
        """
        image: Picture = self._decode(shot.message)
        return image

    def describe(self) -> str:
        """Say who publishes pictures, and how."""
        return self._images.describe()

    def describe_info(self) -> str:
        """Say who publishes the calibration, and how."""
        return self._calibrations.describe()

    def _on_picture(self, message: Any) -> None:
        with self._changed:
            if self._listening:
                self._pictures.append(message)
                self.received += 1
                self._changed.notify_all()

    def _on_info(self, message: CameraInfo) -> None:
        with self._changed:
            if self._listening:
                self._infos.append(message)
                self._changed.notify_all()
