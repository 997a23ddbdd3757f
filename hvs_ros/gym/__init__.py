"""Humanoid visual search as a Gymnasium environment, to train in: ``hvs_ros/HumanoidSearch-v0``.

    env = gymnasium.make("hvs_ros/HumanoidSearch-v0", scenes="DIR")

Gymnasium finds the id by the entry point ``gymnasium.envs`` whenever it is imported, so nothing is imported here: the
environment itself is loaded when it is made.
"""

from __future__ import annotations

import importlib

ENVIRONMENT_ID = "hvs_ros/HumanoidSearch-v0"


def register_envs() -> None:
    """Tell Gymnasium about the environment; called by Gymnasium, or by hand where the package is not installed."""
    registration = importlib.import_module("gymnasium.envs.registration")
    if ENVIRONMENT_ID not in registration.registry:
        registration.register(ENVIRONMENT_ID, entry_point="hvs_ros.gym.environment:HumanoidSearchEnv")
