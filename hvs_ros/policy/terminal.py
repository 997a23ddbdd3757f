"""A terminal that is read key by key, wherever the process stands.

A node started by a launcher has neither a terminal as its input nor one that it belongs to. It may still open the one
that the person sits at by its path (``tty`` prints it). Reads never block for good: they wait in short steps and look
whether the terminal is to be given back.
"""

from __future__ import annotations

import contextlib
import os
import select
import termios
import threading
import tty
from collections.abc import Iterator

_POLL_S = 0.1
_ESCAPE_S = 0.05
"""An escape sequence arrives at once; an Escape that stands alone is followed by nothing."""

_SEQUENCES = {
    b"[A": "up", b"[B": "down", b"[C": "right", b"[D": "left",
    b"OA": "up", b"OB": "down", b"OC": "right", b"OD": "left",
}  # fmt: skip


class TerminalError(Exception):
    """There is no usable terminal; the message says why."""


class Terminal:
    """Reads keys from a terminal and writes text to it.

    Args:
        path: of the terminal; empty: the one that the process belongs to.

    Raises:
        TerminalError: there is none, it cannot be opened, or the process is in its background.
    """

    def __init__(self, path: str = "") -> None:
        self._path = path or "/dev/tty"
        try:
            self._fd = os.open(self._path, os.O_RDWR | os.O_NOCTTY)
        except OSError as error:
            raise TerminalError(f"{self._path} cannot be opened ({error.strerror})") from error
        self._closed = threading.Event()
        if not os.isatty(self._fd):
            os.close(self._fd)
            raise TerminalError(f"{self._path} is not a terminal")
        # A background process that reads its own terminal is stopped by the kernel, which would look like a hang.
        with contextlib.suppress(OSError):
            if os.tcgetpgrp(self._fd) != os.getpgrp():
                os.close(self._fd)
                raise TerminalError(f"this process runs in the background of {self._path}")

    def write(self, text: str) -> None:
        """Show text."""
        data = text.replace("\n", "\r\n").encode()
        with contextlib.suppress(OSError):
            while data:
                data = data[os.write(self._fd, data) :]

    @contextlib.contextmanager
    def keys(self) -> Iterator[Iterator[str]]:
        """Give the keys that are pressed while the context lasts, without echo, until the terminal is closed.

        A key is its character, or up, down, left, right, enter, backspace, interrupt (Ctrl-C), or end (Ctrl-D, or the
        terminal is gone).

        Raises:
            TerminalError: the terminal is gone.
        """
        try:
            before = termios.tcgetattr(self._fd)
            tty.setcbreak(self._fd, termios.TCSANOW)
        except termios.error as error:
            raise TerminalError(f"{self._path} is gone ({error})") from error
        try:
            yield self._keys()
        finally:
            with contextlib.suppress(termios.error, OSError):
                termios.tcsetattr(self._fd, termios.TCSANOW, before)

    def close(self) -> None:
        """End every read, from any thread."""
        self._closed.set()

    def release(self) -> None:
        """Close the file; nobody may be reading any more."""
        with contextlib.suppress(OSError):
            os.close(self._fd)

    def _keys(self) -> Iterator[str]:
        while not self._closed.is_set():
            byte = self._byte(_POLL_S)
            if byte is None:
                continue
            if byte in (b"", b"\x04"):
                yield "end"
                return
            yield self._key(byte)

    def _key(self, byte: bytes) -> str:
        if byte == b"\x1b":
            first, second = self._byte(_ESCAPE_S), self._byte(_ESCAPE_S)
            return _SEQUENCES.get((first or b"") + (second or b""), "")
        named = {b"\r": "enter", b"\n": "enter", b"\x7f": "backspace", b"\x08": "backspace", b"\x03": "interrupt"}
        return named.get(byte) or byte.decode("ascii", "ignore")

    def _byte(self, wait_s: float) -> bytes | None:
        """Return the next byte; None when there is none in time, empty at the end."""
        try:
            ready, _, _ = select.select([self._fd], [], [], wait_s)
            return os.read(self._fd, 1) if ready else None
        except OSError:  # the other side of a pseudo terminal has closed it
            return b""
