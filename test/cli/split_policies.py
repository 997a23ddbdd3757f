"""A policy for tests that notices where it runs, by its address ``split_policies:Split``."""

from __future__ import annotations

import sys

from hvs_ros.policy.random_walk import RandomPolicy
from hvs_ros.search.action import Rotate
from hvs_ros.search.decision import Decision
from hvs_ros.search.view import Observation


class Split(RandomPolicy):
    """Turns elsewhere in its second turn when it is in a node."""

    def decide(self, observation: Observation) -> Decision:
        if observation.turn == 2 and "rclpy" in sys.modules:
            return Decision(Rotate(1.0, 2.0), raw="I am in a node")
        return super().decide(observation)
