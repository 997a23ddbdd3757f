"""The controllers that a robot's file names, on the twin."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.node import Node

from hvs_ros.mock.twin.twin import Twin
from hvs_ros.neck.robot import Robot
from hvs_ros.nodes.twin_commands import (
    TRAJECTORY_ACTION,
    TRAJECTORY_TOPIC,
    Controlled,
    PositionTopic,
    TrajectoryTopic,
    controllers_of,
    sibling,
)
from hvs_ros.nodes.twin_parameters import TwinParameters


class TwinControllers:
    """Starts them.

    Args:
        node: whose topics and actions they are.
        robot: names them.
        twin: whose joints move.
        parameters: returns the node's present ones.
        complain: is told what could not be done.

    Attributes:
        offered: what there is, for a person.
    """

    def __init__(
        self,
        node: Node,
        robot: Robot,
        twin: Twin,
        parameters: Callable[[], TwinParameters],
        complain: Callable[[str], None],
    ) -> None:
        self._node, self._twin, self._parameters, self._complain = node, twin, parameters, complain
        offers = [offer for controller in controllers_of(robot) for offer in self._start(controller)]
        self.offered = ", ".join(offers)

    def close(self) -> None:
        """End what is under way."""

    def destroy(self) -> None:
        """Remove what rclpy does not know the node owns."""

    def _start(self, controlled: Controlled) -> list[str]:
        commands, joints = controlled.commands, controlled.joints
        backend, topic = commands.backend, commands.topic
        if backend == "forward_position":
            PositionTopic(self._node, self._twin, topic, joints, self._complain)
            return [topic]
        trajectories = topic if backend == TRAJECTORY_TOPIC else sibling(topic, TRAJECTORY_TOPIC)
        TrajectoryTopic(self._node, self._twin, trajectories, joints, self._complain)
        return [trajectories]


__all__ = ["TRAJECTORY_ACTION", "TwinControllers"]
