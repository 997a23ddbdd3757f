"""Reads an MCAP file from its beginning, as far as it goes: without index and footer, and with a torn end.

A recorder that was killed leaves whole chunks, perhaps one cut off in the middle; the messages in front of the cut
are as good as any. File format: https://mcap.dev/spec (records of one byte kind, eight bytes length, content).
"""

from __future__ import annotations

import io
import struct
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import lz4.frame

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

from hvs_ros.recording.errors import RecordingError

MAGIC = b"\x89MCAP0\r\n"
_FOOTER, _SCHEMA, _CHANNEL, _MESSAGE, _CHUNK, _DATA_END = 0x02, 0x03, 0x04, 0x05, 0x06, 0x0F


@dataclass(frozen=True)
class Channel:
    """One topic of a file.

    Attributes:
        topic: its name.
        kind: message type.
        definition: text of it and of all it holds.
        encoding: of the definition, ``ros2msg`` or ``ros2idl``.
        qos: profiles that were offered, as YAML; may be empty.
    """

    topic: str
    kind: str
    definition: str
    encoding: str
    qos: str


class McapScan:
    """A file to be gone through once.

    Args:
        path: the file.

    Attributes:
        channels: those met so far, by their number.
        counts: messages met so far, by topic.
        problem: what is wrong with the file, known after ``messages`` has ended; empty: nothing.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.channels: dict[int, Channel] = {}
        self.counts: Counter[str] = Counter()
        self.problem = ""
        self._schemas: dict[int, tuple[str, str, str]] = {}

    def messages(self) -> Iterator[tuple[Channel, int, bytes]]:
        """Yield (channel, log time [ns], serialized message) in the order of the file, up to where it is damaged.

        Raises:
            RecordingError: the file cannot be opened.
        """
        try:
            file = self.path.open("rb")
        except OSError as error:
            raise RecordingError(f"{self.path}: cannot be read: {error.strerror or error}") from error
        with file:
            size = self.path.stat().st_size
            if size == 0:
                self.problem = "the file is empty"
                return
            if file.read(len(MAGIC)) != MAGIC:
                self.problem = "not an MCAP file"
                return
            try:
                yield from self._records(file, size, nested=False)
            except (struct.error, UnicodeDecodeError, KeyError, zstd.ZstdError, RuntimeError, ValueError) as error:
                self.problem = f"damaged before byte {file.tell()}: {error!r}"
            except OSError as error:
                self.problem = f"cannot be read after byte {file.tell()}: {error.strerror or error}"

    def _records(self, file: BinaryIO, size: int, *, nested: bool) -> Iterator[tuple[Channel, int, bytes]]:
        ended = False
        while file.tell() + 9 <= size:
            kind, length = struct.unpack("<BQ", file.read(9))
            left = size - file.tell()
            if kind == _CHUNK and not nested:
                yield from self._chunk(file, min(length, left))
            elif kind == _FOOTER and length == 20:
                # Behind it comes the magic once more, and nothing else.
                if left != length + len(MAGIC):
                    self.problem = f"{left - length - len(MAGIC)} bytes too many behind the end"
                return
            elif length > left:
                break
            elif kind == _MESSAGE:
                yield self._message(file.read(length))
            elif not ended:
                self._define(kind, file, length)
            else:
                file.seek(length, io.SEEK_CUR)
            ended = ended or kind == _DATA_END
            if length > left:
                break
        if nested and file.tell() == size:
            return
        if not self.problem:
            self.problem = "cut off: the end of the file is missing"

    def _define(self, kind: int, file: BinaryIO, length: int) -> None:
        if kind not in (_SCHEMA, _CHANNEL):
            file.seek(length, io.SEEK_CUR)
            return
        record = io.BytesIO(file.read(length))
        (number,) = struct.unpack("<H", record.read(2))
        if kind == _SCHEMA:
            name, encoding, text = _string(record), _string(record), _string(record)
            self._schemas[number] = (name, encoding, text)
            return
        (schema,) = struct.unpack("<H", record.read(2))
        topic, _message_encoding = _string(record), _string(record)
        name, encoding, text = self._schemas[schema]
        self.channels[number] = Channel(topic, name, text, encoding, _map(record).get("offered_qos_profiles", ""))

    def _message(self, record: bytes) -> tuple[Channel, int, bytes]:
        number, _sequence, log_time, _publish_time = struct.unpack_from("<HIQQ", record)
        channel = self.channels[number]
        self.counts[channel.topic] += 1
        return channel, log_time, record[22:]

    def _chunk(self, file: BinaryIO, length: int) -> Iterator[tuple[Channel, int, bytes]]:
        record = file.read(length)
        head = io.BytesIO(record)
        _start, _end, plain_size, crc = struct.unpack("<QQQI", head.read(28))
        compression = _string(head)
        (stored_size,) = struct.unpack("<Q", head.read(8))
        body = record[head.tell() : head.tell() + stored_size]
        if compression:
            body = _decompress(compression, body)
        elif len(body) < stored_size:
            self.problem = "cut off in the middle of a chunk"
        whole = len(body) == plain_size
        if crc and whole and zlib.crc32(body) != crc:
            raise ValueError("a chunk's checksum does not agree")
        yield from self._records(io.BytesIO(body), len(body), nested=True)


def _decompress(name: str, data: bytes) -> bytes:
    if name == "zstd":
        return bytes(zstd.decompress(data))
    if name == "lz4":
        return bytes(lz4.frame.decompress(data))
    raise ValueError(f"a chunk is compressed with '{name}', which is not known")


def _string(record: BinaryIO) -> str:
    (length,) = struct.unpack("<I", record.read(4))
    data = record.read(length)
    if len(data) != length:
        raise ValueError("a text runs over the end of its record")
    return data.decode()


def _map(record: BinaryIO) -> dict[str, str]:
    (length,) = struct.unpack("<I", record.read(4))
    end = record.tell() + length
    values: dict[str, str] = {}
    while record.tell() < end:
        key = _string(record)
        values[key] = _string(record)
    return values
