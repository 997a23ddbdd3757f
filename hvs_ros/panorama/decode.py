"""From the bytes of a picture to BGRX uint8 pixels, strictly: half a picture is an error, not one with grey in it.

JPEG goes through libjpeg-turbo's own binding (simplejpeg) where that is installed: it is a third faster than OpenCV,
reports damaged data, and decodes into memory that is already there. OpenCV is the fall-back (it notices a missing end,
but not damage in the middle), and decodes everything else.
"""

from __future__ import annotations

import importlib
import logging
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from hvs_ros.panorama.header import Header, jpeg_is_complete

_turbo: Any
try:
    _turbo = importlib.import_module("simplejpeg")
except ImportError:
    _turbo = None

Pixels = NDArray[np.uint8]

_log = logging.getLogger(__name__)

_TURNS = {
    2: lambda p: p[:, ::-1],
    3: lambda p: p[::-1, ::-1],
    4: lambda p: p[::-1],
    5: lambda p: p.transpose(1, 0, 2),
    6: lambda p: p[::-1].transpose(1, 0, 2),
    7: lambda p: p[::-1, ::-1].transpose(1, 0, 2),
    8: lambda p: p[:, ::-1].transpose(1, 0, 2),
}


class DecodeError(ValueError):
    """A picture that cannot be decoded; the message is the reason, without the file's name."""


def decode(data: bytes, header: Header, target: Pixels) -> None:
    """Write a picture's pixels, turned upright, into target.

    Grey is spread over three channels, alpha is dropped (as the published environment does), 16 bits are rounded to 8.

    Args:
        data: the file.
        header: what ``read_header`` said about it.
        target: (height, width, 4) BGRX uint8 of the upright size; the fourth byte means nothing.

    Raises:
        DecodeError: truncated, damaged, or a variant that no decoder here knows.
    """
    if header.kind == "JPEG" and _turbo is not None and header.channels in (1, 3):
        upright = header.orientation == 1 and target.flags.c_contiguous
        pixels = _decode_turbo(data, target if upright else None)
        if upright:
            return
    else:
        if header.kind == "JPEG" and not jpeg_is_complete(data):
            raise DecodeError("truncated: the JPEG data end before its end marker")
        pixels = _decode_opencv(data, header)
    turned = _TURNS[header.orientation](pixels) if header.orientation != 1 else pixels
    if turned.shape[:2] != target.shape[:2]:
        raise DecodeError(f"damaged: {turned.shape[1]}x{turned.shape[0]} pixels came out, not what its header says")
    if turned.shape[2] == 3 and target.flags.c_contiguous and turned.flags.c_contiguous:
        cv2.cvtColor(turned, cv2.COLOR_BGR2BGRA, dst=target)
    else:
        target[..., :3] = turned[..., :3]


def _decode_turbo(data: bytes, buffer: Pixels | None) -> Pixels:
    try:
        pixels: Pixels = _turbo.decode_jpeg(data, "BGRX", buffer=buffer)
        return pixels
    except ValueError as error:
        reason = str(error)
    if not jpeg_is_complete(data):
        raise DecodeError("truncated: the JPEG data end before its end marker")
    if "extraneous bytes before marker 0xd9" not in reason:
        raise DecodeError(f"damaged: {reason}")
    # Some cameras pad the data before the end marker; every pixel has been decoded by then.
    _log.debug("JPEG with padding before its end marker: %s", reason)
    pixels = _turbo.decode_jpeg(data, "BGRX", buffer=buffer, strict=False)
    return pixels


def _decode_opencv(data: bytes, header: Header) -> Pixels:
    flags = cv2.IMREAD_COLOR | cv2.IMREAD_ANYDEPTH | cv2.IMREAD_IGNORE_ORIENTATION
    try:
        pixels: Any = cv2.imdecode(np.frombuffer(data, np.uint8), flags)
    except cv2.error as error:
        raise DecodeError(f"damaged, or a {header.kind} variant that OpenCV cannot read ({error.err})") from error
    if pixels is None:
        raise DecodeError(f"damaged, or a {header.kind} variant that OpenCV cannot read")
    if pixels.dtype == np.uint16:
        pixels = cv2.convertScaleAbs(pixels, alpha=255 / 65535)
    if pixels.dtype != np.uint8:
        raise DecodeError(f"its pixels are {pixels.dtype}: convert it to 8 or 16 bit integers")
    return np.asarray(pixels, np.uint8)
