"""A panorama: a checked equirectangular picture that covers the whole sphere.

One row is kept beyond each pole, beside the pixels that callers see. Crossing a pole continues on the opposite
meridian, so those rows are the outermost ones turned by half the width; with them sampling needs no special case there.
Pixels are stored in four bytes, the fourth unused: OpenCV 5 samples those a quarter faster than packed BGR.
A file that shows part of the sphere (GPano's cropped area) is pasted into a full canvas, grey where nothing is known,
so that nothing above has to think about it.
"""

from __future__ import annotations

import logging
import stat
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np

from hvs_ros.panorama.decode import DecodeError, Pixels, decode
from hvs_ros.panorama.geometry import LEVEL, Tilt
from hvs_ros.panorama.gpano import Crop, GPano, GPanoError, UnreadableGPanoError, parse_gpano
from hvs_ros.panorama.header import Header, HeaderError, jpeg_is_complete, read_header

MAX_WIDTH, MAX_HEIGHT = 16384, 8192
MIN_WIDTH, MIN_HEIGHT = 8, 4
MAX_FILE_BYTES = 2 * 1024**3
ASPECT_TOLERANCE = 0.01
"""A picture counts as 2:1 when its width differs from twice its height by at most this part."""
UNKNOWN_GREY = 128
"""Grey level of the part of the sphere that a cropped picture does not show."""

_NO_MEMORY = "not enough memory to decode it: scale the picture down"
_log = logging.getLogger(__name__)


class PictureError(ValueError):
    """A file that cannot serve as a panorama; the message names the file, the reason and what to do."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


@dataclass(frozen=True, eq=False)
class Panorama:
    """An equirectangular picture of the whole sphere, never changed once made.

    Attributes:
        image: (H, W, 3) BGR uint8, read-only, not contiguous: three bytes of every four. Column c's centre is
            at yaw ((c + 0.5) / W - 0.5) * 360 degrees, row r's at pitch (0.5 - (r + 0.5) / H) * 180.
        padded: (H + 2, W, 4) BGRX uint8, read-only: image with the rows beyond the poles.
        path: the file it came from, or None.
        heading_deg: yaw of the initial view that the file asks for (GPano), in [0, 360); 0 where it asks for none.
        offset: how the tripod was tilted.
        crop: the part of image that the file showed, in its pixels; None for all of it.
    """

    image: Pixels = field(repr=False)
    padded: Pixels = field(repr=False)
    path: Path | None = None
    heading_deg: float = 0.0
    offset: Tilt = LEVEL
    crop: Crop | None = None

    @classmethod
    def from_array(
        cls,
        image: Pixels,
        *,
        path: Path | None = None,
        heading_deg: float = 0.0,
        roll_deg: float = 0.0,
        pitch_deg: float = 0.0,
    ) -> Panorama:
        """Return the panorama of pixels that are in memory; they are copied.

        Args:
            image: (H, W, 3) BGR uint8 of the whole sphere.
            path: where it came from.
            heading_deg: yaw of its initial view.
            roll_deg: how the tripod leaned to its right.
            pitch_deg: how the tripod's forward axis pointed up.

        Raises:
            ValueError: another shape or type, or not 2:1.
        """
        if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
            raise ValueError(f"a panorama is (H, W, 3) BGR uint8, not {image.shape} {image.dtype}")
        height, width = image.shape[:2]
        reason = _size_reason(width, height)
        if reason:
            raise ValueError(reason)
        padded = np.empty((height + 2, width, 4), np.uint8)
        cv2.cvtColor(image, cv2.COLOR_BGR2BGRA, dst=padded[1:-1])
        return cls._finished(padded, path, heading_deg, Tilt(roll_deg, pitch_deg), None)

    @classmethod
    def _finished(
        cls, padded: Pixels, path: Path | None, heading_deg: float, offset: Tilt, crop: Crop | None
    ) -> Panorama:
        padded[0] = _opposite(padded[1])
        padded[-1] = _opposite(padded[-2])
        padded.flags.writeable = False
        return cls(padded[1:-1, :, :3], padded, path, heading_deg, offset, crop)

    @property
    def width(self) -> int:
        """Columns."""
        return int(self.image.shape[1])

    @property
    def height(self) -> int:
        """Rows."""
        return int(self.image.shape[0])

    @property
    def nbytes(self) -> int:
        """Memory held."""
        return self.padded.nbytes


def open_panorama(path: str | Path, *, roll_deg: float = 0.0, pitch_deg: float = 0.0) -> Panorama:
    """Return the panorama in a JPEG, PNG, TIFF or WebP file.

    The EXIF orientation is applied first, then the aspect is checked or the GPano crop honoured.

    Args:
        path: the file.
        roll_deg: how the tripod leaned to its right when the picture was taken.
        pitch_deg: how far its forward axis pointed above the horizon.

    Raises:
        PictureError: the file is missing, no picture, truncated, damaged, too large, or not 2:1 without crop data.
    """
    return read_panorama(path, roll_deg=roll_deg, pitch_deg=pitch_deg).decode()


@dataclass(frozen=True)
class PanoramaFile:
    """A panorama that is read and checked but not decoded yet, so that what it will hold is known before it does.

    Attributes:
        path: of the file.
        width: columns.
        height: rows.
    """

    path: Path
    width: int
    height: int
    _data: bytes = field(repr=False)
    _header: Header = field(repr=False)
    _heading_deg: float
    _tilt: Tilt
    _crop: Crop | None

    @property
    def nbytes(self) -> int:
        """Memory that the panorama will hold."""
        return (self.height + 2) * self.width * 4

    def check(self) -> None:
        """Look for what can be wrong, as far as that is seen without decoding.

        Raises:
            PictureError: a JPEG that ends too early. (Other formats say so in what was read already.)
        """
        if self._header.kind == "JPEG" and not jpeg_is_complete(self._data):
            raise PictureError(self.path, "truncated: the JPEG data end before its end marker")

    def decode(self) -> Panorama:
        """Return the panorama.

        Raises:
            PictureError: truncated or damaged, or there is not enough memory.
        """
        crop = self._crop
        try:
            padded = np.empty((self.height + 2, self.width, 4), np.uint8)
            part = padded[1:-1]
            if crop:
                part[...] = UNKNOWN_GREY
                part = part[crop.top : crop.top + crop.height, crop.left : crop.left + crop.width]
            decode(self._data, self._header, part)
        except DecodeError as error:
            raise PictureError(self.path, str(error)) from error
        except MemoryError as error:
            raise PictureError(self.path, _NO_MEMORY) from error
        return Panorama._finished(padded, self.path, self._heading_deg, self._tilt, crop)


def read_panorama(path: str | Path, *, roll_deg: float = 0.0, pitch_deg: float = 0.0) -> PanoramaFile:
    """Return the file of a panorama, to be decoded later; arguments as of ``open_panorama``.

    Raises:
        PictureError: the file is missing, no picture, too large, or not 2:1 without crop data.
    """
    path = Path(path)
    tilt = Tilt(roll_deg, pitch_deg)
    data = _read(path)
    try:
        header = read_header(data)
        width, height = header.turned_size
        # Checked before anything of that size is allocated, whatever the crop data say.
        if width > MAX_WIDTH or height > MAX_HEIGHT:
            raise HeaderError(_too_large(width, height))
        gpano = _gpano(path, header)
        crop = _crop(gpano, width, height)
    except (HeaderError, GPanoError) as error:
        raise PictureError(path, str(error)) from error
    if crop:
        width, height = crop.full_width, crop.full_height
    return PanoramaFile(path, width, height, data, header, gpano.heading_deg, tilt, crop)


def _read(path: Path) -> bytes:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise PictureError(path, "not a file: give the picture itself")
        if status.st_size > MAX_FILE_BYTES:
            raise PictureError(
                path, f"{status.st_size / 1e9:.1f} GB: files up to {MAX_FILE_BYTES / 1e9:.1f} GB are read"
            )
        return path.read_bytes()
    except OSError as error:
        raise PictureError(path, f"cannot be read: {error.strerror or error}") from error


def _gpano(path: Path, header: Header) -> GPano:
    """Return the file's GPano data; a whole panorama is not refused for a packet that is merely malformed."""
    if header.xmp is None:
        return GPano()
    try:
        return parse_gpano(header.xmp) or GPano()
    except UnreadableGPanoError as error:
        if _size_reason(*header.turned_size):
            raise
        _log.warning("%s: GPano data ignored: %s", path, error)
        return GPano()


def _crop(gpano: GPano, width: int, height: int) -> Crop | None:
    """Return where the picture belongs on the sphere, None if it is all of it."""
    if gpano.crop is None or gpano.crop.is_whole:
        reason = _size_reason(width, height)
        if reason:
            raise HeaderError(reason)
        return None
    crop = gpano.crop.scaled_to(width, height)
    reason = _size_reason(crop.full_width, crop.full_height)
    if reason:
        raise GPanoError(f"the full sphere in its GPano data: {reason}")
    return crop


def _size_reason(width: int, height: int) -> str | None:
    """Return why a full sphere cannot have this size, or None."""
    if width > MAX_WIDTH or height > MAX_HEIGHT:
        return _too_large(width, height)
    if width < MIN_WIDTH or height < MIN_HEIGHT:
        return f"{width}x{height} pixels: a panorama has at least {MIN_WIDTH}x{MIN_HEIGHT}"
    if abs(width - 2 * height) > ASPECT_TOLERANCE * width:
        return (
            f"{width}x{height} pixels are not 2:1 (within {ASPECT_TOLERANCE:.0%}), so not an equirectangular picture of"
            " the whole sphere; a part of one needs GPano crop data"
        )
    return None


def _too_large(width: int, height: int) -> str:
    return f"{width}x{height} pixels: at most {MAX_WIDTH}x{MAX_HEIGHT} are read, scale the picture down"


def _opposite(row: Pixels) -> Pixels:
    """Return a row (W, 4) turned by half a turn."""
    width = row.shape[0]
    turned = np.roll(row, width // 2, axis=0)
    if width % 2:
        # Half a turn falls between two columns.
        after = np.roll(row, width // 2 + 1, axis=0)
        turned = ((turned.astype(np.uint16) + after + 1) // 2).astype(np.uint8)
    return turned
