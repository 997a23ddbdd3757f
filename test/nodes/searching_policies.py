"""Policies for tests that must look at what they are given."""

from __future__ import annotations

from hvs_ros.search.action import Rotate, Submit
from hvs_ros.search.decision import Decision
from hvs_ros.search.task import Task
from hvs_ros.search.view import Observation


class SeesYaw:
    """Turns four times by 77 degrees, and submits the yaw that the mock head's colour tells."""

    def start(self, task: Task) -> None:
        pass

    def decide(self, observation: Observation) -> Decision:
        blue, green, _ = (int(value) for value in observation.image[0, 0])
        if observation.turn < 5:
            return Decision(Rotate(77, 0))
        return Decision(Submit(blue * 2 + green / 100, 0))

    def close(self) -> None:
        pass
