"""A child process whose output is kept: its last lines explain its end.

Standard error goes the same way as standard output. A thread reads it all the time, so that a chatty child never
blocks; a log that cannot be written (disk full) does not stop that thread.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

LAST_LINES = 30
"""So many are remembered."""
SHOWN_LINES = 3
"""So many of them go into an obituary."""


class Child:
    """A process in a session of its own, which a terminal's Ctrl-C does not reach.

    Args:
        name: for messages.
        command: what is run.
        environment: all of it.
        log: file that gets everything the process prints; None: none.
        on_line: is given (name, line), from a thread of its own.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        log: Path | None = None,
        on_line: Callable[[str, str], None],
    ) -> None:
        self.name = name
        self._on_line = on_line
        self._last: deque[str] = deque(maxlen=LAST_LINES)
        self._process = subprocess.Popen(
            list(command),
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            text=True,
            errors="replace",
        )
        self._reader = threading.Thread(target=self._read, args=(log,), name=f"output of {name}", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """The process's number."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """It has not ended."""
        return self._process.poll() is None

    @property
    def exit_code(self) -> int | None:
        """Negative: the signal that ended it. None: it runs."""
        return self._process.poll()

    @property
    def last_lines(self) -> list[str]:
        """What it printed last."""
        return list(self._last)

    def obituary(self) -> str:
        """Say in one line how it ended and what it said before; empty while it runs."""
        code = self.exit_code
        if code is None:
            return ""
        self._reader.join(1.0)
        how = f"with exit code {code}" if code >= 0 else f"by {_signal_name(-code)}"
        said = " | ".join(line.strip() for line in self.last_lines[-SHOWN_LINES:] if line.strip())
        return f"{self.name} ended {how}" + (f"; it said: {said}" if said else " without a word")

    def send(self, number: signal.Signals) -> None:
        """Send a signal, SIGKILL to whatever the process has started as well; nothing when it has ended."""
        if not self.running:
            return
        with contextlib.suppress(ProcessLookupError):
            if number == signal.SIGKILL:
                os.killpg(self.pid, number)
            else:
                self._process.send_signal(number)

    def wait(self, limit_s: float) -> bool:
        """Return whether it has ended within the limit."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(limit_s)
        return not self.running

    def close(self) -> None:
        """Wait for the rest of its output, which is soon there once it has ended."""
        self._process.wait(5.0)
        self._reader.join(1.0)

    def _read(self, log: Path | None) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as output, contextlib.ExitStack() as stack:
            file = None
            if log is not None:
                with contextlib.suppress(OSError):
                    file = stack.enter_context(log.open("a", encoding="utf-8", errors="replace", buffering=1))
            for line in output:
                text = line.rstrip("\n")
                self._last.append(text)
                if file is not None:
                    with contextlib.suppress(OSError):
                        file.write(line)
                self._on_line(self.name, text)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
