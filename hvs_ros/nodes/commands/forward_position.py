"""Commands by std_msgs/Float64MultiArray on a topic, for ros2_control's forward_command_controller and its kin.

Such a controller hands each message to the motors as it is, so motions are sampled here. Its ``joints`` parameter must
be the neck's joints in the order of the robot's YAML: the message carries no names.
"""

from __future__ import annotations

from std_msgs.msg import Float64MultiArray

from hvs_ros.neck.commands import Verdict
from hvs_ros.neck.joints import Joints
from hvs_ros.neck.trajectory import Trajectory
from hvs_ros.nodes.commands import setting
from hvs_ros.nodes.commands.outlet import Outlet
from hvs_ros.nodes.commands.registry import BackendSetup
from hvs_ros.nodes.commands.set_points import SetPoints
from hvs_ros.nodes.commands.streamer import Streamer, motion_clock


class ForwardPositionCommands:
    """A ``CommandBackend``.

    Args:
        setup: ``commands.topic`` is the controller's, e.g. ``/head_position_controller/commands``.
        rate: Hz, of set-points while a motion is under way.
        hold_time: s, for how long the last set-point of a motion, or of a hold, is repeated.
    """

    begins_at_joints = False

    def __init__(self, setup: BackendSetup, *, rate: float = 50.0, hold_time: float = 0.5) -> None:
        period = 1.0 / setting.number("rate", rate, 1.0, 1000.0)
        hold_time = setting.number("hold_time", hold_time, 0.0, 60.0)
        self._joints = setup.joints
        self._outlet = Outlet(setup.node, Float64MultiArray, setup.commands.topic)
        set_points = SetPoints(setup.joints, period, hold_time, motion_clock(setup.node))
        self._streamer = Streamer(set_points, self._send, period)

    def problem(self) -> str:
        """See CommandBackend."""
        return self._outlet.problem()

    def execute(self, trajectory: Trajectory) -> None:
        """See CommandBackend."""
        self._streamer.execute(trajectory)

    def hold(self, position: Joints) -> None:
        """See CommandBackend."""
        self._streamer.hold(position)

    def verdict(self) -> Verdict | None:
        """Return None: nobody answers on a topic."""
        return None

    def close(self) -> None:
        """See CommandBackend; a motion under way ends at its last set-point."""
        self._streamer.close()
        self._outlet.close()

    def _send(self, point: Joints) -> None:
        data = [joint.to_driver(value) for joint, value in zip(self._joints, point, strict=True)]
        self._outlet.send(Float64MultiArray(data=data))
