from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest

from hvs_ros.policy.engine import Canceled
from hvs_ros.policy.onnx_model.interrupt import Interrupter

RUNTIME: Any = SimpleNamespace(RunOptions=lambda: SimpleNamespace(terminate=False))


def run(options: SimpleNamespace, limit_s: float = 20.0) -> None:
    """Behaves as a long run of a graph."""
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        if options.terminate:
            raise RuntimeError("Exiting due to terminate flag being set to true.")
        time.sleep(0.001)


def test_a_run_ends_when_nobody_waits_any_more() -> None:
    interrupter = Interrupter(RUNTIME)
    for _ in range(2):
        canceled = threading.Event()
        began = time.monotonic()
        timer = threading.Timer(0.05, canceled.set)
        timer.start()
        with pytest.raises(Canceled), interrupter.watching(canceled.is_set) as options:
            run(options)
        assert time.monotonic() - began < 10.0
        timer.join()
    with interrupter.watching(lambda: False) as options:  # the next run is let alone
        run(options, 0.1)
    interrupter.close()


def test_an_error_of_the_run_stays_what_it_is() -> None:
    interrupter = Interrupter(RUNTIME)
    with pytest.raises(ValueError, match="something else"), interrupter.watching(lambda: False):
        raise ValueError("something else")
    with pytest.raises(Canceled), interrupter.watching(lambda: True):
        pass  # ended by itself, and for nobody
    interrupter.close()
    interrupter.close()
