"""The DYNAMIXEL servos of a twin: a serial port behind which its joints are."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from hvs_ros.mock.dynamixel_bus import DynamixelBus
from hvs_ros.mock.twin.physics import TwinError
from hvs_ros.mock.twin.twin import Twin
from hvs_ros.neck.robot import Commands, NeckJoint


class TwinServos:
    """Puts a bus of servos at the port that the robot's file names.

    Args:
        commands: the port, and which servos there are.
        joints: one for each servo.
        twin: whose joints they are.
        clock: returns nanoseconds.

    Raises:
        TwinError: the port is taken, or the servos do not go with the joints.
    """

    def __init__(
        self, commands: Commands, joints: tuple[NeckJoint, ...], twin: Twin, clock: Callable[[], int]
    ) -> None:
        self._twin, self._clock = twin, clock
        ids = commands.settings.get("ids")
        if not isinstance(ids, list) or len(ids) != len(joints):
            raise TwinError(f"commands.settings.ids is {ids}; {len(joints)} servos are expected, one for each joint")
        self._joints = dict(zip(ids, joints, strict=True))
        self._index = {number: twin.joints.index(joint.name) for number, joint in self._joints.items()}
        self._tick = 2 * math.pi / float(str(commands.settings.get("ticks_per_turn", 4096)))
        self._centre = float(str(commands.settings.get("centre", 2048)))
        self._link = Path(commands.topic)
        self._bus = DynamixelBus(ids, self._position, self._on_goal)
        try:
            self._put_link()
        except OSError as error:
            self._bus.close()
            raise TwinError(
                f"the twin's servo bus cannot be at {self._link} ({error.strerror or error}): give the robot's file"
                " another commands.topic, a path in a folder of yours where nothing is yet"
            ) from error

    def close(self) -> None:
        """Be gone."""
        with suppress(OSError):
            if self._link.readlink() == Path(self._bus.port):
                self._link.unlink()
        self._bus.close()

    def _put_link(self) -> None:
        self._link.parent.mkdir(parents=True, exist_ok=True)
        if self._link.is_symlink() and not self._link.exists():
            self._link.unlink()  # what a killed twin has left
        self._link.symlink_to(self._bus.port)

    def _position(self, servo: int) -> float:
        angle = self._twin.state(self._clock()).position[self._index[servo]]
        return self._centre + self._joints[servo].to_driver(angle) / self._tick

    def _on_goal(self, servo: int, ticks: int) -> None:
        joint = self._joints[servo]
        angle = joint.from_driver((ticks - self._centre) * self._tick)
        self._twin.forward(self._clock(), {joint.name: angle})
