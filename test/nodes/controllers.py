"""Stand-ins for the controllers that command back ends talk to: they move exactly as told, and remember it."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

from rclpy.node import Node
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from hvs_ros.mock.dynamixel_bus import DynamixelBus
from hvs_ros.mock.dynamixel_servo import TICKS_PER_TURN
from hvs_ros.neck.robot import NeckJoint
from hvs_ros.nodes import convert

JOINTS = (
    NeckJoint("pan", offset=-0.1),
    NeckJoint("tilt", lower=-1.0, upper=1.0, driver_name="servo_tilt", sign=-1, offset=0.3),
)
START = (0.0, 0.0)
"""Where every stand-in is first, in the URDF's sense."""
SAMPLE_S = 0.02

Values = tuple[float, ...]


def driver(position: Sequence[float]) -> Values:
    """Return URDF angles as the driver's."""
    return tuple(joint.to_driver(value) for joint, value in zip(JOINTS, position, strict=True))


class Controller(Protocol):
    """What a test sees of a controller. Angles are the driver's [rad], in the order of JOINTS."""

    def position(self) -> Values:
        """Return where the joints are, or are told to be."""
        ...

    def largest_step(self) -> float:
        """Return the largest change of what the joints were told within SAMPLE_S, or from one set-point to the next."""
        ...

    def heard(self) -> int:
        """Return how many commands came."""
        ...


@dataclass(frozen=True)
class _Played:
    start_s: float
    times: list[float]
    positions: list[Values]
    velocities: list[Values]

    def at(self, time: float) -> tuple[Values, Values]:
        """Return position and velocity, by cubic interpolation as joint_trajectory_controller does it."""
        if time >= self.times[-1]:
            return self.positions[-1], (0.0,) * len(self.positions[-1])
        after = next(index for index, end in enumerate(self.times) if time < end)
        span = self.times[after] - self.times[after - 1]
        s = (time - self.times[after - 1]) / span
        place, speed = [], []
        for p, q, v, w in zip(
            self.positions[after - 1],
            self.positions[after],
            self.velocities[after - 1],
            self.velocities[after],
            strict=True,
        ):
            a, b = 2 * (p - q) + span * (v + w), 3 * (q - p) - span * (2 * v + w)
            place.append(p + span * v * s + b * s**2 + a * s**3)
            speed.append(v + (2 * b * s + 3 * a * s**2) / span)
        return tuple(place), tuple(speed)


class Interpolator:
    """What trajectory controllers have in common: from where they are to the first point, and on to the last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        start = driver(START)
        self._played = [_Played(time.monotonic(), [0.0], [start], [(0.0, 0.0)])]

    def play(self, message: JointTrajectory) -> None:
        assert list(message.joint_names) == [joint.wire_name for joint in JOINTS]
        assert (message.header.stamp.sec, message.header.stamp.nanosec) == (0, 0)
        times = [convert.duration_s(point.time_from_start) for point in message.points]
        assert times[0] > 0.0 and all(before < after for before, after in pairwise(times))
        assert all(value == 0.0 for value in message.points[-1].velocities)
        with self._lock:
            now = time.monotonic()
            position, velocity = self._state(now)
            self._played.append(
                _Played(
                    now,
                    [0.0, *times],
                    [position, *(tuple(point.positions) for point in message.points)],
                    [velocity, *(tuple(point.velocities) for point in message.points)],
                )
            )

    def stay(self) -> None:
        """Stop where it is, as on a cancellation."""
        self.play(
            JointTrajectory(
                joint_names=[joint.wire_name for joint in JOINTS],
                points=[
                    JointTrajectoryPoint(
                        positions=self.position(),
                        velocities=[0.0, 0.0],
                        time_from_start=convert.duration_message(0.05),
                    )
                ],
            )
        )

    def position(self) -> Values:
        with self._lock:
            return self._state(time.monotonic())[0]

    def largest_step(self) -> float:
        with self._lock:
            return max(_step(played) for played in self._played)

    def heard(self) -> int:
        with self._lock:
            return len(self._played) - 1

    def _state(self, now: float) -> tuple[Values, Values]:
        return self._played[-1].at(now - self._played[-1].start_s)


def _step(played: _Played) -> float:
    count = math.ceil(played.times[-1] / SAMPLE_S)
    return largest([played.at(index * SAMPLE_S)[0] for index in range(count + 1)])


def largest(points: Sequence[Values]) -> float:
    """Return the largest change from one to the next."""
    return max((abs(q - p) for a, b in pairwise(points) for p, q in zip(a, b, strict=True)), default=0.0)


class TrajectoryController(Interpolator):
    """Listens like joint_trajectory_controller."""

    def __init__(self, node: Node, topic: str) -> None:
        super().__init__()
        node.create_subscription(JointTrajectory, topic, self.play, 10)


class ForwardController:
    """Listens like forward_command_controller."""

    def __init__(self, node: Node, topic: str) -> None:
        self.points: list[Values] = [driver(START)]
        node.create_subscription(Float64MultiArray, topic, self._on_point, 10)

    def _on_point(self, message: Any) -> None:
        self.points.append(tuple(message.data))

    def position(self) -> Values:
        return self.points[-1]

    def largest_step(self) -> float:
        return largest(self.points)

    def heard(self) -> int:
        return len(self.points) - 1


class ServoController:
    """Servos on a bus, which go where they are told at once."""

    IDS = (3, 7)

    def __init__(self) -> None:
        start = zip(self.IDS, driver(START), strict=True)
        self._goals: dict[int, list[int]] = {number: [_ticks(angle)] for number, angle in start}
        self.bus = DynamixelBus(self.IDS, lambda number: self._goals[number][-1], self._on_goal)

    def _on_goal(self, number: int, ticks: int) -> None:
        self._goals[number].append(ticks)

    def position(self) -> Values:
        return tuple(_angle(self._goals[number][-1]) for number in self.IDS)

    def largest_step(self) -> float:
        return max(largest([(_angle(goal),) for goal in goals]) for goals in self._goals.values())

    def heard(self) -> int:
        return max(map(len, self._goals.values())) - 1


def _ticks(angle: float) -> int:
    return round(TICKS_PER_TURN / 2 + angle * TICKS_PER_TURN / math.tau)


def _angle(ticks: int) -> float:
    return (ticks - TICKS_PER_TURN / 2) * math.tau / TICKS_PER_TURN
