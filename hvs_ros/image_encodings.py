"""Pictures out of the bytes that sensor_msgs describe, and JPEG: what cv_bridge does elsewhere, without ROS.

Inside hvs_ros a picture is BGR uint8, (height, width, 3). A message's ``encoding``, ``step`` and ``is_bigendian`` are
always honoured; what cannot be understood is refused by name. Nodes and the readers of bags share this, so that a
picture looks the same in a search and in its report.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hvs_ros.search.view import Picture

_HAVE_SIMPLEJPEG = importlib.util.find_spec("simplejpeg") is not None

# encoding -> (bits of a channel, channels, indices of blue, green and red among them)
_PLAIN: dict[str, tuple[int, int, tuple[int, int, int]]] = {
    "mono8": (8, 1, (0, 0, 0)),
    "mono16": (16, 1, (0, 0, 0)),
    "bgr8": (8, 3, (0, 1, 2)),
    "rgb8": (8, 3, (2, 1, 0)),
    "bgra8": (8, 4, (0, 1, 2)),
    "rgba8": (8, 4, (2, 1, 0)),
    "bgr16": (16, 3, (0, 1, 2)),
    "rgb16": (16, 3, (2, 1, 0)),
    "bgra16": (16, 4, (0, 1, 2)),
    "rgba16": (16, 4, (2, 1, 0)),
    "8UC1": (8, 1, (0, 0, 0)),
    "8UC3": (8, 3, (0, 1, 2)),
    "8UC4": (8, 4, (0, 1, 2)),
    "16UC1": (16, 1, (0, 0, 0)),
    "16UC3": (16, 3, (0, 1, 2)),
    "16UC4": (16, 4, (0, 1, 2)),
}

# ROS names a Bayer pattern by its first two rows from the top left, OpenCV by the second and third pixel of the second
# row: bayer_rggb8 is OpenCV's BayerBG.
_BAYER = {
    "bayer_rggb": "COLOR_BayerBG2BGR",
    "bayer_bggr": "COLOR_BayerRG2BGR",
    "bayer_gbrg": "COLOR_BayerGR2BGR",
    "bayer_grbg": "COLOR_BayerGB2BGR",
}
_YUV = {
    "yuv422": "COLOR_YUV2BGR_UYVY",
    "uyvy": "COLOR_YUV2BGR_UYVY",
    "yuv422_yuy2": "COLOR_YUV2BGR_YUY2",
    "yuyv": "COLOR_YUV2BGR_YUY2",
}
_YUV_PLANAR = {"nv12": "COLOR_YUV2BGR_NV12", "nv21": "COLOR_YUV2BGR_NV21", "i420": "COLOR_YUV2BGR_I420"}


class ImageError(ValueError):
    """A message that is no picture, or a picture that no message can hold; says what is wrong."""


def unpack(message: Any) -> Picture:
    """Return the message's picture as BGR uint8, (height, width, 3), in memory of its own.

    The message is a sensor_msgs/Image, or anything with its fields.

    Grey comes out with three equal channels, 16 bits are scaled to 8, alpha is dropped, Bayer and YUV are converted.

    Raises:
        ImageError: an encoding that is not known, or fewer bytes than the header promises.
    """
    encoding = message.encoding
    if encoding in _PLAIN:
        bits, channels, order = _PLAIN[encoding]
        return _to_bgr(_rows(message, bits, channels), order)
    base = encoding.rstrip("0123456789")
    if base in _BAYER:
        mosaic = _to_8_bits(_rows(message, 16 if encoding.endswith("16") else 8, 1))[:, :, 0]
        return _convert(encoding, _BAYER[base], mosaic)
    if encoding in _YUV:
        return _convert(encoding, _YUV[encoding], _rows(message, 8, 2))
    if encoding in _YUV_PLANAR:
        return _convert(encoding, _YUV_PLANAR[encoding], _rows(message, 8, 1, height=message.height * 3 // 2)[:, :, 0])
    known = ", ".join((*_PLAIN, *(f"{name}8/16" for name in _BAYER), *_YUV, *_YUV_PLANAR))
    raise ImageError(f"the encoding {encoding!r} is not known; known are {known}")


def decompress(data: bytes, name: str = "") -> Picture:
    """Return a JPEG, PNG or whatever else OpenCV reads as BGR uint8, (height, width, 3).

    Args:
        data: of the file.
        name: of its format, as far as it is told; for the error.

    Raises:
        ImageError: it does not decode.
    """
    if _HAVE_SIMPLEJPEG and data[:2] == b"\xff\xd8":
        simplejpeg: Any = importlib.import_module("simplejpeg")
        try:
            picture: Picture = simplejpeg.decode_jpeg(data, colorspace="BGR")
            return picture
        except ValueError as error:
            raise ImageError(f"the compressed picture ({len(data)} bytes) is a damaged JPEG: {error}") from error
    cv2 = _cv2("compressed pictures")
    decoded = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR) if data else None
    if decoded is None:
        raise ImageError(f"the compressed picture ({len(data)} bytes, format {name!r}) cannot be decoded")
    return np.asarray(decoded, np.uint8)


def encode_jpeg(picture: Picture, quality: int = 90) -> bytes:
    """Return the picture, BGR uint8 (height, width, 3), as JPEG bytes with quality 1 to 100."""
    if _HAVE_SIMPLEJPEG:
        simplejpeg: Any = importlib.import_module("simplejpeg")
        encoded: bytes = simplejpeg.encode_jpeg(np.ascontiguousarray(picture), quality, "BGR", "420")
        return encoded
    cv2 = _cv2("JPEG")
    done, buffer = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, quality])
    if not done:
        raise ImageError(f"a picture of shape {picture.shape} cannot be written as JPEG")
    return bytes(buffer)


def _rows(message: Any, bits: int, channels: int, height: int | None = None) -> NDArray[Any]:
    """Return the pixels, (height, width, channels) of uint8 or native uint16, as a view where that is possible."""
    height = message.height if height is None else height
    row = message.width * channels * bits // 8
    step = message.step or row
    if height == 0 or message.width == 0:
        raise ImageError(f"the image is empty: {message.width}x{message.height}")
    if step < row:
        raise ImageError(f"step is {step}, but a row of {message.width} {message.encoding} pixels has {row} bytes")
    needed = step * (height - 1) + row
    if len(message.data) < needed:
        raise ImageError(
            f"{len(message.data)} bytes, but {message.width}x{message.height} {message.encoding} with step {step}"
            f" needs {needed}"
        )
    data = np.frombuffer(message.data, np.uint8)
    rows = np.lib.stride_tricks.as_strided(data, (height, row), (step, 1), writeable=False)
    if bits == 8:
        return rows.reshape(height, message.width, channels)
    wide = np.ascontiguousarray(rows).view(">u2" if message.is_bigendian else "<u2")
    return wide.astype(np.uint16).reshape(height, message.width, channels)


def _to_8_bits(pixels: NDArray[Any]) -> Picture:
    if pixels.dtype == np.uint8:
        return pixels
    # 65535 is 255 * 257.
    return ((pixels.astype(np.uint32) + 128) // 257).astype(np.uint8)


def _to_bgr(pixels: NDArray[Any], order: tuple[int, int, int]) -> Picture:
    if order == (0, 1, 2) and pixels.shape[2] == 3 and pixels.dtype == np.uint8:
        return np.array(pixels)
    return np.ascontiguousarray(_to_8_bits(pixels[:, :, list(order)]))


def _convert(encoding: str, code: str, pixels: NDArray[Any]) -> Picture:
    cv2 = _cv2(f"the encoding {encoding}")
    try:
        return np.asarray(cv2.cvtColor(np.ascontiguousarray(pixels), getattr(cv2, code)), np.uint8)
    except cv2.error as error:
        raise ImageError(f"{encoding}, {pixels.shape[1]}x{pixels.shape[0]}: {error}") from error


def _cv2(what: str) -> Any:
    try:
        return importlib.import_module("cv2")
    except ImportError as error:
        raise ImageError(
            f"{what} needs OpenCV, which cannot be imported: {error}; install opencv-python-headless, or with ROS from"
            " apt python3-opencv together with the numpy it was built for"
        ) from error
