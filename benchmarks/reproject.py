#!/usr/bin/env python3
"""How long a robot's picture takes to be brought to the policy's camera: maps of a new roll, and pictures after that.

    python benchmarks/reproject.py                 1280x720 to 1920x1080
    python benchmarks/reproject.py --strict        fail if maps take more than 120 ms or a picture more than 10

A head with a roll of its own needs new maps wherever it comes to rest; one of two axes needs them once. The best of
several times counts beside the median, so that other work on the machine disturbs little.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
import time
from collections.abc import Callable

import cv2
import numpy as np

from hvs_ros.panorama import EVALUATION, Camera
from hvs_ros.panorama.reproject import Reprojector

BUILD_TARGET_MS = 120.0
VIEW_TARGET_MS = 10.0
K = (910.0, 0.0, 645.0, 0.0, 912.0, 357.0, 0.0, 0.0, 1.0)
CAMERAS = {
    "pinhole": Camera(1280, 720, 70.0),
    "plumb_bob": Camera.from_camera_info(1280, 720, K, (-0.28, 0.07, 1e-3, -2e-3, 0.0)),
    "equidistant": Camera.from_camera_info(
        1280, 720, (500.0, 0.0, 640.0, 0.0, 500.0, 360.0, 0.0, 0.0, 1.0), (-0.02, 3e-3, 0.0, 0.0), "equidistant"
    ),
}


def timed(action: Callable[[], object]) -> float:
    """Return how many milliseconds an action takes."""
    began = time.perf_counter()
    action()
    return 1e3 * (time.perf_counter() - began)


def main() -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20, help="maps, and pictures, of each camera (default 20)")
    parser.add_argument("--strict", action="store_true", help="fail where a median misses its target")
    arguments = parser.parse_args()
    target = EVALUATION
    print(f"OpenCV {cv2.__version__}, numpy {np.__version__}, {os.cpu_count()} cores, {arguments.rounds} rounds")
    print(f"1280x720 to {target.width}x{target.height}, milliseconds: best, median")
    met = True
    for name, camera in CAMERAS.items():
        picture = np.random.default_rng(1).integers(0, 256, (camera.height, camera.width, 3), np.uint8)
        reprojector = Reprojector(camera, target)
        reprojector.view(picture)
        # A roll that has not been seen before; the picture that is made with its maps is taken off again.
        views = [timed(lambda r=reprojector, p=picture: r.view(p)) for _ in range(arguments.rounds)]
        fresh = [
            timed(lambda r=reprojector, p=picture, n=n: r.view(p, math.radians(1 + n)))
            for n in range(arguments.rounds)
        ]
        builds = [value - statistics.median(views) for value in fresh]
        for what, values, limit in (("maps", builds, BUILD_TARGET_MS), ("picture", views, VIEW_TARGET_MS)):
            median = statistics.median(values)
            met &= median <= limit
            verdict = f"at most {limit:g} {'met' if median <= limit else 'MISSED'}"
            print(f"{name:14}{what:10}{min(values):8.1f}{median:8.1f}   {verdict}")
    return int(arguments.strict and not met)


if __name__ == "__main__":
    sys.exit(main())
