"""Commands to DYNAMIXEL servos on a serial port, for home-built heads: no controller and no driver is needed.

``commands.topic`` is the port, and ``ids`` are its servos, one for each joint. A servo's ``centre`` is its driver's
angle 0; ``sign`` and ``offset`` of the joint say how it is built in. Since nobody else can use the port, joint_states
are published from here.

A thread of its own owns the bus, so that nothing else has to wait for it. Each cycle it sends the set-point of the
motion under way and reads where the servos are. When the adapter is pulled out or a servo falls silent, the motion is
given up (it would otherwise go on from anywhere, later), ``problem`` says what is wrong, and it is tried again and
again.

The torque is off until the first motion, and then stays on, after the end of the program too: a head whose motors let
go falls on its nose. To let go, switch the servos' power off.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence
from contextlib import suppress

from sensor_msgs.msg import JointState

from hvs_ros.neck.commands import Verdict
from hvs_ros.neck.joints import Joints
from hvs_ros.neck.robot import NeckJoint
from hvs_ros.neck.trajectory import Trajectory
from hvs_ros.nodes.commands import dynamixel_servos as servos
from hvs_ros.nodes.commands import setting
from hvs_ros.nodes.commands.dynamixel_health import Health
from hvs_ros.nodes.commands.dynamixel_servos import ServoBus
from hvs_ros.nodes.commands.registry import BackendSetup
from hvs_ros.nodes.commands.set_points import SetPoints
from hvs_ros.nodes.commands.streamer import motion_clock

HOLD_S = 0.5
"""For so long the last set-point is repeated: nobody answers to goals, and one may be lost."""
HEALTH_PERIOD_S = 0.5
RETRY_S = 0.2
END_LIMIT_S = 2.0
VELOCITY_UNIT = 0.229 * 2.0 * math.pi / 60.0
"""rad/s, of the X series' velocity registers."""


class DynamixelCommands:
    """A ``CommandBackend``.

    Args:
        setup: ``commands.topic`` is the port, e.g. ``/dev/ttyUSB0``.
        ids: of the servos, in the order of the joints.
        baudrate: bits/s; servos leave the factory with 57600.
        ticks_per_turn: of their positions.
        centre: ticks, where a servo's angle is 0.
        protocol: 2.0, which alone can read several servos at once.
        rate: Hz, of set-points and joint_states.
        profile_velocity: the servos' register, 0.229 rpm a unit; 0: they are as fast as the motion asks.
        profile_acceleration: the servos' register, 214.577 rev/min^2 a unit; 0: not limited.
    """

    begins_at_joints = False

    def __init__(
        self,
        setup: BackendSetup,
        *,
        ids: Sequence[int] = (),
        baudrate: int = 57600,
        ticks_per_turn: int = 4096,
        centre: int = 2048,
        protocol: float = 2.0,
        rate: float = 50.0,
        profile_velocity: int = 0,
        profile_acceleration: int = 0,
    ) -> None:
        self._joints = setup.joints
        self._ids = _checked_ids(ids, setup.joints)
        self._tick = 2.0 * math.pi / setting.integer("ticks_per_turn", ticks_per_turn, 16, 1 << 24)
        self._centre = setting.integer("centre", centre, -(1 << 24), 1 << 24)
        if setting.number("protocol", protocol, 1.0, 2.0) != 2.0:
            raise ValueError(f"protocol is {protocol}; 2.0 is expected, which servos of the X series speak")
        self._period = 1.0 / setting.number("rate", rate, 1.0, 1000.0)
        self._profile = (
            setting.integer("profile_acceleration", profile_acceleration, 0, 32767),
            setting.integer("profile_velocity", profile_velocity, 0, 32767),
        )
        self._port = setup.commands.topic
        self._bus = ServoBus(self._port, setting.integer("baudrate", baudrate, 9600, 4_000_000), self._ids)
        self._set_points = SetPoints(setup.joints, self._period, HOLD_S, motion_clock(setup.node))
        names = {servo: f"servo {servo} ({joint.name})" for servo, joint in zip(self._ids, setup.joints, strict=True)}
        self._health = Health(names)
        self._node = setup.node
        self._states = setup.node.create_publisher(JointState, setup.joint_states, 10)
        self._engaged = False
        self._limited: set[int] = set()
        self._lock = threading.Lock()
        self._problem = f"the servo bus {self._port} is being opened"
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="servo-bus", daemon=True)
        self._thread.start()

    def problem(self) -> str:
        """See CommandBackend."""
        with self._lock:
            return self._problem

    def execute(self, trajectory: Trajectory) -> None:
        """See CommandBackend; nothing is begun while there is a problem."""
        if not self._stop.is_set() and not self.problem():
            self._set_points.execute(trajectory)

    def hold(self, position: Joints) -> None:
        """See CommandBackend; before the first motion nothing is stiff that could be held."""
        if self._engaged and not self._stop.is_set():
            self._set_points.hold(position)
        else:
            self._set_points.clear()

    def verdict(self) -> Verdict | None:
        """Return None: servos tell where they are, no more."""
        return None

    def close(self) -> None:
        """See CommandBackend; a motion under way ends at its last set-point, and the torque stays on."""
        self._stop.set()
        self._thread.join(END_LIMIT_S)
        self._node.destroy_publisher(self._states)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._bus.open()
                self._serve()
            except Exception as error:  # of several kinds, when the adapter is pulled out
                self._say(f"the servo bus {self._port} {_reason(error)}")
            finally:
                self._give_up()
                with suppress(OSError):
                    self._bus.close()
            self._stop.wait(RETRY_S)

    def _serve(self) -> None:
        self._health.forget()
        checked = due = time.monotonic()
        while not self._stop.is_set():
            point = self._set_points.next()
            if point is not None:
                self._command(point)
            self._publish()
            if time.monotonic() >= checked:
                checked = time.monotonic() + HEALTH_PERIOD_S
                self._check()
            problem = self._health.problem(time.monotonic())
            if problem:
                problem = f"{problem}, on the bus {self._port}"
                self._set_points.clear()
            self._say(problem)
            # One period after the last, and not two at once after a pause.
            due = max(due + self._period, time.monotonic())
            self._stop.wait(due - time.monotonic())
        # The last word is a hold, as a rule.
        point = self._set_points.next() if self._engaged else None
        if point is not None:
            self._command(point)

    def _command(self, point: Joints) -> None:
        if not self._engaged:
            self._engage()
        goals = {}
        for servo, joint, value in zip(self._ids, self._joints, point, strict=True):
            goal = self._centre + round(joint.to_driver(value) / self._tick)
            low, high = self._health.range(servo)
            goals[servo] = min(max(goal, low), high)
            if goals[servo] != goal and servo not in self._limited:
                self._limited.add(servo)
                self._node.get_logger().warning(
                    f"servo {servo} ({joint.name}) is to go to {goal}, but its own limits are {low} to {high} ticks:"
                    " do centre, sign and offset in the robot's YAML fit, and the limits of the joint?"
                )
        self._bus.write_goals(goals)

    def _engage(self) -> None:
        """Turn the torque on, without a jerk: the goal is where a servo is."""
        limp = [servo for servo in self._ids if not self._health.of(servo).torque]
        present = self._bus.read(servos.PRESENT_POSITION, 4)
        self._bus.write_goals({servo: servos.number(present[servo]) for servo in limp if servo in present})
        acceleration, velocity = self._profile
        for servo in self._ids:
            self._bus.write(servo, servos.PROFILE_ACCELERATION, 4, acceleration)
            self._bus.write(servo, servos.PROFILE_VELOCITY, 4, velocity)
            self._bus.write(servo, servos.TORQUE_ENABLE, 1, 1)
        self._engaged = True

    def _publish(self) -> None:
        read = self._bus.read(servos.PRESENT_VELOCITY, 8)
        stamp = self._node.get_clock().now().to_msg()
        self._health.hear(read.keys(), time.monotonic())
        found = [(joint, read[servo]) for servo, joint in zip(self._ids, self._joints, strict=True) if servo in read]
        if not found or self._stop.is_set():
            return
        state = JointState(
            name=[joint.wire_name for joint, _ in found],
            position=[(servos.number(data[4:]) - self._centre) * self._tick for _, data in found],
            velocity=[servos.number(data[:4]) * VELOCITY_UNIT for _, data in found],
        )
        state.header.stamp = stamp
        self._states.publish(state)

    def _check(self) -> None:
        status = self._bus.read(servos.TORQUE_ENABLE, servos.HARDWARE_ERROR - servos.TORQUE_ENABLE + 1)
        for servo, data in status.items():
            self._health.update(servo, torque=bool(data[0]), hardware_error=data[-1])
        if not self._engaged:
            # These cannot change while the torque is on.
            for servo, data in self._bus.read(servos.OPERATING_MODE, 1).items():
                self._health.update(servo, mode=data[0])
            for servo, data in self._bus.read(servos.POSITION_LIMITS, 8).items():
                self._health.update(servo, greatest=servos.number(data[:4]), least=servos.number(data[4:]))
        elif any(not data[0] for data in status.values()):
            self._node.get_logger().warning(
                f"servos on {self._port} have lost their torque; the next motion turns it on again"
            )
            self._give_up()

    def _give_up(self) -> None:
        self._engaged = False
        self._set_points.clear()

    def _say(self, problem: str) -> None:
        with self._lock:
            before, self._problem = self._problem, problem
        if problem and problem != before:
            self._node.get_logger().warning(problem)


def _checked_ids(ids: Sequence[int], joints: Sequence[NeckJoint]) -> tuple[int, ...]:
    names = ", ".join(joint.name for joint in joints)
    if not isinstance(ids, (list, tuple)) or len(ids) != len(joints) or len(set(ids)) != len(ids):
        raise ValueError(f"ids is {ids!r}; a list with a servo for each joint ({names}) is expected")
    return tuple(setting.integer("ids", number, 0, 252) for number in ids)


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, servos.ServoError) else f"has failed: {error!r}; is it plugged in?"
