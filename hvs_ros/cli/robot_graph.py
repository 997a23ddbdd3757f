"""Brings up a robot's head, or its twin, and waits until it can look; what it waits for is said by name."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hvs_ros.cli.error import VerbError
from hvs_ros.cli.graph import claimed, enter_domain

if TYPE_CHECKING:
    from rclpy.node import Node

    from hvs_ros.bringup import Bringup, NodeSpec
    from hvs_ros.neck.robot import Robot
    from hvs_ros.panorama.camera import Camera

Say = Callable[[str], None]

CAMERA_INFO_S = 2.0


@dataclass(frozen=True)
class RobotGraph:
    """A head that is ready.

    Attributes:
        node: of this process, spun.
        nodes: the processes; None: somebody else's.
        capabilities: hvs_interfaces/HeadCapabilities.
    """

    node: Node
    nodes: Bringup | None
    capabilities: Any

    def camera(self, robot: Robot) -> Camera | None:
        """Return the robot's own camera, by its calibration; None: there is none, or it makes no sense."""
        from hvs_ros.nodes.camera_info import published_camera

        return published_camera(self.node, robot.camera.info, CAMERA_INFO_S)

    def trouble(self) -> str:
        """Say which process has ended; empty: none."""
        return "" if self.nodes is None else self.nodes.trouble()


@contextmanager
def robot_graph(
    args: argparse.Namespace, name: str, specs: Sequence[NodeSpec], *, searcher: bool, say: Say
) -> Iterator[RobotGraph]:
    """Start the nodes, give them to the block when they are ready, and end them after it.

    Args:
        args: the command line; ``twin``, ``wait`` and the options of every graph.
        name: of this process's node.
        specs: the nodes; none: they run already.
        searcher: one of them searches, and is waited for.
        say: is told what is waited for, and what the nodes print.

    Raises:
        VerbError: another system is there, or this one does not get ready.
    """
    # A robot's drivers may run on another machine, a twin's nodes never do.
    local = args.twin and bool(specs)
    domain = enter_domain(args.domain, local=local)
    # Fast DDS reads its environment when rclpy is initialised: after this.
    from hvs_ros.bringup import Bringup
    from hvs_ros.nodes.benchmark_graph import GraphError, refuse_crowd
    from hvs_ros.nodes.head_watch import HeadNotReadyError, HeadWatch
    from hvs_ros.nodes.spinning import spinning_node

    try:
        with spinning_node(name, args.namespace) as node:
            if not specs:
                watch = HeadWatch(node, searcher=searcher)
                yield RobotGraph(node, None, watch.wait(args.wait, say))
                return
            with claimed(domain, args.namespace):
                refuse_crowd(node)
                with Bringup(
                    specs, log_level=args.log_level, on_line=lambda who, line: say(f"[{who}] {line}"), local=local
                ) as nodes:
                    watch = HeadWatch(node, searcher=searcher, trouble=nodes.trouble)
                    yield RobotGraph(node, nodes, watch.wait(args.wait, say))
    except (GraphError, HeadNotReadyError) as error:
        raise VerbError(str(error)) from error


def where(args: argparse.Namespace) -> str:
    """Return the options with which other verbs find this graph."""
    given: Mapping[str, object] = {"domain": args.domain, "namespace": args.namespace}
    return "".join(f" --{name} {value}" for name, value in given.items() if value not in (None, ""))
