"""``hvs sim`` as a user runs it: nodes, bags, reports, Ctrl-C. Each test has a ROS domain of its own."""

from __future__ import annotations

import os
import pty
import select
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hvs_command import Command, read_lines, results_in

Start = Callable[..., Command]
SMALL = ("--size", "640x360")
SLOW = ("--policy", "slow_policies:Slow", "--policy-setting", "seconds=0.3")


def what_was_done(path: Path) -> list[Any]:
    """Everything in a results file but times and places."""
    done = []
    for line in read_lines(path):
        turns = [[turn[key] for key in ("direction", "action", "status", "thought", "after")] for turn in line["turns"]]
        done.append([line[key] for key in ("episode", "level", "outcome", "submitted", "looking")] + turns)
    return done


def alive(pids: list[int]) -> list[int]:
    """Those that still run."""
    return [pid for pid in pids if (Path("/proc") / str(pid)).exists()]


def test_bags_reports_results_and_the_same_decisions_as_in_process(
    start: Start, hvs: Callable[..., tuple[int, str, str]], scenes: Path, tmp_path: Path
) -> None:
    record = tmp_path / "record"
    sim = ("sim", "--scenes", scenes, "--policy", "random", "--policy-setting", "seed=3", "--episodes", 4, *SMALL)
    command = start(*sim, "--record", record)
    command.wait_for("hvs sim: policy 'random'")
    assert "[1/4]" not in command.output, "the first line comes at once"
    assert command.wait() == 0, command.output
    assert "through ROS 2" in command.output and "[4/4]" in command.output
    assert "Traceback" not in command.output

    code, out, _ = hvs("bag", "verify", record)
    assert code == 0, out
    lines = read_lines(results_in(record))
    assert len(lines) == 4 and all(line["outcome"] in ("submitted", "turns exhausted") for line in lines)
    index = (record / "index.html").read_text()
    for line in lines:
        assert line["bag"] is not None, command.output
        report = record / line["bag"] / "report.html"
        assert line["instruction"] in report.read_text()
        assert line["bag"] in index

    alone = tmp_path / "alone.jsonl"
    assert hvs(*sim, "--in-process", "--results", alone)[0] == 0
    assert what_was_done(alone) == what_was_done(results_in(record))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_ends_in_order_and_is_continued(
    start: Start, scenes: Path, tmp_path: Path, number: signal.Signals
) -> None:
    record = tmp_path / "record"
    sim = ("sim", "--scenes", scenes, *SLOW, "--record", record, "--turns", 6, "--starts", 1, *SMALL)
    command = start(*sim)
    command.wait_for("[2/4]")
    command.wait_for("turn 1")
    children = list(command.children().values())
    assert len(children) == 3
    began = time.monotonic()
    command.send(number)
    assert command.wait(30) == 130, command.output
    assert time.monotonic() - began < 10, "everything is gone within ten seconds"
    assert not alive(children)
    assert "Traceback" not in command.output
    assert "looking" in command.output, "the table of what was done"
    assert "3 of 4 episodes are not done; the same command with --resume" in command.output
    assert [line["episode"] for line in read_lines(results_in(record))] == ["alpha/0/0"]

    command = start(*sim, "--resume")
    assert command.wait() == 0, command.output
    assert "1 of 4 episodes are done already" in command.output
    assert len(read_lines(results_in(record))) == 4


def test_a_second_system_in_the_domain_is_refused_unless_it_has_a_namespace(start: Start, scenes: Path) -> None:
    first = start("sim", "--scenes", scenes, *SLOW, "--turns", 60, *SMALL)
    first.wait_for("turn 1")
    asked = start("search", "find the exit")
    assert asked.wait() == 1
    assert "refused: another search is on" in asked.output
    second = start("sim", "--scenes", scenes, *SLOW, "--episodes", 1, *SMALL)
    assert second.wait() == 1
    assert "another hvs sim, bench, up, real or check-signs runs" in second.output and "--namespace" in second.output
    third = start("sim", "--scenes", scenes, *SLOW, "--episodes", 1, "--turns", 2, "--namespace", "other", *SMALL)
    assert third.wait() == 0, third.output
    first.send(signal.SIGINT)
    assert first.wait(30) == 130
    assert "NOT SCORED" not in first.output, "the first one was not disturbed"


def test_a_head_that_is_there_already_is_left_alone(start: Start, scenes: Path, start_head: Callable[[], None]) -> None:
    start_head()
    command = start("sim", "--scenes", scenes, *SLOW, "--episodes", 1, *SMALL)
    assert command.wait() == 1, command.output
    assert "another system offers the action /head/move" in command.output


def test_a_node_that_dies_ends_the_run_by_name(start: Start, scenes: Path, tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    command = start("sim", "--scenes", scenes, *SLOW, "--turns", 10, "--results", results, *SMALL)
    command.wait_for("turn 2")
    os.kill(command.children()["hvs_ros.nodes.panorama_head"], signal.SIGKILL)
    assert command.wait() == 1
    assert "panorama_head ended by SIGKILL" in command.output.splitlines()[-1]
    assert "Traceback" not in command.output
    assert not any(line["outcome"] in ("submitted", "turns exhausted") for line in read_lines(results))


def test_a_policy_that_ends_its_process_ends_the_run_at_once(start: Start, scenes: Path) -> None:
    command = start("sim", "--scenes", scenes, "--policy", "slow_policies:Leaving", *SMALL)
    command.wait_for("attempt 1", 60)
    began = time.monotonic()
    assert command.wait() == 1
    assert time.monotonic() - began < 20
    assert "search_policy ended with exit code 7" in command.output.splitlines()[-1]
    assert "[2/" not in command.output and "Traceback" not in command.output


def test_a_policy_that_is_not_there_is_said_in_one_line(start: Start, scenes: Path) -> None:
    results = scenes / "results.jsonl"
    command = start("sim", "--scenes", scenes, "--policy", "slow_policies:Missing", "--results", results, *SMALL)
    assert command.wait() == 1
    assert "looking" not in command.output, "no table of nothing"
    assert not results.exists(), "it is not in the way of the next attempt"
    assert "pip install oracle" in command.output.splitlines()[-1]
    assert "Traceback" not in command.output


def test_a_head_with_motion_and_parameters_of_the_users_own(start: Start, scenes: Path, tmp_path: Path) -> None:
    parameters = tmp_path / "nodes.yaml"
    parameters.write_text("/**/panorama_head: {ros__parameters: {max_velocity: 6.0, pitch_min: -0.1, pitch_max: 0.1}}")
    results = tmp_path / "results.jsonl"
    sim = ("sim", "--scenes", scenes, "--policy", "random", "--episodes", 1, "--results", results, *SMALL)
    command = start(*sim, "--motion", "profile", "--params-file", parameters)
    assert command.wait() == 0, command.output
    (line,) = read_lines(results)
    assert any(turn["move"] == "clamped" for turn in line["turns"])
    assert sum(turn["move_s"] for turn in line["turns"]) > 0.2


def test_a_person_searches_at_the_keyboard(start: Start, scenes: Path, tmp_path: Path) -> None:
    person, tty = pty.openpty()
    results, view = tmp_path / "results.jsonl", tmp_path / "view.jpg"
    settings = [part for text in (f"tty={os.ttyname(tty)}", f"view={view}") for part in ("--policy-setting", text)]
    sim = ("sim", "--scenes", scenes, "--policy", "keyboard", *settings, "--episodes", 1, "--results", results, *SMALL)
    command = start(*sim)
    for keys, prompt in ((b"\x1b[C", b"Turn 1, "), (b"\r", b"Turn 2, ")):
        seen, end = b"", time.monotonic() + 60
        while not (prompt in seen and seen.endswith(b"> ")):
            assert command.running and time.monotonic() < end, command.output
            if select.select([person], [], [], 0.1)[0]:
                seen += os.read(person, 1024)
        time.sleep(0.2)
        os.write(person, keys)
    assert command.wait() == 0, command.output
    assert "Traceback" not in command.output
    assert view.stat().st_size > 0
    (line,) = read_lines(results)
    assert [turn["action"]["do"] for turn in line["turns"]] == ["rotate", "submit"]
    assert line["submitted"] == [30.0, 0.0]


def test_a_running_system_is_asked_to_search(start: Start, scenes: Path) -> None:
    waiting = start("search", "find the exit", "--wait", 0.5)
    assert waiting.wait() == 1
    assert "no node offered the action /search" in waiting.output and "Traceback" not in waiting.output
    assert "thread" not in waiting.output, "the client's node is its own"
