"""Motions as messages for controllers that interpolate (ros2_control's joint_trajectory_controller and its kin).

The stamp is zero, which says "from now on": with any other one the clocks of both sides would have to agree, and under
``use_sim_time`` they do not always. The motion's present state is left out: the controller interpolates from where it
is to the first point, so that a motion that replaces another begins without a jump. By the time it begins, the joints
have gone on from the state that it was planned from; where they move, the first point is far enough away to make up for
that gently. The last velocity is exactly zero, without which the controller refuses the whole.
"""

from __future__ import annotations

from collections.abc import Sequence

from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from hvs_ros.neck.joints import Joints
from hvs_ros.neck.robot import NeckJoint
from hvs_ros.neck.trajectory import Point, Trajectory
from hvs_ros.nodes import convert

JOIN_S = 0.2
"""To a first point so far away, joints that are 40 ms ahead of the plan at 1 rad/s need 6 rad/s^2 more than planned."""

MOST_POINTS = 400
"""Of a motion; a slow one has them further apart, which its controller's interpolation makes up for."""


def motion_message(joints: Sequence[NeckJoint], trajectory: Trajectory, period: float) -> JointTrajectory:
    """Return a motion in the driver's names, signs and offsets.

    Args:
        joints: in the trajectory's order.
        trajectory: in the URDF's sense.
        period: s, between its points.
    """
    points = trajectory.points(max(period, trajectory.duration / MOST_POINTS))
    if any(trajectory.at(0.0).velocity):
        join = min(JOIN_S, trajectory.duration / 2)
        points = [point for point in points if point.time >= join]
    return _message(joints, points)


def hold_message(joints: Sequence[NeckJoint], position: Joints, time: float) -> JointTrajectory:
    """Return a motion that comes to rest at a position [rad] within so many seconds."""
    return _message(joints, [Point(time, position, (0.0,) * len(joints))])


def _message(joints: Sequence[NeckJoint], points: Sequence[Point]) -> JointTrajectory:
    return JointTrajectory(
        joint_names=[joint.wire_name for joint in joints],
        points=[
            JointTrajectoryPoint(
                positions=[joint.to_driver(value) for joint, value in zip(joints, point.position, strict=True)],
                velocities=[joint.sign * value for joint, value in zip(joints, point.velocity, strict=True)],
                time_from_start=convert.duration_message(point.time),
            )
            for point in points
        ],
    )
