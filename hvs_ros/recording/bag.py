"""Writes one episode as one MCAP bag that ``ros2 bag`` (Humble and later), Foxglove and ``rosbags`` open.

Written through ``rosbags``, in the metadata's version 8, the newest that Humble reads too. The folder has its final
name from the start, made exclusively, so that two recorders in one directory cannot meet. What marks it as unfinished
is that ``metadata.yaml`` appears, whole, at the very end, and a marker file, locked while its writer lives: after a
SIGKILL the lock is gone and the marker is not, which tells a dead recording from one under way. The marker is made
first, so that a full disk cannot prevent it. Chunks go to the file when ``flush`` is called, so a kill costs what came
since.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, TextIO

from rosbags.interfaces import Connection
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.rosbag2.errors import WriterError
from rosbags.rosbag2.storage_mcap import McapWriter

from hvs_ros.recording.definitions import Definitions
from hvs_ros.recording.errors import RecordingError
from hvs_ros.recording.qos import DEFAULT, Offer

MARKER = "UNFINISHED"
"""File in a bag's folder while it is not finished."""
METADATA = "metadata.yaml"
VERSION: Literal[8] = 8
CUSTOM_KEY = "hvs_ros"
"""Key of ``custom_data`` in metadata.yaml under which an episode's description lies, as JSON."""


@dataclass(frozen=True)
class Topic:
    """A topic as it is recorded.

    Attributes:
        name: full name.
        kind: message type, e.g. ``sensor_msgs/msg/CompressedImage``.
        offer: QoS of its publisher.
    """

    name: str
    kind: str
    offer: Offer = DEFAULT


class EpisodeBag:
    """A bag being written; a context manager that finishes it, or leaves it marked as unfinished on an error.

    Not for use by several threads at once. After an error in ``write`` or ``flush`` call ``abandon``.

    Args:
        directory: made if it is not there.
        name: of the folder; where it is taken, ``_2`` and so on is put behind it.
        definitions: where message definitions come from.

    Attributes:
        path: the bag's folder.
        messages: how many were written.
        size: their bytes.
        description: of the episode, put into metadata.yaml at the end.

    Raises:
        RecordingError: the folder or the file cannot be made.
    """

    def __init__(self, directory: Path, name: str, definitions: Definitions | None = None) -> None:
        self._definitions = definitions or Definitions()
        self._connections: dict[str, Connection] = {}
        self._pending = False
        self.messages = 0
        self.size = 0
        self.description: Mapping[str, object] = {}
        self._closed = False
        self._writer = _create(directory, name)
        self.path: Path = self._writer.path
        try:
            self._marker: TextIO | None = _mark(self.path)
        except OSError as error:
            self._abort()
            raise RecordingError(f"{self.path}: cannot be written: {_reason(error)}") from error

    def __contains__(self, topic: str) -> bool:
        return topic in self._connections

    def add(self, topic: Topic) -> None:
        """Declare a topic; again without effect.

        Raises:
            RecordingError: its message definition is not found.
        """
        if topic.name in self._connections:
            return
        definition = self._definitions[topic.kind]
        try:
            self._connections[topic.name] = self._writer.add_connection(
                topic.name,
                topic.kind,
                msgdef=definition.text,
                rihs01=definition.digest,
                offered_qos_profiles=[topic.offer.profile()],
            )
        except WriterError as error:
            raise RecordingError(f"{self.path}: {topic.name} cannot be added: {error}") from error

    def write(self, topic: str, stamp_ns: int, data: bytes) -> None:
        """Append a message.

        Args:
            topic: added before.
            stamp_ns: when it was received, in nanoseconds of the ROS clock.
            data: the serialized message (CDR with its header).

        Raises:
            RecordingError: the disk is full or gone.
        """
        try:
            self._writer.write(self._connections[topic], stamp_ns, data)
        except (OSError, WriterError, ValueError) as error:
            raise RecordingError(f"{self.path}: cannot be written: {_reason(error)}") from error
        self._pending = True
        self.messages += 1
        self.size += len(data)

    def flush(self) -> None:
        """Hand everything written so far to the operating system, readable without the end of the file.

        Raises:
            RecordingError: the disk is full or gone.
        """
        if not self._pending:
            return
        storage = self._storage()
        try:
            if storage.chunk.bio.tell():
                storage.close_chunk()
            storage.bio.flush()
            # A file that was deleted takes bytes without complaint.
            storage.path.stat()
        except (OSError, ValueError) as error:
            raise RecordingError(f"{self.path}: cannot be written: {_reason(error)}") from error
        self._pending = False

    def close(self) -> None:
        """Finish the bag: summary, metadata.yaml, then the marker goes. Without effect when it is closed or abandoned.

        Raises:
            RecordingError: it cannot be finished; what was written stays, marked.
        """
        if self._closed:
            return
        try:
            self.flush()
            self._writer.set_custom_data(CUSTOM_KEY, json.dumps(self.description, sort_keys=True))
            self._writer.close()
            _sync(self.path)
            (self.path / MARKER).unlink(missing_ok=True)
        except (OSError, WriterError, ValueError) as error:
            self.abandon(_reason(error))
            raise RecordingError(f"{self.path}: cannot be finished: {_reason(error)}") from error
        self._closed = True
        self._unlock()

    def abandon(self, reason: str) -> None:
        """Close the file as it is and leave the folder marked as unfinished. Never raises."""
        if self._closed:
            return
        self._closed = True
        with contextlib.suppress(OSError, ValueError):
            if self._marker is not None:
                json.dump({"reason": reason}, self._marker)
                self._marker.flush()
        self._abort()

    def __enter__(self) -> EpisodeBag:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        else:
            self.abandon(f"{error}")

    def _storage(self) -> McapWriter:
        storage = self._writer.storage
        assert isinstance(storage, McapWriter)
        return storage

    def _abort(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            self._writer.abort()
        self._unlock()

    def _unlock(self) -> None:
        marker, self._marker = self._marker, None
        if marker is not None:
            with contextlib.suppress(OSError):
                marker.close()


def is_being_written(folder: Path) -> bool:
    """Return whether a living process writes the bag in this folder."""
    try:
        with (folder / MARKER).open() as marker:
            fcntl.flock(marker, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _create(directory: Path, name: str) -> Writer:
    number = 1
    while True:
        path = directory / (name if number == 1 else f"{name}_{number}")
        try:
            writer = Writer(path, version=VERSION, storage_plugin=StoragePlugin.MCAP)
            writer.open()
        except WriterError as error:
            # Another recorder was faster, or an earlier bag has the name.
            if not path.exists():
                raise RecordingError(f"{path}: cannot be made: {error}") from error
            number += 1
        except OSError as error:
            raise RecordingError(f"{directory}: a bag cannot be made there: {_reason(error)}") from error
        else:
            return writer


def _mark(folder: Path) -> TextIO:
    marker = (folder / MARKER).open("x", encoding="utf-8")
    fcntl.flock(marker, fcntl.LOCK_EX | fcntl.LOCK_NB)
    json.dump({"pid": os.getpid(), "host": socket.gethostname()}, marker)
    marker.write("\n")
    marker.flush()
    return marker


def _sync(folder: Path) -> None:
    """Have the disk keep it, so that a power cut after the end of an episode costs nothing."""
    for path in folder.iterdir():
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__
