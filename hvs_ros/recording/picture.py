"""Recorded pictures as JPEG: messages in any of the usual encodings, and pictures of this process."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from hvs_ros.search.view import Picture

# encoding -> (channels, OpenCV conversion to BGR; None: it is BGR)
_ENCODINGS: dict[str, tuple[int, int | None]] = {
    "bgr8": (3, None),
    "8UC3": (3, None),
    "rgb8": (3, cv2.COLOR_RGB2BGR),
    "bgra8": (4, cv2.COLOR_BGRA2BGR),
    "rgba8": (4, cv2.COLOR_RGBA2BGR),
    "mono8": (1, cv2.COLOR_GRAY2BGR),
    "8UC1": (1, cv2.COLOR_GRAY2BGR),
    "yuv422": (2, cv2.COLOR_YUV2BGR_UYVY),
    "uyvy": (2, cv2.COLOR_YUV2BGR_UYVY),
    "yuv422_yuy2": (2, cv2.COLOR_YUV2BGR_YUY2),
    "yuyv": (2, cv2.COLOR_YUV2BGR_YUY2),
    "bayer_rggb8": (1, cv2.COLOR_BayerBG2BGR),
    "bayer_bggr8": (1, cv2.COLOR_BayerRG2BGR),
    "bayer_gbrg8": (1, cv2.COLOR_BayerGR2BGR),
    "bayer_grbg8": (1, cv2.COLOR_BayerGB2BGR),
}
QUALITY = 90


def encode(picture: Picture, quality: int = QUALITY) -> bytes:
    """Return the picture, BGR uint8 (height, width, 3), as JPEG."""
    done, buffer = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, quality])
    if not done:
        raise ValueError(f"a picture of shape {picture.shape} cannot be written as JPEG")
    return bytes(buffer)


def decode(data: bytes) -> Picture | None:
    """Return a compressed picture as BGR uint8 (height, width, 3); None where it is none."""
    decoded = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR) if data else None
    return None if decoded is None else np.asarray(decoded, np.uint8)


def of_image(message: Any) -> Picture | None:
    """Return an Image message as BGR uint8 (height, width, 3); None where it is not understood."""
    if message.encoding not in _ENCODINGS:
        return None
    channels, conversion = _ENCODINGS[message.encoding]
    row = message.width * channels
    data: NDArray[np.uint8] = np.frombuffer(message.data, np.uint8)
    step = message.step or row
    if row == 0 or step < row or data.size < step * (message.height - 1) + row:
        return None
    rows = np.lib.stride_tricks.as_strided(data, (message.height, row), (step, 1), writeable=False)
    pixels = np.ascontiguousarray(rows).reshape(message.height, message.width, channels)
    return np.asarray(pixels if conversion is None else cv2.cvtColor(pixels, conversion), np.uint8)
