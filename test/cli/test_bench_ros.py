"""``hvs bench --through-ros`` as a user runs it: the decisions are the same through the graph, or named where not."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hvs_command import Command

from hvs_ros.mock.model_server import MockModelServer

Start = Callable[..., Command]
Hvs = Callable[..., tuple[int, str, str]]

SCRIPT = "rotate(30,-7); raw:nonsense; rotate(330,5); colour"
"""A turn that is none in between; at the end the answer is read from the colour of the picture that was sent."""


def bags_of(output: str) -> tuple[int, Path]:
    found = re.search(r"^bags: (\d+) in (\S+)", output, re.MULTILINE)
    assert found is not None, output
    return int(found[1]), Path(found[2])


def test_a_sample_is_the_same_through_the_graph_and_is_recorded(
    start: Start, hvs: Hvs, scenes: Path, tmp_path: Path
) -> None:
    results = tmp_path / "runs" / "r.jsonl"
    small = ("--policy", "random", "--size", "320x180", "--results", results)
    command = start("bench", scenes, *small, "--through-ros", 3)
    assert command.wait() == 0, command.output
    assert "3 of 6 episodes, in process first, then through ROS 2" in command.output
    assert "all 3 episodes are the same in process and through ROS 2, in each of their 12 turns" in command.output
    assert "Traceback" not in command.output
    count, folder = bags_of(command.output)
    assert count == 3 and folder.parent == results.parent and not results.exists()
    code, out, _ = hvs("bag", "verify", folder)
    assert code == 0, out
    assert len(list(folder.glob("*/*.mcap"))) == 3


@pytest.mark.parametrize("protocol", ["paper", "reference"])
def test_a_model_behind_a_server_decides_the_same(start: Start, scenes: Path, tmp_path: Path, protocol: str) -> None:
    results = tmp_path / "r.jsonl"
    with MockModelServer(script=SCRIPT) as server:
        model = ("--policy", "server", "--base-url", server.base_url, "--prompts", "hvs", "--protocol", protocol)
        command = start("bench", scenes, *model, "--size", "320x180", "--results", results, "--through-ros", 2)
        assert command.wait() == 0, command.output
        asked = server.questions
    assert "all 2 episodes are the same in process and through ROS 2, in each of their 10 turns" in command.output
    assert len(asked) == 20
    halves = [[one.body["messages"] for one in half] for half in (asked[:10], asked[10:])]
    assert halves[0] == halves[1], "to the last byte of each picture"


def test_what_differs_is_named_and_fails(start: Start, scenes: Path, tmp_path: Path) -> None:
    command = start(
        *("bench", scenes, "--policy", "split_policies:Split", "--size", "320x180", "--results", tmp_path / "r.jsonl"),
        *("--through-ros", 2),
    )
    assert command.wait() == 1, command.output
    assert re.search(
        r"^\w+/\d/\d+, turn 2: action rotate\(.*\) in process, rotate\(1,2\) through ROS 2$",
        command.output,
        re.MULTILINE,
    )
    assert "'I am in a node' through ROS 2" in command.output
    assert "2 of 2 episodes are not the same in process and through ROS 2" in command.output
    assert bags_of(command.output)[0] == 2
