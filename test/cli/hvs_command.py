"""The ``hvs`` command in a process of its own, and small scenes to search in."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import cv2
import numpy as np

ROOT = Path(__file__).parents[2]
LIMIT_S = 110.0
"""For one command, on a machine that is busy with other tests."""

ITEMS = [
    {"task": "Find the red box.", "yaw": [80, 100], "pitch": [-10, 10], "initial yaw": [0, 90]},
    {"task": "Which way is out?", "yaw": [350, 10], "initial yaw": [180]},
]


def write_panorama(path: Path, seed: int = 0, width: int = 1024) -> None:
    """Write a picture of coloured patches, 2:1."""
    patches = np.random.default_rng(seed).integers(0, 255, (16, 32, 3), dtype=np.uint8)
    assert cv2.imwrite(str(path), cv2.resize(patches, (width, width // 2)))


def write_scene(folder: Path, items: Any = None, seed: int = 0) -> Path:
    """Write a scene: a panorama and, unless items is empty, its annotation."""
    folder.mkdir(parents=True)
    write_panorama(folder / f"{folder.name}.jpg", seed)
    items = ITEMS if items is None else items
    if items:
        (folder / "annotation.json").write_text(items if isinstance(items, str) else json.dumps(items))
    return folder


class Command:
    """``hvs`` in a process of its own, as the leader of a process group, like a job of a shell."""

    def __init__(self, arguments: list[str], domain: int, log: Path, path: Path) -> None:
        self._log = log
        python_path = os.pathsep.join([str(ROOT), str(path), os.environ.get("PYTHONPATH", "")])
        environment = {**os.environ, "ROS_DOMAIN_ID": str(domain), "PYTHONPATH": python_path}
        with log.open("wb") as out:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "hvs_ros.cli.main", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """The process's number."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """It has not ended."""
        return self._process.poll() is None

    @property
    def output(self) -> str:
        """All it has printed so far."""
        return self._log.read_text(errors="replace")

    def wait(self, limit_s: float = LIMIT_S) -> int:
        """Return its exit code."""
        try:
            return self._process.wait(limit_s)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"hvs did not end within {limit_s:g} s; it printed:\n{self.output}") from None

    def wait_for(self, text: str, limit_s: float = LIMIT_S) -> None:
        """Wait until it has printed a text."""
        end = time.monotonic() + limit_s
        while text not in self.output:
            assert self._process.poll() is None and time.monotonic() < end, f"no '{text}' in:\n{self.output}"
            time.sleep(0.05)

    def send(self, number: signal.Signals) -> None:
        """Send a signal to it alone."""
        self._process.send_signal(number)

    def children(self) -> dict[str, int]:
        """Return the nodes that it has started, by the module's name."""
        found: dict[str, int] = {}
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                words = (entry / "cmdline").read_text().split("\0")
            except (OSError, IndexError):
                continue
            if parent == self.pid and "hvs_ros.node_process" in words:
                found[next(word for word in words if word.startswith("hvs_ros.nodes."))] = int(entry.name)
        return found

    def kill(self) -> None:
        """Leave nothing behind."""
        for pid in self.children().values():
            os.kill(pid, signal.SIGKILL)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()


def read_lines(path: Path, *, torn: bool = False) -> list[dict[str, Any]]:
    """Return the episodes of a results file; where it may be torn, without a last line that has no end."""
    text = path.read_text()
    return [json.loads(line) for line in (text[: text.rfind("\n") + 1] if torn else text).splitlines()[1:]]


def without_times(path: Path) -> dict[str, Any]:
    """Return the episodes of a results file by id, without what differs from run to run."""
    episodes = {}
    for line in read_lines(path):
        turns = [{key: value for key, value in turn.items() if not key.endswith("_s")} for turn in line["turns"]]
        kept = {key: value for key, value in line.items() if key not in ("seconds", "ended", "turns")}
        episodes[line["episode"]] = {**kept, "turns": turns}
    return episodes


def wait_for_lines(command: Command, path: Path, count: int) -> None:
    """Wait until a results file that the command writes has so many lines."""
    end = time.monotonic() + LIMIT_S
    while not path.exists() or path.read_bytes().count(b"\n") < count:
        assert command.running and time.monotonic() < end, command.output
        time.sleep(0.01)


def results_in(folder: Path) -> Path:
    """Return the one results file of a recording folder."""
    (path,) = folder.glob("results_*.jsonl")
    return path
