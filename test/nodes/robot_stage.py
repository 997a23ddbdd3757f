"""A robot's head on its twin, as tests see it: the head, what goes wrong with the robot, and what is true."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from head_under_test import HeadClient, write_panorama
from node_launcher import Launcher, NodeProcess
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from ros_domain import claim_domain
from ros_graph import Graph, wait_until
from turret import write_turret

VIEW = {"width": 160, "height": 90}
TWIN = {"hfov": math.radians(100.0), "scene_radius": 0.0, "latency": 0.01, **VIEW}
HEAD = {"kind": "twin", "confirm": True, "joint_state_timeout": 2.0, **VIEW}
"""A machine that runs several tests at once lets joint states wait."""


class RobotStage:
    """A turret with its twin; the head is in the namespace ``head``, the twin in ``twin``."""

    def __init__(self, start: Launcher, graph: Graph, folder: Path) -> None:
        self.start, self.graph = start, graph
        write_panorama(folder / "scenes" / "first" / "panorama.png")
        self._scenes = folder / "scenes"
        self.robot = write_turret(folder)
        self.diagnostics: list[DiagnosticArray] = graph.collect(DiagnosticArray, "/diagnostics", 100)

    def twin(self, **parameters: object) -> NodeProcess:
        return self.start(
            "hvs_ros.nodes.neck_twin",
            namespace="twin",
            robot=str(self.robot),
            scenes=str(self._scenes),
            **(TWIN | parameters),
        )

    def head(self, **parameters: object) -> NodeProcess:
        return self.start(
            "hvs_ros.nodes.robot_head", namespace="head", robot=str(self.robot), **(HEAD | parameters)
        )

    def client(self) -> HeadClient:
        """Return a client of the head, once it can move."""
        client = HeadClient(self.graph).wait()
        self.wait_for("ready")
        return client

    def says(self) -> str:
        """Return what the head last said on /diagnostics."""
        for array in reversed(self.diagnostics):
            for status in array.status:
                if status.name.endswith("robot_head"):
                    return str(status.message)
        return ""

    def wait_for(self, *words: str, limit_s: float = 20.0) -> str:
        """Wait until the head says all of these on /diagnostics, and return what it says."""

        def heard() -> str:
            text = self.says()
            return text if all(word in text for word in words) else ""

        return str(wait_until(heard, limit_s, f"a head that says {words}"))

    def set(self, node: str, **values: object) -> None:
        """Set parameters of ``twin/neck_twin`` or ``head/robot_head``."""
        parameters = [Parameter(name, value=value).to_parameter_msg() for name, value in values.items()]
        answer = self.graph.call(SetParameters, f"{node}/set_parameters", SetParameters.Request(parameters=parameters))
        assert all(result.successful for result in answer.results), answer.results

    @contextmanager
    def fault(self, **values: Any) -> Iterator[None]:
        """Let something go wrong with the robot for a while."""
        self.set("twin/neck_twin", **values)
        try:
            yield
        finally:
            self.set("twin/neck_twin", **{name: type(value)() for name, value in values.items()})


@contextmanager
def robot_stage(folder: Path) -> Iterator[RobotStage]:
    """Offer a stage in a domain of its own."""
    with claim_domain() as domain, Launcher(domain, folder) as start, Graph(domain) as graph:
        yield RobotStage(start, graph, folder)
