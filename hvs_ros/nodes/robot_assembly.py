"""Everything of a robot's head that needs its URDF: kinematics, joint states, command back ends, the base."""

from __future__ import annotations

from dataclasses import replace

from rclpy.node import Node

from hvs_ros.neck.commands import CommandBackend, CommandBackends
from hvs_ros.neck.joints import Joints, JointSample
from hvs_ros.neck.kinematics import GazeKinematics
from hvs_ros.neck.limits import GazeLimits
from hvs_ros.neck.reach import reachable
from hvs_ros.neck.robot import Robot, RobotError
from hvs_ros.neck.robot_gaze import GazeRules, RobotGaze
from hvs_ros.neck.solver import GazeSolver
from hvs_ros.nodes.base_driver import BaseDriver
from hvs_ros.nodes.commands.registry import BackendSetup, create_backend
from hvs_ros.nodes.robot_joints import RobotJoints

TURNED_RAD = 0.02
"""Joints that carry the neck and are not moved by it may be so far from where they were for the range to be right."""
STILL_RAD = 0.002
"""They have come to rest when they turn less than this from one look at them to the next."""


class RobotAssembly:
    """A robot's neck, assembled.

    Args:
        node: whose topics are used.
        robot: what it is.
        urdf: its text.
        rules: how the neck is moved and judged.
        permitted: directions that it may take.
        torso: the torso turns too where the neck is not enough.
        turn_base: the base does.

    Attributes:
        urdf: its text.
        gaze: the neck.
        max_velocity: rad/s, of the line of sight: that of the fastest joint.
        max_acceleration: rad/s^2.

    Raises:
        RobotError: the URDF and the robot's YAML do not go together.
        CommandError: the back end cannot be used.
    """

    def __init__(
        self,
        node: Node,
        robot: Robot,
        urdf: str,
        rules: GazeRules,
        *,
        permitted: GazeLimits,
        torso: bool,
        turn_base: bool,
    ) -> None:
        self.urdf = urdf
        kinematics = GazeKinematics(urdf, robot)
        self._solver = solver = GazeSolver(kinematics, torso=torso)
        self._carrying = [index for index in range(len(kinematics.joints)) if index not in solver.moved]
        self._permitted = permitted
        self._range_at = self._seen = kinematics.neutral
        self._neck_range = _both(reachable(solver, kinematics.neutral), permitted)
        self._backend = _backends(node, robot, torso=torso)
        self._base = BaseDriver(node, robot.turn) if turn_base else None
        self.gaze = RobotGaze(
            kinematics,
            solver,
            self._backend,
            lambda: int(node.get_clock().now().nanoseconds),
            rules,
            torso=torso,
            reachable=self._neck_range,
            permitted=permitted,
            base=self._base,
        )
        self.told = False
        self._joints = RobotJoints(
            node, robot.joint_states, kinematics.joints, robot.joints, rules.stale_s, self._observe
        )
        neck = [kinematics.limits[index] for index in kinematics.neck]
        self.max_velocity = max(limit.max_velocity for limit in neck) * rules.velocity_scale
        self.max_acceleration = max(limit.max_acceleration for limit in neck)
        self._names = kinematics.joints

    def range(self) -> GazeLimits:
        """Return the directions that can be reached; all round with a base that turns."""
        if self._base is None:
            return self._neck_range
        return replace(GazeLimits(), pitch_min=self._neck_range.pitch_min, pitch_max=self._neck_range.pitch_max)

    def missing(self) -> list[str]:
        """Name what is missing to move: joint states, a controller, odometry."""
        found = [self._joints.problem() or self.gaze.stale(), self._backend.problem()]
        if self._base is not None:
            found.append(self._base.problem())
        return [problem for problem in found if problem]

    def watch(self) -> bool:
        """Work out the range anew when what carries the neck, e.g. a torso, has been turned; return whether it was.

        Raises:
            RobotError: nothing of the new range is permitted; the old one stays.
        """
        sample = self.gaze.now().joints
        if sample is None:
            return False
        before, self._seen = self._seen, sample.position
        if not self._carried_otherwise(TURNED_RAD, self._range_at) or self._carried_otherwise(STILL_RAD, before):
            return False
        self._range_at = sample.position
        self._neck_range = self.gaze.reachable = _both(reachable(self._solver, sample.position), self._permitted)
        return True

    def summary(self) -> str:
        """Return in a line what it is made of."""
        limits = self.range()
        yaw = "all round" if limits.yaw_continuous else f"yaw {limits.yaw_min:.2f} to {limits.yaw_max:.2f}"
        return (
            f"joints {', '.join(self._names)}; looks {yaw}, pitch {limits.pitch_min:.2f} to {limits.pitch_max:.2f} rad"
        )

    def close(self) -> None:
        """Give everything back; nothing is commanded any more."""
        self._joints.close()
        self._backend.close()
        if self._base is not None:
            self._base.close()

    def _carried_otherwise(self, angle: float, then: Joints) -> bool:
        return any(abs(self._seen[index] - then[index]) > angle for index in self._carrying)

    def _observe(self, sample: JointSample) -> None:
        self.gaze.observe(sample)
        self.told = True


def _both(reachable: GazeLimits, permitted: GazeLimits) -> GazeLimits:
    try:
        return reachable.within(permitted)
    except ValueError as error:
        raise RobotError(f"of what the neck reaches, nothing is permitted by yaw_min .. pitch_max: {error}") from error


def _backends(node: Node, robot: Robot, *, torso: bool) -> CommandBackend:
    """Return what commands the neck, and the torso where it turns too, in the order neck, torso."""
    neck = range(len(robot.neck))
    if not torso or not robot.torso:
        return create_backend(BackendSetup(node, robot.neck, robot.commands, robot.joint_states))
    if robot.torso_commands is None:
        return create_backend(BackendSetup(node, robot.joints, robot.commands, robot.joint_states))
    parts = [
        (create_backend(BackendSetup(node, robot.neck, robot.commands, robot.joint_states)), neck),
        (
            create_backend(BackendSetup(node, robot.torso, robot.torso_commands, robot.joint_states)),
            range(len(robot.neck), len(robot.joints)),
        ),
    ]
    return CommandBackends(parts)
