"""Steps a second of the Gymnasium environment beside turns a second of the engine, and views alone; 1280x720."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import gymnasium
import numpy as np
from bench_scripts import ScriptedCrew, said

from hvs_ros.benchmark.dataset import open_dataset, plan_benchmark
from hvs_ros.benchmark.engine import BenchEngine, EngineSettings
from hvs_ros.benchmark.episodes import Episode
from hvs_ros.benchmark.run import Listener
from hvs_ros.benchmark.viewing import Viewing
from hvs_ros.gym import ENVIRONMENT_ID
from hvs_ros.panorama import TRAINING, open_panorama
from hvs_ros.policy.parse import parse
from hvs_ros.search.action import Rotate

TURNS = 40
EPISODES = 16
ROUNDS = 3
TARGET = 0.9
"""Part of bare views, and of the engine's turns, that one environment must reach; it draws a view with all cores."""


def compare_gym(scenes: Path, processes: int) -> bool:
    """Print how many views a second there are each way; return whether the environment keeps up."""
    scene = sorted(scenes.iterdir())[0]
    random = np.random.default_rng(0)
    answers = [said(f"rotate({random.integers(-90, 91)},{random.integers(-10, 11)})") for _ in range(TURNS)]
    planned = plan_benchmark(open_dataset(scene), seed=None, max_turns=TURNS)
    episodes = [replace(planned[n % len(planned)], episode_id=f"{n}") for n in range(EPISODES)]
    ways: dict[str, Callable[[], float]] = {
        "views alone, one after the other": lambda: _bare(episodes[0], answers),
        "one environment": lambda: _environment(scene, answers),
        f"{processes} environments in processes of their own": lambda: _vector(scene, answers, processes),
        "the engine": lambda: _engine(episodes, answers),
    }
    best = dict.fromkeys(ways, 0.0)
    for _ in range(ROUNDS):
        for name, measure in ways.items():
            best[name] = max(best[name], measure())
    print("\nTurns a second, instant policy, 1280x720, best of", ROUNDS)
    for name, turns in best.items():
        print(f"  {name:45}{turns:8.0f}")
    bare, one, many, engine = best.values()
    met = min(one / bare, one / engine) >= TARGET
    verdict = "met" if met else "MISSED"
    print(f"  one environment / bare views {one / bare:.2f}, / engine {one / engine:.2f} ({TARGET:g}: {verdict})")
    print(f"  environments in processes / engine {many / engine:.2f}")
    return met


def _bare(episode: Episode, answers: Sequence[str]) -> float:
    sampler = Viewing(TRAINING).sampler(open_panorama(episode.scene.panorama_path))
    direction = episode.start
    goals = []
    for answer in answers:
        action = parse(answer).action
        assert isinstance(action, Rotate)
        direction = direction.turned(action.dyaw_deg, action.dpitch_deg)
        goals.append(direction)
    began = time.perf_counter()
    for goal in goals:
        sampler.render(goal.yaw_deg, goal.pitch_deg)
    return len(goals) / (time.perf_counter() - began)


def _environment(scene: Path, answers: Sequence[str]) -> float:
    env = gymnasium.make(ENVIRONMENT_ID, scenes=str(scene), max_turns=TURNS).unwrapped
    seconds = 0.0
    for _ in range(2):  # The second time what is kept is at hand, as everywhere here.
        env.reset(seed=0)
        began = time.perf_counter()
        for answer in answers:
            env.step(answer)
        seconds = time.perf_counter() - began
    env.close()
    return len(answers) / seconds


def _vector(scene: Path, answers: Sequence[str], processes: int) -> float:
    envs = gymnasium.make_vec(
        ENVIRONMENT_ID, num_envs=processes, vectorization_mode="async", scenes=str(scene), max_turns=TURNS
    )
    seconds = 0.0
    for _ in range(2):
        envs.reset(seed=0)
        began = time.perf_counter()
        for answer in answers:
            envs.step([answer] * processes)
        seconds = time.perf_counter() - began
    envs.close()
    return processes * len(answers) / seconds


def _engine(episodes: Sequence[Episode], answers: Sequence[str]) -> float:
    crew = ScriptedCrew({episode.task.instruction: answers for episode in episodes}, EPISODES)
    engine = BenchEngine(episodes, crew, Viewing(TRAINING), None, Listener(), EngineSettings(EPISODES))
    began = time.perf_counter()
    report = engine.run()
    return sum(len(result.record.turns) for result in report.results) / (time.perf_counter() - began)
