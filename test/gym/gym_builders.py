"""Scenes and environments of the tests: small, so that a step takes no time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import cv2
import gymnasium
import numpy as np

import hvs_ros.gym  # registers the environment
from hvs_ros.gym.environment import HumanoidSearchEnv

ID = hvs_ros.gym.ENVIRONMENT_ID
WIDTH, HEIGHT = 64, 36

DOOR = {"task": "Find the door.", "yaw": [90, 110], "pitch": [0, 10], "initial yaw": [0, 350], "level": [2, 1]}
PATH = {"task": "Which way leads to the café?", "yaw": [355, 5], "initial yaw": [180], "level": [3]}
SIGN = {"task": "Find the sign.", "yaw": [350, 10], "pitch": [0, 10], "initial yaw": [0, 350], "level": [0, 0]}


def write_scenes(folder: Path) -> Path:
    """Write a data set of two scenes: ``hall`` with three episodes, ``yard`` with two."""
    for seed, (name, items) in enumerate({"hall": [DOOR, PATH], "yard": [SIGN]}.items()):
        (folder / name).mkdir(parents=True)
        noise = np.random.default_rng(seed).integers(0, 256, (16, 32, 3), np.uint8)
        cv2.imwrite(str(folder / name / f"{name}.png"), cv2.resize(noise, (256, 128), interpolation=cv2.INTER_CUBIC))
        (folder / name / "annotation.json").write_text(json.dumps(items), encoding="utf-8")
    return folder


def make(scenes: Path, **settings: Any) -> HumanoidSearchEnv:
    """Return the bare environment with small views."""
    env = gymnasium.make(ID, scenes=str(scenes), **{"width": WIDTH, "height": HEIGHT, **settings}).unwrapped
    assert isinstance(env, HumanoidSearchEnv)
    return env


def said(action: str) -> str:
    """Return an answer in the format."""
    return f"<think>I look around.</think><answer>{action}</answer>"
