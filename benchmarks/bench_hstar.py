"""The published environment, out of a checkout of it (humanoid-vstar/hstar), driven with scripted answers.

Its packages import whole training stacks when they are imported themselves, so they are stepped over: the module of the
environment is imported from its place, and the wrapper of a reward that its default settings switch off, which needs
several of these stacks, is left away. Everything else is its own code.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from types import ModuleType
from typing import Any

from bench_scripts import Scripts

from hvs_ros.benchmark.episodes import Episode

_PACKAGES = ("vagen", "vagen.env", "vagen.env.base", "vagen.env.hstar", "vagen.env.utils")
_WRAPPER = "vagen.env.utils.state_reward_text_utils"


class Published:
    """Environments on a folder of scenes.

    Args:
        checkout: of the published repository.
        scenes: folder of scenes.
        count: environments, each stepped by a thread of its own, as its service does.

    Raises:
        SystemExit: the checkout does not hold it.
    """

    def __init__(self, checkout: Path, scenes: Path, count: int) -> None:
        environment, config = _modules(checkout)
        self._pool = SimpleQueue[Any]()
        for _ in range(count):
            env = environment.HstarEnv(config.HstarEnvConfig(data_path=str(scenes), resolution=1080))
            self._pool.put(env)
        self._count = count
        self._tolerance = env.config.yaw_tolerance
        self._places = {
            (str(env.img_buf[item["image_path_id"]]), item["task"], float(item["start_yaw"])): place
            for place, item in enumerate(env.dataset)
        }

    def run(self, episodes: Sequence[Episode], scripts: Scripts) -> list[bool]:
        """Return which episodes succeed."""
        with ThreadPoolExecutor(self._count) as threads:
            return list(threads.map(lambda episode: self._success(episode, scripts), episodes))

    def _success(self, episode: Episode, scripts: Scripts) -> bool:
        env = self._pool.get()
        try:
            # A path leaves its tolerance behind for whatever comes next, which would depend on the order.
            env.config.yaw_tolerance = self._tolerance
            instruction = episode.task.instruction
            env.reset(seed=self._places[str(episode.scene.panorama_path), instruction, episode.start.yaw_deg])
            for answer in scripts[instruction]:
                _, _, done, info = env.step(answer)
                if done:
                    return bool(info["task_success"])
            return False
        finally:
            self._pool.put(env)


def _modules(checkout: Path) -> tuple[Any, Any]:
    if not (checkout / "vagen" / "env" / "hstar" / "env.py").is_file():
        raise SystemExit(f"{checkout}: no vagen/env/hstar/env.py in it; is it a checkout of humanoid-vstar/hstar?")
    for name in _PACKAGES:
        package = ModuleType(name)
        package.__path__ = [str(checkout.joinpath(*name.split(".")))]
        sys.modules[name] = package
    wrapper: Any = ModuleType(_WRAPPER)
    wrapper.env_state_reward_wrapper = lambda step: step
    sys.modules[_WRAPPER] = wrapper
    return importlib.import_module("vagen.env.hstar.env"), importlib.import_module("vagen.env.hstar.env_config")
