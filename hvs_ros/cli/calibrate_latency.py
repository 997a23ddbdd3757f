"""``hvs calibrate-latency``: by how much the stamps of a robot's camera are late, for ``latency`` in its YAML.

The head turns back and forth a few times; the latency is the one with which the pictures move as the head does.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from hvs_ros.cli.arguments import positive
from hvs_ros.cli.error import VerbError
from hvs_ros.cli.graph import require_ros
from hvs_ros.cli.head_specs import head_specs
from hvs_ros.cli.options import add_graph
from hvs_ros.cli.robot_graph import robot_graph
from hvs_ros.cli.robot_options import add_confirm, add_robot, add_running, add_wait, load
from hvs_ros.cli.robot_words import moving_text, robot_line

if TYPE_CHECKING:
    from hvs_ros.cli.robot_graph import RobotGraph
    from hvs_ros.neck.latency import LatencyEstimate
    from hvs_ros.neck.robot import Robot

NAME = "calibrate-latency"
HELP = "measure by how much the stamps of a robot's camera are late, by turning its head back and forth"

SWEEPS = 3
NOISE_S = 0.005
"""Smaller differences are of no account, whatever the measurement says of itself."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_robot(parser)
    add_confirm(parser)
    add_running(parser)
    parser.add_argument(
        "--sweeps", type=positive, default=SWEEPS, metavar="N", help=f"to the left and right (default {SWEEPS})"
    )
    add_wait(parser)
    add_graph(parser, log_level="warn")


def run(args: argparse.Namespace) -> int:
    """Turn the head, and print the latency."""
    require_ros()
    robot = load(args)
    specs = [] if args.running else head_specs(args, robot)
    _tell(robot_line(robot, twin=args.twin))
    if not args.twin:
        moving = moving_text(robot, torso=False, base=False)
        _tell(f"{moving} will move by about 15 degrees to each side; keep clear, the e-stop topic is head/e_stop")
        if not (args.running or args.confirm or _agreed()):
            _tell("nothing was moved: --confirm was not given")
            return 0
    with robot_graph(args, "hvs_calibrate_latency", specs, searcher=False, say=_tell) as graph:
        estimate = _measure(args, robot, graph)
    for line in conclusion(robot, estimate):
        _tell(line)
    return 0


def conclusion(robot: Robot, estimate: LatencyEstimate) -> list[str]:
    """Return what the measurement means for a robot's YAML, line by line."""
    seconds = max(0.0, round(estimate.latency, 3))
    lines = [
        f"stamps are {estimate.latency:.3f} s ± {estimate.uncertainty:.3f} s late (correlation"
        f" {estimate.correlation:.2f}, {estimate.pictures} pairs of pictures)",
    ]
    if estimate.latency < -max(estimate.uncertainty, NOISE_S):
        lines.append("that is early: the clocks of camera and joint states differ; synchronise them (chrony, PTP)")
    now = robot.camera.latency
    if abs(seconds - now) <= max(estimate.uncertainty, NOISE_S):
        lines.append(f"{robot.name}.yaml says {now:g} s, which is right")
    else:
        lines.append(f"{robot.name}.yaml says {now:g} s; under camera: it should say")
        lines.append(f"    latency: {seconds:.3f}")
    return lines


def _measure(args: argparse.Namespace, robot: Robot, graph: RobotGraph) -> LatencyEstimate:
    from hvs_ros.neck.latency import LatencyError, estimate_latency
    from hvs_ros.neck.limits import GazeLimits
    from hvs_ros.neck.sweeps import VELOCITY, plan_sweeps
    from hvs_ros.nodes.latency_probe import ProbeError, latency_probe
    from hvs_ros.search.episode import SearchFailure

    able = graph.capabilities
    limits = GazeLimits(able.yaw_min, able.yaw_max, able.pitch_min, able.pitch_max)
    try:
        with latency_probe(graph.node, robot.camera) as probe:
            _tell(f"{args.sweeps} times to the left and right")
            probe.sweep(plan_sweeps(limits, args.sweeps), VELOCITY)
            return estimate_latency(*probe.recording())
    except (ProbeError, LatencyError, SearchFailure) as error:
        raise VerbError(graph.trouble() or str(error)) from error


def _agreed() -> bool:
    if not sys.stdin.isatty():
        return False
    try:
        return input("hvs calibrate-latency: may it move? [y/n] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def _tell(text: str) -> None:
    print(f"hvs calibrate-latency: {text}" if not text.startswith("[") else text, flush=True)
