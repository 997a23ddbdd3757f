"""Nodes in processes of their own, ended for sure and without a trace."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from ros_graph import WAIT_S


class NodeProcess:
    """A node in a process of its own.

    Attributes:
        log: file with everything it printed.
    """

    def __init__(self, module: str, arguments: list[str], domain: int, log: Path) -> None:
        self.log = log
        self._left: list[Path] = []
        environment = {"ROS_DOMAIN_ID": str(domain), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
        with log.open("wb") as out:
            self._process = subprocess.Popen(
                [sys.executable, "-m", module, *arguments],
                stdout=out,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                env=os.environ | environment,
            )

    @property
    def output(self) -> str:
        """What it has printed so far."""
        return self.log.read_text(errors="replace")

    @property
    def running(self) -> bool:
        """It has not ended."""
        return self._process.poll() is None

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self._process.send_signal(number)

    def wait(self, limit_s: float = WAIT_S) -> int:
        """Wait for its end and return the exit code."""
        return self._process.wait(limit_s)

    def stop(self, number: signal.Signals = signal.SIGINT, limit_s: float = 10.0) -> int:
        """Send a signal, wait for the end and return the exit code."""
        self.send(number)
        return self.wait(limit_s)

    def kill(self) -> None:
        """End it without asking; the shared memory that it then leaves behind is removed by ``clean``."""
        if self.running:
            self._left += self._segments()
            self._process.kill()
        self._process.wait(WAIT_S)

    def clean(self) -> None:
        """Remove the shared memory (68 MB) that it left behind, once no node that it talked to runs any more."""
        for segment in self._left:
            segment.unlink(missing_ok=True)

    def _segments(self) -> list[Path]:
        """Return Fast DDS's segments that the process uses, its own and those of whom it talks to."""
        with suppress(OSError):
            maps = Path(f"/proc/{self._process.pid}/maps").read_text()
            return [Path(name) for name in set(re.findall(r"/dev/shm/fastrtps_[0-9a-f]{16}(?:_el)?", maps))]
        return []


class Launcher:
    """Starts nodes in one domain; a context manager that kills those still running at its end and shows what they said.

    Args:
        domain: ROS_DOMAIN_ID.
        folder: for their output.
    """

    def __init__(self, domain: int, folder: Path) -> None:
        self.domain = domain
        self.folder = folder
        self._started: list[NodeProcess] = []

    def __enter__(self) -> Launcher:
        return self

    def __call__(
        self,
        module: str,
        *,
        namespace: str = "",
        remap: dict[str, str] | None = None,
        arguments: Sequence[str] = (),
        **parameters: object,
    ) -> NodeProcess:
        """Start ``python -m module`` with ROS parameters; ``arguments`` follow ``--ros-args``."""
        line = ["--ros-args"]
        if namespace:
            line += ["-r", f"__ns:=/{namespace.strip('/')}"]
        for old, new in (remap or {}).items():
            line += ["-r", f"{old}:={new}"]
        for name, value in parameters.items():
            line += ["-p", f"{name}:={_parameter_text(value)}"]
        log = self.folder / f"{module.rsplit('.', 1)[-1]}_{len(self._started)}.log"
        process = NodeProcess(module, [*line, *arguments], self.domain, log)
        self._started.append(process)
        return process

    def __exit__(self, *_: object) -> None:
        # Asked first: a killed node leaves its shared memory behind.
        for process in self._started:
            if process.running:
                process.send(signal.SIGTERM)
        for process in self._started:
            with suppress(subprocess.TimeoutExpired):
                process.wait(5.0)
            process.kill()
        for process in self._started:
            process.clean()
            if process.output:
                print(f"--- {process.log.name}\n{process.output}")


def _parameter_text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    # Quoted, or YAML makes a number of "1" and null of "".
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)
