"""Google's GPano description of a photo sphere, from the XMP packet that cameras and stitchers write into the picture.

What is used: the projection (anything but equirectangular is refused), the cropped area (which part of the sphere the
file shows) and the direction to look in first. The pose's pitch and roll are read, not applied: whether a picture has
already been levelled by the stitcher is known to its owner only, who passes them to ``open_panorama`` if it has not.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass

from hvs_ros.angles import wrap_yaw_deg

_NAMESPACE = "{http://ns.google.com/photos/1.0/panorama/}"


class GPanoError(ValueError):
    """A GPano description that contradicts itself or cannot be read; the message is the reason."""


class UnreadableGPanoError(GPanoError):
    """An XMP packet that cannot be read at all."""


@dataclass(frozen=True)
class Crop:
    """Which part of the full sphere a picture shows, in pixels of the full one."""

    full_width: int
    full_height: int
    left: int
    top: int
    width: int
    height: int

    @property
    def is_whole(self) -> bool:
        """Nothing is cut away."""
        return (self.left, self.top, self.width, self.height) == (0, 0, self.full_width, self.full_height)

    def scaled_to(self, width: int, height: int) -> Crop:
        """Return the crop for a picture that was resized after it had been described.

        Raises:
            GPanoError: the picture's shape is not the described one.
        """
        if (width, height) == (self.width, self.height):
            return self
        across, down = width / self.width, height / self.height
        if abs(across / down - 1) > 0.01:
            raise GPanoError(f"the picture is {width}x{height}, but its GPano data describe {self.width}x{self.height}")
        full_width, full_height = round(self.full_width * across), round(self.full_height * down)
        left = min(round(self.left * across), full_width - width)
        top = min(round(self.top * down), full_height - height)
        return Crop(full_width, full_height, left, top, width, height)


@dataclass(frozen=True)
class GPano:
    """The parts of a GPano description that matter here.

    Attributes:
        crop: the cropped area, or None where it is not given in full.
        heading_deg: yaw of the initial view in the picture, degrees, right positive, [0, 360).
    """

    crop: Crop | None = None
    heading_deg: float = 0.0


def parse_gpano(xmp: bytes) -> GPano | None:
    """Return the GPano description in an XMP packet, or None where there is none.

    Raises:
        UnreadableGPanoError: the packet is not well-formed, or declares entities.
        GPanoError: a number is not one, the crop does not fit, or the picture is no equirectangular one.
    """
    if b"ns.google.com/photos/1.0/panorama" not in xmp:
        return None
    if b"<!DOCTYPE" in xmp or b"<!ENTITY" in xmp:
        raise UnreadableGPanoError("its XMP packet declares entities")
    try:
        root = ElementTree.fromstring(xmp.rstrip(b"\0 \r\n\t"))
    except ElementTree.ParseError as error:
        raise UnreadableGPanoError(f"its XMP packet is not well-formed ({error})") from error
    values = _values(root)
    projection = values.get("ProjectionType", "equirectangular")
    if projection.lower() != "equirectangular":
        raise GPanoError(f"its projection is '{projection}', only equirectangular pictures are panoramas here")
    heading = _number(values, "InitialViewHeadingDegrees", math.nan)
    # Both are compass headings, so that their difference is an angle in the picture.
    yaw = 0.0 if math.isnan(heading) else wrap_yaw_deg(heading - _number(values, "PoseHeadingDegrees", 0.0))
    return GPano(_crop(values), yaw)


def _values(root: ElementTree.Element) -> dict[str, str]:
    """Return GPano's properties, which may stand as attributes or as elements."""
    values = {}
    for element in root.iter():
        if element.tag.startswith(_NAMESPACE) and element.text:
            values[element.tag.removeprefix(_NAMESPACE)] = element.text.strip()
        for name, value in element.attrib.items():
            if name.startswith(_NAMESPACE):
                values[name.removeprefix(_NAMESPACE)] = value.strip()
    return values


def _number(values: dict[str, str], name: str, default: float) -> float:
    if name not in values:
        return default
    try:
        number = float(values[name])
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise GPanoError(f"its GPano {name} is '{values[name]}', not a number")
    return number


def _crop(values: dict[str, str]) -> Crop | None:
    names = (
        "FullPanoWidthPixels",
        "FullPanoHeightPixels",
        "CroppedAreaLeftPixels",
        "CroppedAreaTopPixels",
        "CroppedAreaImageWidthPixels",
        "CroppedAreaImageHeightPixels",
    )
    if any(name not in values for name in names):
        return None
    crop = Crop(*(int(_number(values, name, 0.0)) for name in names))
    fits = (
        min(crop.width, crop.height) > 0
        and min(crop.left, crop.top) >= 0
        and crop.left + crop.width <= crop.full_width
        and crop.top + crop.height <= crop.full_height
    )
    if not fits:
        raise GPanoError(
            f"its GPano cropped area {crop.width}x{crop.height} at ({crop.left}, {crop.top}) does not lie within the"
            f" full {crop.full_width}x{crop.full_height}"
        )
    return crop
