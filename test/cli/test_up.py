"""``hvs up`` as a user runs it: a graph that stays, searches in it, and its end."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

from hvs_command import Command

Start = Callable[..., Command]


def test_it_serves_searches_until_ctrl_c_and_records_them(start: Start, scenes: Path, tmp_path: Path) -> None:
    record = tmp_path / "bags"
    graph = start("up", "--scenes", scenes, "--policy", "random", "--policy-setting", "views=2", "--record", record)
    graph.wait_for("hvs up: ready")
    for _ in range(2):
        search = start("search", "find the exit sign", "--turns", 4)
        assert search.wait(40) == 0, search.output
        assert "submitted (" in search.output
    second = start("up", "--scenes", scenes, "--policy", "random")
    assert second.wait() == 1
    assert "another hvs sim, bench, up, real or check-signs runs" in second.output
    children = list(graph.children().values())
    assert len(children) == 3
    graph.send(signal.SIGINT)
    assert graph.wait(15) == 0, graph.output
    assert "Traceback" not in graph.output
    assert not [pid for pid in children if (Path("/proc") / str(pid)).exists()]
    assert len(list(record.glob("*/metadata.yaml"))) == 2


def test_a_node_that_dies_ends_it_by_name(start: Start, scenes: Path) -> None:
    graph = start("up", "--scenes", scenes, "--policy", "random")
    graph.wait_for("hvs up: ready")
    os.kill(graph.children()["hvs_ros.nodes.panorama_head"], signal.SIGKILL)
    assert graph.wait(20) == 1, graph.output
    assert "panorama_head" in graph.output.splitlines()[-1]


def test_what_cannot_be_is_refused_at_once(
    hvs: Callable[..., tuple[int, str, str]], scenes: Path, tmp_path: Path
) -> None:
    for arguments, named in (
        (("--policy", "nobody"), "nobody"),
        (("--policy", "random", "--policy-setting", "colour=red"), "colour"),
        (("--policy", "random", "--scenes", tmp_path / "nowhere"), "nowhere"),
        (("--policy", "random", "--record", __file__), Path(__file__).name),
    ):
        code, _, errors = hvs("up", "--scenes", scenes, *arguments)
        assert code == 2
        assert named in errors and errors.count("\n") == 1
