"""A policy that turns at random and submits at random: the floor that every other one is measured against."""

from __future__ import annotations

import random

from hvs_ros.policy.contract import PolicyError
from hvs_ros.search.action import Rotate, Submit
from hvs_ros.search.decision import Decision
from hvs_ros.search.task import Task
from hvs_ros.search.view import Observation


class RandomPolicy:
    """Turns a few times at random, then submits where it looks.

    The same seed, task and start give the same search, in whatever order searches are run.

    Args:
        seed: of the random numbers.
        views: how many views it takes before it submits, if the turns allow.

    Raises:
        PolicyError: fewer than one view.
    """

    def __init__(self, seed: int = 0, views: int = 4) -> None:
        if views < 1:
            raise PolicyError(f"policy 'random': views is {views}; give at least 1")
        self._seed, self._views = seed, views
        self._numbers = random.Random(seed)
        self._instruction = ""

    def start(self, task: Task) -> None:
        """Begin a new search and forget the last one."""
        self._instruction = task.instruction

    def decide(self, observation: Observation) -> Decision:
        """Turn at random, or submit where it looks."""
        if observation.turn == 1:
            self._numbers = random.Random(f"{self._seed}/{self._instruction}/{observation.direction}")
        gaze = observation.direction
        if observation.turns_left == 1 or observation.turn >= self._views:
            action: Rotate | Submit = Submit(round(gaze.yaw_deg, 1), round(gaze.pitch_deg, 1))
            return Decision(action, thought="I submit where I look: a guess.", raw=str(action), guess=True)
        goal = self._numbers.uniform(-25.0, 15.0)
        action = Rotate(float(self._numbers.randint(-180, 179)), round(goal - gaze.pitch_deg, 1))
        return Decision(action, thought="I turn at random.", raw=str(action))

    def close(self) -> None:
        """Nothing to release."""
