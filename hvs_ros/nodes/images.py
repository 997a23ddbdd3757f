"""numpy pictures <-> sensor_msgs/Image and CompressedImage.

Why ``array``: rclpy checks every element of a list, bytes or ndarray given to a uint8[] field, 0.5 s for a 1920x1080
picture, but takes an ``array('B')`` as it is, which costs a copy.
"""

from __future__ import annotations

from array import array

import numpy as np
from sensor_msgs.msg import CompressedImage, Image
from std_msgs.msg import Header

from hvs_ros.image_encodings import ImageError, decompress, encode_jpeg, unpack
from hvs_ros.search.view import Picture


def to_image(picture: Picture, header: Header) -> Image:
    """Return the picture as a ``bgr8`` message.

    Args:
        picture: BGR uint8, (height, width, 3).
        header: stamp and frame.

    Raises:
        ImageError: not such a picture.
    """
    _check(picture)
    height, width = picture.shape[:2]
    message = Image(header=header, height=height, width=width, encoding="bgr8", is_bigendian=0, step=width * 3)
    message.data = _bytes(picture)
    return message


def from_image(message: Image) -> Picture:
    """Return the message's picture as BGR uint8, (height, width, 3), in memory of its own.

    Raises:
        ImageError: an encoding that is not known, or fewer bytes than the header promises.
    """
    return unpack(message)


def to_compressed(picture: Picture, header: Header, quality: int) -> CompressedImage:
    """Return the picture as a JPEG message.

    Args:
        picture: BGR uint8, (height, width, 3).
        header: stamp and frame.
        quality: of the JPEG, 1 to 100.

    Raises:
        ImageError: not such a picture.
    """
    _check(picture)
    message = CompressedImage(header=header, format="bgr8; jpeg compressed bgr8")
    message.data = array("B", encode_jpeg(picture, quality))
    return message


def from_compressed(message: CompressedImage) -> Picture:
    """Return the picture of a JPEG, PNG or other message that OpenCV reads, as BGR uint8, (height, width, 3).

    Raises:
        ImageError: it does not decode.
    """
    return decompress(bytes(message.data), message.format)


def _check(picture: Picture) -> None:
    if picture.dtype != np.uint8 or picture.ndim != 3 or picture.shape[2] != 3 or 0 in picture.shape:
        raise ImageError(f"a picture is uint8 (height, width, 3); this is {picture.dtype} {picture.shape}")


def _bytes(picture: Picture) -> array[int]:
    data = array("B")
    data.frombytes(np.ascontiguousarray(picture).reshape(-1).data)
    return data
