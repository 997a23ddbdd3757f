"""The ``hvs`` command as a user types it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hvs_command import ROOT, Command, write_scene

from hvs_ros.cli.main import main


@pytest.fixture
def scenes(tmp_path: Path) -> Path:
    """Two scenes with three episodes each."""
    write_scene(tmp_path / "scenes" / "alpha", seed=1)
    write_scene(tmp_path / "scenes" / "beta", seed=2)
    return tmp_path / "scenes"


@pytest.fixture
def hvs(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run a command line in this process; return exit code, output and errors."""

    def run(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as end:  # argparse
            code = int(end.code or 0)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def start(tmp_path: Path, domain: int) -> Iterator[Callable[..., Command]]:
    """Start a command line in a process of its own, in the test's ROS domain."""
    pytest.importorskip("rclpy")
    pytest.importorskip("hvs_interfaces")
    commands: list[Command] = []

    def begin(*arguments: object) -> Command:
        log = tmp_path / f"hvs_{len(commands)}.log"
        commands.append(Command([str(argument) for argument in arguments], domain, log, Path(__file__).parent))
        return commands[-1]

    yield begin
    for command in commands:
        command.kill()


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Callable[..., Command]]:
    """Start ``hvs bench``, which needs no ROS, in a process of its own."""
    commands: list[Command] = []

    def start(*arguments: object) -> Command:
        words = ["bench", *(str(argument) for argument in arguments)]
        commands.append(Command(words, 0, tmp_path / f"bench_{len(commands)}.log", Path(__file__).parent))
        return commands[-1]

    yield start
    for command in commands:
        command.kill()


@pytest.fixture
def start_head(domain: int) -> Iterator[Callable[[], None]]:
    """Start a head that belongs to nobody, in the test's ROS domain."""
    heads: list[subprocess.Popen[bytes]] = []

    def begin() -> None:
        environment = {**os.environ, "ROS_DOMAIN_ID": str(domain), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
        command = [sys.executable, "-m", "hvs_ros.nodes.panorama_head", "--ros-args", "-r", "__ns:=/head"]
        heads.append(subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE))
        # Without a scene it says so when it is there.
        assert heads[-1].stderr is not None and any(b"no scene" in line for line in heads[-1].stderr)

    yield begin
    for head in heads:
        head.kill()
        head.wait()
