"""Commands by trajectory_msgs/JointTrajectory on a topic, for ros2_control's joint_trajectory_controller.

A newer message replaces the older one as a whole, and nobody answers: whether the joints move is seen in joint_states.
The controller drops a message that does not name exactly its joints, and says so in its own log only. One that has more
joints than the neck (a torso's, say) must be told ``allow_partial_joints_goal: true``.
"""

from __future__ import annotations

from trajectory_msgs.msg import JointTrajectory

from hvs_ros.neck.commands import Verdict
from hvs_ros.neck.joints import Joints
from hvs_ros.neck.trajectory import Trajectory
from hvs_ros.nodes.commands import setting
from hvs_ros.nodes.commands.outlet import Outlet
from hvs_ros.nodes.commands.registry import BackendSetup
from hvs_ros.nodes.commands.trajectory_message import hold_message, motion_message


class JointTrajectoryCommands:
    """A ``CommandBackend``.

    Args:
        setup: ``commands.topic`` is the controller's, e.g. ``/head_controller/joint_trajectory``.
        period: s, between the points of a motion.
        hold_time: s, within which a hold brings the joints to rest.
    """

    begins_at_joints = True

    def __init__(self, setup: BackendSetup, *, period: float = 0.05, hold_time: float = 0.1) -> None:
        self._joints = setup.joints
        self._period = setting.number("period", period, 0.001, 1.0)
        self._hold_time = setting.number("hold_time", hold_time, 0.001, 2.0)
        self._outlet = Outlet(setup.node, JointTrajectory, setup.commands.topic)

    def problem(self) -> str:
        """See CommandBackend."""
        return self._outlet.problem()

    def execute(self, trajectory: Trajectory) -> None:
        """See CommandBackend."""
        self._outlet.send(motion_message(self._joints, trajectory, self._period))

    def hold(self, position: Joints) -> None:
        """See CommandBackend."""
        self._outlet.send(hold_message(self._joints, position, self._hold_time))

    def verdict(self) -> Verdict | None:
        """Return None: nobody answers on a topic."""
        return None

    def close(self) -> None:
        """Send nothing any more; a controller ends the motion that it has, so hold first."""
        self._outlet.close()
