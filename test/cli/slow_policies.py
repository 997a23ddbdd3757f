"""Policies for tests, by their address ``slow_policies:Name``."""

from __future__ import annotations

import os
import time

from hvs_ros.policy.contract import PolicyUnavailableError
from hvs_ros.search.action import Rotate, Submit
from hvs_ros.search.decision import Decision
from hvs_ros.search.task import Task
from hvs_ros.search.view import Observation


class Slow:
    """Turns right in every turn and submits in the last, thinking for a while each time."""

    def __init__(self, seconds: float = 0.5) -> None:
        self._seconds = seconds

    def start(self, task: Task) -> None:
        """Nothing to do."""

    def decide(self, observation: Observation) -> Decision:
        time.sleep(self._seconds)
        gaze = observation.direction
        if observation.turns_left == 1:
            return Decision(Submit(gaze.yaw_deg, gaze.pitch_deg), "here")
        return Decision(Rotate(45.0, 0.0), "to the right")

    def close(self) -> None:
        """Nothing to do."""


class Missing(Slow):
    """Lacks what it needs."""

    def __init__(self) -> None:
        raise PolicyUnavailableError("the package oracle is not installed: pip install oracle")


class Raising(Slow):
    """Raises."""

    def decide(self, observation: Observation) -> Decision:
        raise ZeroDivisionError("a bug in a policy")


class Leaving(Slow):
    """Ends the whole process."""

    def decide(self, observation: Observation) -> Decision:
        os._exit(7)
