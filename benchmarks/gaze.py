#!/usr/bin/env python3
"""How long the joint angles of a direction take to find, and how exact they are, for every robot whose URDF is here.

    python benchmarks/gaze.py                 the neck alone, and neck and torso
    python benchmarks/gaze.py --robot icub --count 5000

Reachable: random joint angles all over their range (a third of them with some joints at their stops) say which way to
look, and the search starts at other random ones; the error is what is left. Any: directions all over the sphere, most
of them out of reach of a neck. Times are of the processor, in milliseconds.
"""

from __future__ import annotations

import argparse
import math
import sys
import time

import numpy as np

from hvs_ros.neck.kinematics import GazeKinematics
from hvs_ros.neck.robot import RobotError
from hvs_ros.neck.robot_description import read_urdf
from hvs_ros.neck.robot_file import load_robot, robot_names
from hvs_ros.neck.solver import GazeSolver


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robot", help="one only")
    parser.add_argument("--count", type=int, default=2000, help="directions of each kind")
    options = parser.parse_args()
    print(f"{'robot':<12} {'moves':<11} {'made':>6}  {'reachable: ms median   p99  worst':<34} worst error", end="")
    print("    any: ms median   p99  worst   reached")
    for name in [options.robot] if options.robot else robot_names():
        robot = load_robot(name)
        if not robot.description.file:
            continue
        try:
            kinematics = GazeKinematics(read_urdf(robot.description), robot)
        except RobotError as error:
            print(f"{name:<12} {error}")
            continue
        for torso in (False, True) if robot.torso else (False,):
            _measure(name, kinematics, torso, options.count)
    return 0


def _measure(name: str, kinematics: GazeKinematics, torso: bool, count: int) -> None:
    began = time.process_time()
    solver = GazeSolver(kinematics, torso=torso)
    made = time.process_time() - began
    rng = np.random.default_rng(1)
    reachable, anywhere, errors, reached = [], [], [], 0
    for _ in range(count):
        pose, now = _pose(solver, rng), _pose(solver, rng)
        target = kinematics.gaze(pose)
        began = time.process_time()
        solution = solver.solve(target.yaw, target.pitch, now)
        reachable.append(1e3 * (time.process_time() - began))
        errors.append(math.degrees(solution.error))
        yaw, pitch = rng.uniform(-math.pi, math.pi), math.asin(rng.uniform(-1.0, 1.0))
        began = time.process_time()
        reached += solver.solve(yaw, pitch, now).reached
        anywhere.append(1e3 * (time.process_time() - began))
    moves = "neck, torso" if torso else "neck"
    print(f"{name:<12} {moves:<11} {made:5.2f}s  {_times(reachable)} {max(errors):11.5f}°", end="")
    print(f"{_times(anywhere)}   {100 * reached / count:5.1f} %")


def _times(values: list[float]) -> str:
    return f"{np.median(values):21.2f} {np.percentile(values, 99):5.2f} {max(values):6.2f}"


def _pose(solver: GazeSolver, rng: np.random.Generator) -> tuple[float, ...]:
    """Return random joint angles, those that are not moved at neutral."""
    kinematics = solver.kinematics
    at_stops = rng.random() < 1 / 3
    pose = list(kinematics.neutral)
    for index in solver.moved:
        limit = kinematics.limits[index]
        lower, upper = (-math.pi, math.pi) if limit.continuous else (limit.lower, limit.upper)
        pose[index] = float(rng.uniform(lower, upper))
        if at_stops and rng.random() < 0.4:
            pose[index] = float(rng.choice((lower, upper)))
    return tuple(pose)


if __name__ == "__main__":
    sys.exit(main())
