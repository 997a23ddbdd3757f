"""``hvs sim --policy server --base-url URL`` as a user runs it, and the short forms of settings."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hvs_command import ROOT, Command, read_lines, results_in

from hvs_ros.cli.main import build_parser

pytest.importorskip("openai")
pytest.importorskip("aiohttp")

from hvs_ros.mock.model_server import MockModelServer

Hvs = Callable[..., tuple[int, str, str]]
SERVER = ("--policy", "server")
SMALL = ("--size", "320x180", "--policy-setting", "view_size=320x180")
PARAMETERS = """
/**:
  ros__parameters:
    policy: server
    policy.base_url: http://127.0.0.1:9/v1  # the command line goes first
    policy.view_size: 320x180
"""
KEY = "sk-s3cr3t-0123456789"


@pytest.fixture
def server() -> Iterator[MockModelServer]:
    with MockModelServer(script="rotate(45,0); raw:I wonder.; rotate(45,10); submit(90,0)") as server:
        yield server


def test_a_run_through_ros_asks_the_server_and_keeps_the_key_to_itself(
    start: Callable[..., Command],
    server: MockModelServer,
    scenes: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HVS_API_KEY", KEY)
    server.change(key=KEY)
    record, file = tmp_path / "record", tmp_path / "nodes.yaml"
    file.write_text(PARAMETERS)
    command = start(
        "sim", "--scenes", scenes, "--params-file", file, "--base-url", server.base_url, "--model", "mock/HVS-3B",
        "--size", "320x180", "--episodes", 2, "--record", record,
    )  # fmt: skip
    assert command.wait() == 0, command.output
    assert "Traceback" not in command.output and "[2/2]" in command.output
    lines = read_lines(results_in(record))
    assert [line["outcome"] for line in lines] == ["submitted", "submitted"]
    assert [turn["status"] for turn in lines[0]["turns"]] == ["ok", "no answer", "ok", "ok"]
    assert [len(asked.pictures) for asked in server.questions] == [1, 2, 3, 4] * 2
    assert {(picture.width, picture.height) for asked in server.questions for picture in asked.pictures} == {(320, 180)}
    for path in (*record.rglob("*"), command._log):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path


def test_in_process_it_is_the_same_and_a_missing_server_is_one_line(
    hvs: Hvs, server: MockModelServer, scenes: Path, tmp_path: Path
) -> None:
    sim = ("sim", "--in-process", "--scenes", scenes, *SERVER, "--episodes", 1, *SMALL)
    code, out, err = hvs(*sim, "--base-url", server.base_url)
    assert code == 0, (out, err)
    assert len(server.questions) == 4
    server.stop()
    quick = ("--policy-setting", "retries=0")
    code, out, err = hvs(*sim, "--base-url", server.base_url, *quick)
    assert code != 0 and err.count("\n") == 1 and f"model server {server.name}: no connection" in err
    code, out, err = hvs(*sim, "--base-url", f"http://me:{KEY}@{server.name}/v1")
    assert code != 0 and "HVS_API_KEY" in err and KEY not in out + err
    code, out, err = hvs(*sim)
    assert code != 0 and "base_url is empty" in err


@pytest.mark.parametrize("verb", [("sim",), ("up",), ("real", "--robot", "stretch")])
def test_short_forms_are_settings_in_the_order_given(verb: tuple[str, ...]) -> None:
    given = (*verb, "--policy-setting", "model=a", "--model", "7", "--base-url", "http://h/v1")
    args = build_parser().parse_args(list(given))
    assert dict(args.policy_setting) == {"model": "7", "base_url": "http://h/v1"}, "the last counts, and is a text"
    assert build_parser().parse_args(list(verb)).policy_setting == [], "nothing stays from the last command line"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--base-url", "http://h/v1"), "--base-url does not go with the policy 'signs'"),
        (("--policy", "random", "--base-url", "http://h/v1"), "its settings are seed"),
        (("--policy", "random", "--model", "m"), "give --policy server, torch or onnx"),
        (("--policy", "psychic", "--model", "m"), "no policy 'psychic'"),
    ],
)
def test_a_short_form_that_the_policy_does_not_have_is_refused(
    hvs: Hvs, scenes: Path, options: tuple[str, ...], reason: str
) -> None:
    code, _, err = hvs("sim", "--in-process", "--scenes", scenes, *options)
    assert code == 2 and reason in err and err.count("\n") == 1


def test_the_mock_server_as_a_process(hvs: Hvs, scenes: Path) -> None:
    command = [sys.executable, "-m", "hvs_ros.mock.model_server", "--port", "0", "--script", "submit(90,0)"]
    with subprocess.Popen(command, cwd=ROOT, env=os.environ, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().split('"')[3]
        code, out, _ = hvs(
            "sim", "--in-process", "--scenes", scenes, *SERVER, "--base-url", url, *SMALL, "--episodes", 1
        )
        process.send_signal(signal.SIGTERM)
        assert code == 0 and process.wait(10) == 0, out
        assert "turn 1: 1 pictures" in process.stdout.read()
