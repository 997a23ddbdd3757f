"""Episodes a second with a policy that needs no time: the benchmark's engine beside the published environment.

Both sides get the same answers to the same episodes of the same scenes, 1920x1080, with the published sampling and
rule, each with a thread a core, and must agree on every success. The engine starts with no table and no picture at
hand.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

from bench_hstar import Published
from bench_scenes import JPEG, PNG
from bench_scripts import ScriptedCrew, Scripts, looking_around

from hvs_ros.benchmark.dataset import open_dataset, plan_benchmark
from hvs_ros.benchmark.engine import BenchEngine, EngineSettings
from hvs_ros.benchmark.episodes import Episode
from hvs_ros.benchmark.run import Listener
from hvs_ros.benchmark.viewing import Viewing
from hvs_ros.panorama import EVALUATION, view
from hvs_ros.search.scoring import ScoringMode

TARGETS = {PNG: 30.0, JPEG: 10.0}
ROTATIONS = 2
IN_FLIGHT = 16
REPEATS = 3


def compare_published(scenes: dict[str, Path], checkout: Path | None) -> bool:
    """Print both sides' figures for each form of the scenes; return whether the targets are met."""
    print(f"\nEpisodes a second, instant policy, {ROTATIONS + 1} answers an episode, 1920x1080")
    if checkout is None:
        print("  published environment: left out, name a checkout with --hstar DIR")
    met = True
    for form, target in TARGETS.items():
        episodes = plan_benchmark(open_dataset(scenes[form]), seed=None)
        scripts = looking_around(episodes, ROTATIONS)
        ours, successes = _ours(episodes, scripts)
        line = f"  {form}, {len(episodes)} episodes: engine {ours:.1f}"
        if checkout is not None:
            theirs = _theirs(episodes, scripts, checkout, scenes[form], successes)
            reached = ours >= target * theirs
            met = met and reached
            line += f", published {theirs:.3f}, ratio {ours / theirs:.1f}"
            line += f" (target {target:g}: {'met' if reached else 'MISSED'})"
        print(line, flush=True)
    return met


def _ours(episodes: Sequence[Episode], scripts: Scripts) -> tuple[float, list[bool]]:
    seconds, successes = [], list[bool]()
    for _ in range(REPEATS):
        view._SHARED_TABLES.clear()  # Each time as in a new process.
        crew = ScriptedCrew(scripts, IN_FLIGHT)
        engine = BenchEngine(episodes, crew, Viewing(EVALUATION, "hstar"), None, Listener(), EngineSettings(IN_FLIGHT))
        began = time.perf_counter()
        report = engine.run()
        seconds.append(time.perf_counter() - began)
        successes = [bool(result.success(ScoringMode.REFERENCE)) for result in report.results]
        assert report.complete
    return len(episodes) / statistics.median(seconds), successes


def _theirs(episodes: Sequence[Episode], scripts: Scripts, checkout: Path, scenes: Path, expected: list[bool]) -> float:
    published = Published(checkout, scenes, os.cpu_count() or 1)
    began = time.perf_counter()
    successes = published.run(episodes, scripts)
    seconds = time.perf_counter() - began
    differing = [e.episode_id for e, a, b in zip(episodes, successes, expected, strict=True) if a != b]
    if differing:
        raise SystemExit(f"the two do not agree on {len(differing)} episodes: {', '.join(differing[:5])}")
    if len(set(successes)) != 2:
        raise SystemExit("all episodes end alike, so that the two agree says nothing")
    return len(episodes) / seconds
