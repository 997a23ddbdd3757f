"""The benchmark as a node: it runs every episode of a graph that is there, and ends."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("hvs_interfaces")
from diagnostic_msgs.msg import DiagnosticArray

ITEMS = [
    {"task": "Find the red box.", "yaw": [80, 100], "pitch": [-10, 10], "initial yaw": [0, 90]},
    {"task": "Which way is out?", "yaw": [350, 10], "initial yaw": [180]},
]


@pytest.fixture
def scenes(tmp_path: Path) -> Path:
    folder = tmp_path / "scenes" / "alpha"
    folder.mkdir(parents=True)
    patches = np.random.default_rng(0).integers(0, 255, (16, 32, 3), dtype=np.uint8)
    cv2.imwrite(str(folder / "alpha.jpg"), cv2.resize(patches, (1024, 512)))
    (folder / "annotation.json").write_text(json.dumps(ITEMS))
    return folder.parent


def start_graph(start_node: Callable[..., Any], scenes: Path) -> None:
    start_node("hvs_ros.nodes.panorama_head", namespace="head", scenes=str(scenes), width=320, height=180)
    start_node("hvs_ros.nodes.search_policy", policy="random")


def test_it_runs_every_episode_and_ends_with_zero(start_node: Callable[..., Any], scenes: Path, tmp_path: Path) -> None:
    start_graph(start_node, scenes)
    results = tmp_path / "results.jsonl"
    node = start_node("hvs_ros.nodes.benchmark", scenes=str(scenes), results=str(results), starts=1)
    assert node.wait(60) == 0, node.output
    assert "[2/2] alpha/1/180: Which way is out?" in node.output and "found" in node.output
    header, *lines = map(json.loads, results.read_text().splitlines())
    assert header["settings"]["policy"] == "random"
    assert header["settings"]["camera"] == {"width": 320, "height": 180, "hfov_deg": 100.0}
    assert [line["episode"] for line in lines] == ["alpha/0/0", "alpha/1/180"]

    # Again, with more: only what is missing is run.
    node = start_node("hvs_ros.nodes.benchmark", scenes=str(scenes), results=str(results))
    assert node.wait(60) == 0, node.output
    assert "[1/3]" not in node.output and "[2/3] alpha/0/90" in node.output
    assert len(results.read_text().splitlines()) == 4


def test_it_says_what_is_missing_and_gives_up(start_node: Callable[..., Any], graph: Any, scenes: Path) -> None:
    diagnostics = graph.collect(DiagnosticArray, "/diagnostics")
    start_node("hvs_ros.nodes.panorama_head", namespace="head", scenes=str(scenes), width=320, height=180)
    node = start_node("hvs_ros.nodes.benchmark", scenes=str(scenes), ready_timeout=4.0)
    assert node.wait(60) == 1
    assert "the action search did not appear" in node.output
    said = [status.message for message in diagnostics for status in message.status if status.name == "benchmark"]
    assert "waiting for the graph" in said


def test_servers_are_counted_on_humble_too(start_node: Callable[..., Any], graph: Any, scenes: Path) -> None:
    from hvs_ros.nodes.benchmark_graph import servers_one_by_one

    for _ in range(2):
        start_node("hvs_ros.nodes.panorama_head", namespace="head", scenes=str(scenes), width=320, height=180)
    service = "/head/move/_action/send_goal"
    end = time.monotonic() + 15
    while servers_one_by_one(graph.node, service) < 2:
        assert time.monotonic() < end
        time.sleep(0.05)
    assert graph.node.count_services(service) == 2
    assert servers_one_by_one(graph.node, "/nobody/offers/this") == 0


def test_bad_scenes_are_one_line(start_node: Callable[..., Any], tmp_path: Path) -> None:
    node = start_node("hvs_ros.nodes.benchmark", scenes=str(tmp_path))
    assert node.wait(60) == 1
    assert "nothing to search here" in node.output and "Traceback" not in node.output


def test_it_ends_in_the_middle_when_it_is_told_to(start_node: Callable[..., Any], scenes: Path, tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    slow = {"motion": "profile", "max_velocity": 0.1}
    start_node("hvs_ros.nodes.panorama_head", namespace="head", scenes=str(scenes), width=320, height=180, **slow)
    start_node("hvs_ros.nodes.search_policy", policy="random")
    node = start_node("hvs_ros.nodes.benchmark", scenes=str(scenes), results=str(results))
    end = time.monotonic() + 60
    while "[1/3]" not in node.output:
        assert node.running and time.monotonic() < end, node.output
        time.sleep(0.05)
    assert node.stop(signal.SIGINT) == 1, "not all episodes ran"
    assert "Traceback" not in node.output
    assert len(results.read_text().splitlines()) == 1, "no episode was finished"
