"""Core values <-> messages: times, directions, poses."""

from __future__ import annotations

import math

from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Quaternion, Transform, TransformStamped, Vector3
from hvs_interfaces.msg import HeadPose
from std_msgs.msg import Header

from hvs_ros import angles
from hvs_ros.angles import Direction
from hvs_ros.neck.joints import NS as NS
from hvs_ros.neck.state import GazeState


def time_message(stamp_ns: int) -> Time:
    """Return nanoseconds as a Time message."""
    return Time(sec=stamp_ns // NS, nanosec=stamp_ns % NS)


def time_ns(stamp: Time) -> int:
    """Return a Time message in nanoseconds."""
    return int(stamp.sec) * NS + int(stamp.nanosec)


def duration_message(seconds: float) -> Duration:
    """Return seconds as a Duration message."""
    total = round(seconds * NS)
    return Duration(sec=total // NS, nanosec=total % NS)


def duration_s(duration: Duration) -> float:
    """Return a Duration message in seconds."""
    return float(duration.sec + duration.nanosec / NS)


def header(stamp_ns: int, frame_id: str) -> Header:
    """Return a header."""
    return Header(stamp=time_message(stamp_ns), frame_id=frame_id)


def pose_message(state: GazeState, stamp_ns: int, frame_id: str, *, settled: bool) -> HeadPose:
    """Return the state of a gaze as a message; the yaw is wrapped into (-pi, pi]."""
    return HeadPose(
        header=header(stamp_ns, frame_id),
        yaw=angles.wrap_rad(state.yaw),
        pitch=state.pitch,
        roll=state.roll,
        yaw_velocity=state.yaw_velocity,
        pitch_velocity=state.pitch_velocity,
        settled=settled,
    )


def direction_pose(direction: Direction, stamp_ns: int, frame_id: str, *, settled: bool = True) -> HeadPose:
    """Return a direction at rest as a message."""
    yaw, pitch = angles.ros_angles(direction)
    return HeadPose(header=header(stamp_ns, frame_id), yaw=yaw, pitch=pitch, settled=settled)


def pose_direction(pose: HeadPose) -> Direction:
    """Return where a pose looks, in search degrees."""
    return angles.search_direction(pose.yaw, pose.pitch)


def is_finite(*values: float) -> bool:
    """Return whether every value is a finite number."""
    return all(map(math.isfinite, values))


def transform(
    parent: Header,
    child: str,
    rotation: angles.Quaternion,
    place: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> TransformStamped:
    """Return a frame's rotation and place [m] in its parent as a message."""
    x, y, z, w = rotation
    at = Vector3(x=place[0], y=place[1], z=place[2])
    turned = Quaternion(x=x, y=y, z=z, w=w)
    return TransformStamped(
        header=parent, child_frame_id=child, transform=Transform(translation=at, rotation=turned)
    )
