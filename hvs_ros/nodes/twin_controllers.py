"""The controllers that a robot's file names, on the twin.

A controller has the joints that one entry of the file commands: neck and torso together, or each its own. Like
ros2_control's joint_trajectory_controller, one with a trajectory topic has the action beside it, and the other way
round.
"""

from __future__ import annotations

from collections.abc import Callable

from rclpy.node import Node

from hvs_ros.mock.twin.physics import TwinError
from hvs_ros.mock.twin.stand_in import ACTION, SERVOS, TOPIC, beside
from hvs_ros.mock.twin.twin import Twin
from hvs_ros.neck.robot import Commands, NeckJoint, Robot
from hvs_ros.nodes.twin_action import TrajectoryAction, have_action
from hvs_ros.nodes.twin_commands import PositionTopic, TrajectoryTopic
from hvs_ros.nodes.twin_parameters import TwinParameters
from hvs_ros.nodes.twin_servos import TwinServos

POSITIONS = "forward_position"


class TwinControllers:
    """Starts them.

    Args:
        node: whose topics and actions they are.
        robot: names them.
        twin: whose joints move.
        parameters: returns the node's present ones.
        complain: is told what could not be done.

    Attributes:
        offered: topics, actions and ports, for a person.
        tells: joints whose states nobody else publishes; servos on a bus are read by who commands them.

    Raises:
        TwinError: a back end that the twin does not have, or a port that is taken.
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
        self._actions: list[TrajectoryAction] = []
        self._servos: list[TwinServos] = []
        self.offered: list[str] = []
        self.tells = set(twin.joints)
        if robot.torso_commands is None:
            self._start(robot.commands, robot.joints)
        else:
            self._start(robot.commands, robot.neck)
            if robot.torso:
                self._start(robot.torso_commands, robot.torso)

    def close(self) -> None:
        """End what is under way."""
        for action in self._actions:
            action.close()
        for servos in self._servos:
            servos.close()

    def destroy(self) -> None:
        """Remove what rclpy does not know the node owns."""
        for action in self._actions:
            action.destroy()

    def _start(self, commands: Commands, joints: tuple[NeckJoint, ...]) -> None:
        topic = commands.topic
        if commands.backend in (TOPIC, ACTION):
            trajectories = topic if commands.backend == TOPIC else beside(topic, TOPIC)
            TrajectoryTopic(self._node, self._twin, trajectories, joints, self._complain)
            self.offered.append(trajectories)
            if have_action():
                name = topic if commands.backend == ACTION else beside(topic, ACTION)
                self._actions.append(
                    TrajectoryAction(self._node, self._twin, name, joints, self._parameters, self._complain)
                )
                self.offered.append(name)
        elif commands.backend == POSITIONS:
            PositionTopic(self._node, self._twin, topic, joints, self._complain)
            self.offered.append(topic)
        elif commands.backend == SERVOS:
            self._servos.append(TwinServos(commands, joints, self._twin, self._now))
            self.offered.append(topic)
            self.tells -= {joint.name for joint in joints}
        else:
            raise TwinError(
                f"the twin has nothing for the back end '{commands.backend}'; it has {TOPIC}, {ACTION}, {POSITIONS}"
                f" and {SERVOS}"
            )

    def _now(self) -> int:
        return int(self._node.get_clock().now().nanoseconds)
