"""What a picture file says about itself before it is decoded: kind, size, depth, turned or not, its XMP packet.

Read here rather than with a library, because size and completeness have to be known before a decoder allocates memory,
and because decoders forgive: OpenCV fills the missing half of a truncated JPEG with grey and reports success.
Only as much of each format is understood as that takes.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import ClassVar

_MAX_XMP = 4 * 1024 * 1024

_OTHER_KINDS = (
    (0, b"GIF8", "GIF"),
    (0, b"BM", "BMP"),
    (0, b"\x76\x2f\x31\x01", "OpenEXR"),
    (0, b"#?RADIANCE", "Radiance HDR"),
    (0, b"%PDF", "PDF"),
    (0, b"version https://git-lfs", "Git LFS pointer, not the picture itself"),
    (4, b"ftypavif", "AVIF"),
    (4, b"ftyphei", "HEIC"),
    (4, b"ftyp", "video or HEIF"),
    (4, b"jP  ", "JPEG 2000"),
)

_ANY_MARKER = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")


class HeaderError(ValueError):
    """A file that is no picture, or not all of one; the message is the reason, without the file's name."""


@dataclass
class Header:
    """What is known before decoding.

    Attributes:
        kind: JPEG, PNG, TIFF or WebP.
        width: pixels as stored.
        height: pixels as stored.
        bits: bits of a channel.
        channels: stored channels.
        orientation: EXIF orientation, 1 to 8.
        xmp: the XMP packet, or None.
    """

    kind: str
    width: int = 0
    height: int = 0
    bits: int = 8
    channels: int = 3
    orientation: int = 1
    xmp: bytes | None = field(default=None, repr=False)

    @property
    def turned_size(self) -> tuple[int, int]:
        """Width and height once the orientation is applied."""
        return (self.height, self.width) if self.orientation >= 5 else (self.width, self.height)


def read_header(data: bytes) -> Header:
    """Return what a file's bytes say about the picture in them.

    Raises:
        HeaderError: not a JPEG, PNG, TIFF or WebP picture, or it ends too early. (A JPEG's end is looked for by
            ``jpeg_is_complete``, which takes longer.)
    """
    for magic, read in _READERS:
        if data.startswith(magic):
            try:
                header = read(data)
            except (struct.error, IndexError):
                raise HeaderError("truncated: the file ends within its header") from None
            if header.width < 1 or header.height < 1:
                raise HeaderError(f"damaged: its size is {header.width}x{header.height}")
            return header
    if not data:
        raise HeaderError("the file is empty")
    for offset, magic, name in _OTHER_KINDS:
        if data.startswith(magic, offset):
            raise HeaderError(f"a {name}: convert it to JPEG, PNG, TIFF or WebP")
    raise HeaderError("not an image (JPEG, PNG, TIFF and WebP are read)")


def jpeg_is_complete(data: bytes) -> bool:
    """Return whether a JPEG's compressed data runs up to its end marker."""
    position = 2
    for _, start, end in _jpeg_segments(data):
        position = end
        if start < 0:
            return False
    while found := _ANY_MARKER.search(data, position):
        marker = data[found.end() - 1]
        if marker == 0xD9:
            return True
        if found.end() + 2 > len(data):
            return False
        position = found.end() + struct.unpack_from(">H", data, found.end())[0]
    return False


def _jpeg_segments(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield (marker, start, end) of the segments up to and including the first start of scan."""
    position = 2
    while True:
        if data[position] != 0xFF:
            raise HeaderError("damaged: no JPEG marker where one must be")
        while data[position] == 0xFF:
            position += 1
        marker = data[position]
        length = struct.unpack_from(">H", data, position + 1)[0]
        start, end = position + 3, position + 1 + length
        if end > len(data):
            raise HeaderError("truncated: the file ends within its header")
        yield marker, start, end
        if marker == 0xDA:
            return
        position = end


def _read_jpeg(data: bytes) -> Header:
    header = Header("JPEG")
    for marker, start, end in _jpeg_segments(data):
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            header.bits, header.height, header.width, header.channels = struct.unpack_from(">BHHB", data, start)
        elif marker == 0xE1:
            body = data[start:end]
            if body.startswith(b"Exif\0\0"):
                header.orientation = _exif_orientation(body[6:])
            elif body.startswith(b"http://ns.adobe.com/xap/1.0/\0"):
                header.xmp = body[29:]
    if header.bits != 8:
        raise HeaderError(f"a JPEG of {header.bits} bits a channel: only 8 are read, convert it to PNG or TIFF")
    return header


def _read_png(data: bytes) -> Header:
    header, position = Header("PNG"), 8
    while True:
        if position + 12 > len(data):
            raise HeaderError("truncated: the PNG has no end chunk")
        length, name = struct.unpack_from(">I4s", data, position)
        body, position = memoryview(data)[position + 8 : position + 8 + length], position + 12 + length
        if position > len(data):
            raise HeaderError("truncated: the file ends within a PNG chunk")
        if zlib.crc32(body, zlib.crc32(name)) != struct.unpack_from(">I", data, position - 4)[0]:
            raise HeaderError(f"damaged: the checksum of PNG chunk {name.decode('latin-1')} is wrong")
        if name == b"IHDR":
            header.width, header.height, header.bits, colour = struct.unpack_from(">IIBB", body)
            header.channels = {0: 1, 2: 3, 3: 3, 4: 2, 6: 4}.get(colour, 3)
        elif name == b"iTXt" and bytes(body[:18]) == b"XML:com.adobe.xmp\0":
            header.xmp = _png_text(bytes(body[18:]))
        elif name == b"eXIf":
            header.orientation = _exif_orientation(bytes(body))
        elif name == b"IEND":
            return header


def _png_text(body: bytes) -> bytes | None:
    """Return the text of an iTXt chunk after its keyword."""
    compressed = body[0] == 1
    try:
        _, _, text = body[2:].split(b"\0", 2)
        return zlib.decompressobj().decompress(text, _MAX_XMP) if compressed else text
    except (ValueError, zlib.error):
        return None


def _read_webp(data: bytes) -> Header:
    if data[8:12] != b"WEBP":
        raise HeaderError("not an image (a RIFF file, but not WebP)")
    if struct.unpack_from("<I", data, 4)[0] + 8 > len(data):
        raise HeaderError("truncated: the file is shorter than its WebP header says")
    header, position = Header("WebP"), 12
    while position + 8 <= len(data):
        name, length = struct.unpack_from("<4sI", data, position)
        body = position + 8
        if name == b"VP8X":
            if data[body] & 2:
                raise HeaderError("an animated WebP: save one frame as a picture")
            header.width = 1 + int.from_bytes(data[body + 4 : body + 7], "little")
            header.height = 1 + int.from_bytes(data[body + 7 : body + 10], "little")
        elif name == b"VP8 " and not header.width:
            header.width, header.height = (side & 0x3FFF for side in struct.unpack_from("<HH", data, body + 6))
        elif name == b"VP8L" and not header.width:
            bits = struct.unpack_from("<I", data, body + 1)[0]
            header.width, header.height = 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        elif name == b"XMP ":
            header.xmp = data[body : body + length]
        elif name == b"EXIF":
            header.orientation = _exif_orientation(data[body : body + length].removeprefix(b"Exif\0\0"))
        position = body + length + (length & 1)
    return header


@dataclass(frozen=True)
class _Ifd:
    """The first directory of a TIFF structure, classic or BigTIFF."""

    data: bytes
    order: str
    entries: dict[int, tuple[int, int, int]]

    _SIZES: ClassVar = {1: 1, 2: 1, 3: 2, 4: 4, 6: 1, 7: 1, 8: 2, 9: 4, 13: 4, 16: 8, 17: 8, 18: 8}
    _CODES: ClassVar = {1: "B", 3: "H", 4: "I", 6: "b", 8: "h", 9: "i", 13: "I", 16: "Q", 17: "q", 18: "Q"}

    @classmethod
    def read(cls, data: bytes) -> _Ifd:
        order = {b"II": "<", b"MM": ">"}[data[:2]]
        big = struct.unpack_from(order + "H", data, 2)[0] == 43
        start = struct.unpack_from(order + ("Q" if big else "I"), data, 8 if big else 4)[0]
        count = struct.unpack_from(order + ("Q" if big else "H"), data, start)[0]
        size, inline, form = (20, 8, "HHQ") if big else (12, 4, "HHI")
        entries, position = {}, start + (8 if big else 2)
        for _ in range(min(count, 4096)):
            tag, kind, values = struct.unpack_from(order + form, data, position)
            where = position + size - inline
            if values * cls._SIZES.get(kind, 8) > inline:
                where = struct.unpack_from(order + ("Q" if big else "I"), data, where)[0]
            entries[tag] = (kind, values, where)
            position += size
        return cls(data, order, entries)

    def numbers(self, tag: int) -> tuple[int, ...]:
        """Return the integers of a tag; empty if it is not there or not of integers."""
        kind, count, where = self.entries.get(tag, (0, 0, 0))
        if kind not in self._CODES or where + count * self._SIZES[kind] > len(self.data):
            return ()
        return struct.unpack_from(f"{self.order}{count}{self._CODES[kind]}", self.data, where)

    def number(self, tag: int, default: int) -> int:
        """Return the first integer of a tag."""
        return next(iter(self.numbers(tag)), default)

    def raw(self, tag: int) -> bytes | None:
        """Return the bytes of a tag."""
        if tag not in self.entries:
            return None
        kind, count, where = self.entries[tag]
        return self.data[where : where + count * self._SIZES.get(kind, 1)]


def _read_tiff(data: bytes) -> Header:
    ifd = _Ifd.read(data)
    header = Header("TIFF", ifd.number(256, 0), ifd.number(257, 0), ifd.number(258, 1), ifd.number(277, 1))
    header.orientation = _valid_orientation(ifd.number(274, 1))
    header.xmp = ifd.raw(700)
    if ifd.number(339, 1) == 3 or header.bits > 16:
        raise HeaderError("a TIFF of floating point or more than 16 bits: convert it to 8 or 16 bit integers")
    for offsets, counts in ((273, 279), (324, 325)):
        ends = [start + size for start, size in zip(ifd.numbers(offsets), ifd.numbers(counts), strict=False)]
        if ends and max(ends) > len(data):
            raise HeaderError("truncated: the file ends before its last strip or tile")
        if ends:
            return header
    raise HeaderError("truncated: the TIFF has no picture data")


def _exif_orientation(tiff: bytes) -> int:
    try:
        return _valid_orientation(_Ifd.read(tiff).number(274, 1))
    except (struct.error, KeyError, IndexError):
        return 1


def _valid_orientation(value: int) -> int:
    return value if 1 <= value <= 8 else 1


_READERS: tuple[tuple[bytes, Callable[[bytes], Header]], ...] = (
    (b"\xff\xd8\xff", _read_jpeg),
    (b"\x89PNG\r\n\x1a\n", _read_png),
    (b"RIFF", _read_webp),
    (b"II*\0", _read_tiff),
    (b"MM\0*", _read_tiff),
    (b"II+\0", _read_tiff),
    (b"MM\0+", _read_tiff),
)
