#!/usr/bin/env python3
"""How fast the benchmark runs: beside the published environment, beside what a model server can give, and in training.

    python benchmarks/bench.py --hstar DIR              all of it; DIR: a checkout of humanoid-vstar/hstar
    python benchmarks/bench.py --parts server gym       without the published environment
    python benchmarks/bench.py --work DIR               draws the scenes there, and uses them again the next time

    published   episodes a second with an instant policy, on PNG and JPEG scenes of 16 episodes each
    server      answers a second of a mock server at 50 ms an answer, 64 in flight, beside a bare load generator
    gym         steps a second of the Gymnasium environment, beside the engine's turns and bare views

The sides of a comparison run in turns on the same machine, so ratios mean something where figures do not. Nothing else
should be running.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import cv2
from bench_gym import compare_gym
from bench_published import compare_published
from bench_scenes import JPEG, drawn_scenes
from bench_server import IN_FLIGHT, compare_server


def main() -> int:
    """Measure, print, and return 1 if --strict and a target is missed."""
    options = _options()
    cores = os.cpu_count() or 1
    print(f"{cores} cores, OpenCV {cv2.__version__}, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as temporary:
        began = time.perf_counter()
        scenes = drawn_scenes(options.work or Path(temporary), options.scenes)
        print(f"{options.scenes} scenes drawn in {time.perf_counter() - began:.0f} s", flush=True)
        parts: dict[str, Callable[[], bool]] = {
            "published": lambda: compare_published(scenes, options.hstar),
            "server": lambda: compare_server(scenes[JPEG], options.at_once, options.searches),
            "gym": lambda: compare_gym(scenes[JPEG], cores),
        }
        met = all([parts[name]() for name in options.parts])
    print(f"\n{time.perf_counter() - began:.0f} s in all, load {os.getloadavg()[0]:.1f}")
    return int(options.strict and not met)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = ["published", "server", "gym"]
    add = parser.add_argument
    add("--parts", nargs="+", choices=names, default=names, metavar="PART", help=f"of {', '.join(names)}; all")
    add("--hstar", type=Path, metavar="DIR", help="checkout of the published environment")
    add("--work", type=Path, metavar="DIR", help="where scenes are drawn, and kept; else they are temporary")
    add("--scenes", type=int, default=2, help="drawn, of 16 episodes each (2)")
    add("--at-once", type=int, nargs="+", default=[0, 4], metavar="N", help="servers' pace; 0: all at once (0 4)")
    add("--searches", type=int, default=IN_FLIGHT, help=f"of ten turns, with a server ({IN_FLIGHT})")
    add("--strict", action="store_true", help="fail where a target is missed")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
