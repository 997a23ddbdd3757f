"""Humanoid visual search as a Gymnasium environment, to train in: ``hvs_ros/HumanoidSearch-v0``.

    import gymnasium
    import hvs_ros.gym                                                        # registers it

    env = gymnasium.make("hvs_ros/HumanoidSearch-v0", scenes="DIR")
    env = gymnasium.make("hvs_ros.gym:hvs_ros/HumanoidSearch-v0", scenes="DIR")      # imports hvs_ros.gym by itself

Gymnasium knows an environment when it has been registered; since its version 1.0 it no longer looks for entry points.
The environment's own modules are loaded when it is made.
"""

from __future__ import annotations

import importlib

ENVIRONMENT_ID = "hvs_ros/HumanoidSearch-v0"


def register_envs() -> None:
    """Tell Gymnasium about the environment; importing this package has done so.

    Raises:
        ImportError: Gymnasium is not installed.
    """
    try:
        registration = importlib.import_module("gymnasium.envs.registration")
    except ImportError as error:
        raise ImportError("hvs_ros.gym needs gymnasium: pip install -e '.[gym]'") from error
    if ENVIRONMENT_ID not in registration.registry:
        registration.register(ENVIRONMENT_ID, entry_point="hvs_ros.gym.environment:HumanoidSearchEnv")


register_envs()
