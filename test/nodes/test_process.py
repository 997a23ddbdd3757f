"""How a node's process starts and ends."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest
from node_launcher import Launcher, NodeProcess
from ros_graph import wait_until

Signals = signal.Signals


@pytest.fixture
def odd(start_node: Launcher, monkeypatch: pytest.MonkeyPatch) -> Launcher:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=":")
    return start_node


def ticking(odd: Launcher, fault: str = "") -> NodeProcess:
    process = odd("odd_node", fault=fault)
    wait_until(lambda: "tick" in process.output or not process.running, what="the first tick")
    return process


@pytest.mark.parametrize("number", [Signals.SIGINT, Signals.SIGTERM])
def test_a_signal_lets_it_finish_and_exit_with_0(odd: Launcher, number: Signals) -> None:
    process = ticking(odd)
    assert process.stop(number) == 0
    assert process.output.count("closing") == 1
    assert "Traceback" not in process.output


def test_signals_in_a_row_do_no_harm(odd: Launcher) -> None:
    process = ticking(odd)
    for _ in range(5):
        process.send(Signals.SIGINT)
        time.sleep(0.01)
    assert process.wait() == 0
    assert process.output.count("closing") == 1
    assert "Traceback" not in process.output


def test_callbacks_that_wait_for_a_thread_end_before_what_they_need_is_gone(odd: Launcher) -> None:
    process = ticking(odd, "busy")
    assert process.stop() == 0
    assert "never retrieved" not in process.output and "Traceback" not in process.output


def test_an_error_in_a_callback_is_logged_once_and_the_node_goes_on(odd: Launcher) -> None:
    process = odd("odd_node", fault="callback raises")
    wait_until(lambda: "tick 5" in process.output, what="the fifth tick")
    assert process.output.count("ValueError: the first tick") == 1
    assert process.stop() == 0


@pytest.mark.parametrize("fault", ["callback hangs", "close hangs"])
def test_what_hangs_cannot_keep_it_alive(odd: Launcher, fault: str) -> None:
    process = ticking(odd, fault)
    assert process.stop(limit_s=5.0) == 1
    assert "something hangs" in process.output


def test_what_hangs_and_lets_no_thread_run_cannot_keep_it_alive(odd: Launcher) -> None:
    assert ticking(odd, "destroy hangs").stop(limit_s=8.0) == 1


def test_a_known_obstacle_is_one_line(odd: Launcher) -> None:
    process = odd("odd_node", fault="cannot start")
    assert process.wait() == 1
    assert process.output.strip() == "[FATAL] [odd_node]: the cable is loose: plug it in"


def test_a_bug_at_the_start_keeps_its_traceback(odd: Launcher) -> None:
    process = odd("odd_node", fault="bug")
    assert process.wait() == 1
    assert "RuntimeError: a bug" in process.output
    assert "Traceback" in process.output


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--params-file", "/does/not/exist.yaml"], "/does/not/exist.yaml"),
        (["--nonsense"], "--nonsense"),
        (["--", "stray"], "unknown argument 'stray'"),
    ],
)
def test_a_command_line_that_is_not_understood_is_explained(odd: Launcher, arguments: list[str], reason: str) -> None:
    process = odd("odd_node", arguments=arguments)
    assert process.wait() == 1
    assert reason in process.output
    assert "Traceback" not in process.output
