"""``hvs bench --ray``: the same results as without it, killed and continued, and nothing that stays behind."""

from __future__ import annotations

import argparse
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hvs_command import ROOT, Command, read_lines, wait_for_lines, without_times, write_scene

from hvs_ros.cli.bench_ray import add_ray

Hvs = Callable[..., tuple[int, str, str]]
LIMIT_S = 30.0


@pytest.fixture
def begin(begin: Callable[..., Command]) -> Iterator[Callable[..., Command]]:
    """Start ``hvs bench``, and end what it has started when it is over."""
    pytest.importorskip("ray")
    commands: list[Command] = []

    def start(*arguments: object) -> Command:
        commands.append(begin(*arguments))
        return commands[-1]

    yield start
    for command in commands:
        command.kill()
        for pid in of_group(command.pid):
            os.kill(pid, signal.SIGKILL)


def of_group(leader: int) -> dict[int, str]:
    """Return what runs in a process group, but for what is only waiting to be forgotten."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            state, _, group = (entry / "stat").read_text().rsplit(")", 1)[1].split()[:3]
            if int(group) == leader and state != "Z":
                found[int(entry.name)] = (entry / "cmdline").read_text().replace("\0", " ")[:120]
        except OSError:
            continue
    return found


def test_killed_and_continued_and_interrupted_with_nothing_left_behind(
    begin: Callable[..., Command], hvs: Hvs, tmp_path: Path
) -> None:
    scenes, path, alone = tmp_path / "scenes", tmp_path / "results.jsonl", tmp_path / "alone.jsonl"
    for number in range(4):
        write_scene(scenes / f"hall_{number}", seed=number)
    policy = ("--policy", "slow_policies:Slow", "--policy-setting", "seconds=0.1", "--turns", 3, "--size", "64x36")
    run = (scenes, *policy, "--in-flight", 1)

    command = begin(*run, "--results", path, "--ray", "local", "--workers", 2)
    wait_for_lines(command, path, 3)
    command.send(signal.SIGINT)
    assert command.wait() == 130, command.output
    assert "Traceback" not in command.output and "raylet" not in command.output
    assert "episodes are not done; the same command with --resume" in command.output
    assert of_group(command.pid) == {}
    done = [line["episode"] for line in read_lines(path)]
    assert 2 <= len(done) < 9

    command = begin(*run, "--results", path, "--ray", "local", "--resume")
    wait_for_lines(command, path, 1 + len(done) + 2)
    command.send(signal.SIGKILL)
    command.wait()
    killed = [line["episode"] for line in read_lines(path, torn=True)]
    assert killed[: len(done)] == done and len(done) + 2 <= len(killed) < 12, "in the middle"
    end = time.monotonic() + LIMIT_S
    # Ray's own agents need a minute to notice that the rest has been killed.
    while left := [process for process in of_group(command.pid).values() if "Agent" not in process]:
        assert time.monotonic() < end, left
        time.sleep(0.1)

    assert hvs("bench", *run, "--results", path, "--resume")[0] == 0
    assert hvs("bench", scenes, *policy, "--in-flight", 12, "--results", alone)[0] == 0
    assert len(read_lines(path)) == 12, "none twice"
    assert without_times(path) == without_times(alone)


def test_who_cannot_be_reached_or_is_no_cluster_is_said_in_one_line(hvs: Hvs, scenes: Path, tmp_path: Path) -> None:
    pytest.importorskip("ray")
    run = ("bench", scenes, "--policy", "random", "--results", tmp_path / "results.jsonl", "--ray")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        answer = threading.Thread(target=lambda: server.accept()[0].sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n"))
        answer.start()
        code, _, err = hvs(*run, f"127.0.0.1:{port}")
        answer.join()
        assert code == 1 and "no Ray cluster" in err and err.count("\n") == 1
    code, _, err = hvs(*run, f"127.0.0.1:{port}")
    assert code == 1 and f"127.0.0.1:{port}: nobody answers there" in err and "ray start --head" in err
    code, _, err = hvs(*run, "somewhere:else")
    assert code == 1 and "give auto, local, HOST:PORT or ray://HOST:PORT" in err and err.count("\n") == 1
    assert not (tmp_path / "results.jsonl").exists()


def test_without_ray_the_extra_is_named(
    hvs: Hvs, scenes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    results = tmp_path / "results.jsonl"
    code, _, err = hvs("bench", scenes, "--policy", "random", "--ray", "local", "--results", results)
    assert code == 1 and "pip install -e '.[ray]'" in err and err.count("\n") == 1


def test_options_for_workers_go_with_ray(hvs: Hvs, scenes: Path) -> None:
    code, _, err = hvs("bench", scenes, "--policy", "random", "--worker-gpus", 1)
    assert code == 2 and "--worker-gpus goes with --ray" in err


def test_every_option_is_explained() -> None:
    parser = argparse.ArgumentParser(add_help=False)
    add_ray(parser.add_argument_group("several machines"))
    text = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
    options = [option for action in parser._actions for option in action.option_strings]
    assert "--ray" in options and not [option for option in options if f"`{option}" not in text]
