"""The picture of a turn as the model is shown it.

The published evaluation sends JPEG with quality 85 and halved colour (4:2:0): the model never saw the pixels before
that. Every runtime decodes the same bytes again.
"""

from __future__ import annotations

import importlib
from typing import Any

from hvs_ros.policy.contract import PolicyError
from hvs_ros.policy.conversation import Shown
from hvs_ros.search.view import Picture


def show(picture: Picture, image_format: str = "jpeg", jpeg_quality: int = 85) -> Shown:
    """Return the picture, BGR uint8 (height, width, 3), encoded.

    Args:
        picture: as the policy is given it, with its cross.
        image_format: "jpeg" or "png".
        jpeg_quality: 1 to 100.
    """
    # OpenCV's pixels are those of Pillow, which the published evaluation uses; simplejpeg's differ by up to 20.
    cv2: Any = importlib.import_module("cv2")
    suffix, options = ".png", []
    if image_format == "jpeg":
        suffix, options = ".jpg", [cv2.IMWRITE_JPEG_QUALITY, jpeg_quality]
    done, data = cv2.imencode(suffix, picture, options)
    if not done:
        raise PolicyError(f"a picture of shape {picture.shape} cannot be written as {image_format}")
    height, width = picture.shape[:2]
    return Shown(bytes(data), "image/jpeg" if image_format == "jpeg" else "image/png", width, height)


def described(image_format: str, jpeg_quality: int) -> str:
    """Return what ``show`` does, for the record."""
    return f"JPEG quality {jpeg_quality} 4:2:0" if image_format == "jpeg" else "PNG"
