"""Episodes a second with a policy that needs no time: the benchmark's engine beside the published environment.

Both sides get the same answers to the same episodes of the same scenes, 1920x1080, with the published sampling and
rule, each with a thread a core, and must agree on every success. The engine starts with no table and no picture at
hand.
"""

from __future__ import annotations

import itertools
import os
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

from bench_hstar import Published
from bench_scenes import JPEG, PNG
from bench_scripts import ScriptedCrew, looking_around

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


def compare_published(scenes: dict[str, Path], checkout: Path | None) -> bool:
    """Print both sides' figures for each form of the scenes; return whether the targets are met."""
    print(f"\nEpisodes a second, instant policy, {ROTATIONS + 1} answers an episode, 1920x1080")
    if checkout is None:
        print("  published environment: left out, name a checkout with --hstar DIR")
    met = True
    for form, target in TARGETS.items():
        sides = _Sides(scenes[form], checkout)
        sides.run()
        line = f"  {form}, {len(sides.episodes)} episodes: engine {sides.ours:.1f}"
        if checkout is not None:
            reached = sides.ours >= target * sides.theirs
            met = met and reached
            line += f", published {sides.theirs:.3f}, ratio {sides.ours / sides.theirs:.1f}"
            line += f" ({target:g}: {'met' if reached else 'MISSED'}); CPU {sides.cpu_ms[0]:.0f} ms and"
            line += f" {sides.cpu_ms[1]:.0f} ms an episode"
        print(line, flush=True)
    return met


class _Sides:
    """Both sides on one folder of scenes. They run in turns: the engine, the published environment on a scene, ..."""

    def __init__(self, scenes: Path, checkout: Path | None) -> None:
        self.episodes = plan_benchmark(open_dataset(scenes), seed=None)
        self._scripts = looking_around(self.episodes, ROTATIONS)
        self._published = None if checkout is None else Published(checkout, scenes, os.cpu_count() or 1)
        self._seconds: list[float] = []
        self._cpu_s: list[float] = []
        self._their_seconds, self._their_cpu_s = 0.0, 0.0
        self._successes: dict[str, bool] = {}

    @property
    def ours(self) -> float:
        """Episodes a second of the engine, median of its runs."""
        return len(self.episodes) / statistics.median(self._seconds)

    @property
    def theirs(self) -> float:
        """Episodes a second of the published environment."""
        return len(self.episodes) / self._their_seconds

    @property
    def cpu_ms(self) -> tuple[float, float]:
        """Milliseconds of processor time an episode, of the engine and of the published environment."""
        both = statistics.median(self._cpu_s), self._their_cpu_s
        return both[0] / len(self.episodes) * 1e3, both[1] / len(self.episodes) * 1e3

    def run(self) -> None:
        """Run both.

        Raises:
            SystemExit: they do not agree.
        """
        self._run_engine()
        for _, group in itertools.groupby(self.episodes, key=lambda episode: episode.scene.name):
            if self._published is not None:
                self._run_published(self._published, list(group))
            self._run_engine()
        if len(set(self._successes.values())) != 2:
            raise SystemExit("all episodes end alike, so that the two agree says nothing")

    def _run_engine(self) -> None:
        view._SHARED_TABLES.clear()  # Each time as in a new process.
        crew, settings = ScriptedCrew(self._scripts, IN_FLIGHT), EngineSettings(IN_FLIGHT)
        engine = BenchEngine(self.episodes, crew, Viewing(EVALUATION, "hstar"), None, Listener(), settings)
        began, cpu = time.perf_counter(), time.process_time()
        report = engine.run()
        self._seconds.append(time.perf_counter() - began)
        self._cpu_s.append(time.process_time() - cpu)
        self._successes = {result.episode_id: bool(result.success(ScoringMode.REFERENCE)) for result in report.results}
        assert report.complete

    def _run_published(self, published: Published, episodes: Sequence[Episode]) -> None:
        began, cpu = time.perf_counter(), time.process_time()
        successes = published.run(episodes, self._scripts)
        self._their_seconds += time.perf_counter() - began
        self._their_cpu_s += time.process_time() - cpu
        ids = [episode.episode_id for episode in episodes]
        differing = [name for name, success in zip(ids, successes, strict=True) if success != self._successes[name]]
        if differing:
            raise SystemExit(f"the two do not agree on {len(differing)} episodes: {', '.join(differing[:5])}")
