"""A model on the mock server, asked as a search asks it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from hvs_ros.angles import Direction
from hvs_ros.mock.model_server import MockModelServer
from hvs_ros.policy.server import ServerPolicy
from hvs_ros.search.decision import Decision
from hvs_ros.search.task import Task
from hvs_ros.search.view import Observation

SIZE = (160, 90)
QUICK = {"view_size": "160x90", "retry_wait": 0.01, "timeout": 20.0}
"""A view that is soon encoded, and waits that a test has time for."""


def view(turn: int, left: int = 10, size: tuple[int, int] = SIZE) -> Observation:
    """A picture that differs from turn to turn."""
    image = np.full((size[1], size[0], 3), (turn * 20, 0, 255 - turn * 20), np.uint8)
    return Observation(image, Direction(float(turn), 0.0), 100.0, turn, left)


def policy(*servers: MockModelServer, **settings: Any) -> ServerPolicy:
    """A policy that asks these servers."""
    given = {"base_url": " ".join(server.base_url for server in servers), **QUICK, **settings}
    return ServerPolicy(**given)


def search(policy: ServerPolicy, turns: int = 1, size: tuple[int, int] = SIZE) -> list[Decision]:
    """A search of so many turns."""
    policy.start(Task("find the exit sign"))
    return [policy.decide(view(turn, size=size)) for turn in range(1, turns + 1)]


def wait_until(condition: Callable[[], object], what: str, limit_s: float = 20.0) -> None:
    """Wait for something that happens in another thread."""
    end = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end, f"waited {limit_s:g} s in vain for {what}"
        time.sleep(0.005)
