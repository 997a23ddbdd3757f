"""A DYNAMIXEL servo of the X series that exists only as registers and a position that moves with a limited speed."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from enum import IntEnum, IntFlag


class Register(IntEnum):
    """Addresses in the control table of the X series (XL430, XM430 and others)."""

    MODEL = 0
    ID = 7
    OPERATING_MODE = 11
    MAX_POSITION = 48
    MIN_POSITION = 52
    TORQUE_ENABLE = 64
    HARDWARE_ERROR = 70
    PROFILE_ACCELERATION = 108
    PROFILE_VELOCITY = 112
    GOAL_POSITION = 116
    MOVING = 122
    PRESENT_VELOCITY = 128
    PRESENT_POSITION = 132


class Error(IntEnum):
    """Errors in a status packet; with the bit ALERT added while there is a hardware error."""

    NONE = 0
    INSTRUCTION = 2
    RANGE = 4
    LENGTH = 5
    LIMIT = 6
    ACCESS = 7
    ALERT = 0x80


class HardwareError(IntFlag):
    """Bits of the register HARDWARE_ERROR."""

    INPUT_VOLTAGE = 0x01
    OVERHEATING = 0x04
    ENCODER = 0x08
    ELECTRICAL_SHOCK = 0x10
    OVERLOAD = 0x20


TICKS_PER_TURN = 4096
SIZE = 147
POSITION_MODE = 3
VELOCITY_UNIT = 0.229 * TICKS_PER_TURN / 60.0
"""Ticks a second in one unit of a velocity register, 0.229 revolutions a minute."""
_EEPROM_END = 64
_READ_ONLY_FROM = 120
_MEASURED_S = 0.01


class MockServo:
    """Not thread-safe.

    Args:
        number: its ID.
        position: ticks, where it is first.
        max_speed: ticks/s.
        read_position: says where it is [ticks], instead of a position of its own.
        on_goal: is told every goal [ticks] that it goes to.
        clock: returns seconds.
    """

    def __init__(
        self,
        number: int,
        *,
        position: float = TICKS_PER_TURN / 2,
        max_speed: float = 4000.0,
        read_position: Callable[[], float] | None = None,
        on_goal: Callable[[int], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._table = bytearray(SIZE)
        self._max_speed = max_speed
        self._read_position = read_position
        self._on_goal = on_goal
        self._clock = clock
        self._at, self._position, self._velocity = clock(), read_position() if read_position else position, 0.0
        self._before = self._position
        self._store(Register.MODEL, 1060, 2)
        self._store(Register.ID, number, 1)
        self._store(Register.OPERATING_MODE, POSITION_MODE, 1)
        self._store(Register.MAX_POSITION, TICKS_PER_TURN - 1, 4)
        self.reboot()

    @property
    def torque(self) -> bool:
        """It is held in place."""
        return bool(self._table[Register.TORQUE_ENABLE])

    @property
    def goal(self) -> int:
        """Where it goes [ticks]."""
        return self._value(Register.GOAL_POSITION)

    @property
    def alert(self) -> int:
        """The bit that each status carries while there is a hardware error."""
        return Error.ALERT if self._table[Register.HARDWARE_ERROR] else 0

    def reboot(self) -> None:
        """Forget what is in RAM, as after a power cycle."""
        self._table[_EEPROM_END:] = bytes(SIZE - _EEPROM_END)
        self._update()
        self._store(Register.GOAL_POSITION, round(self._position), 4)

    def fail(self, bits: int) -> None:
        """Have a hardware error, which turns the torque off until it is rebooted."""
        self._table[Register.HARDWARE_ERROR] = bits
        self._table[Register.TORQUE_ENABLE] = 0

    def read(self, address: int, length: int) -> bytes | None:
        """Return registers; None: there are none."""
        self._update()
        return bytes(self._table[address : address + length]) if address + length <= SIZE else None

    def write(self, address: int, data: bytes) -> int:
        """Set registers, and return the error of the status packet."""
        self._update()
        end = address + len(data)
        if end > SIZE:
            return Error.RANGE
        if end > _READ_ONLY_FROM or (address < _EEPROM_END and self.torque):
            return Error.ACCESS
        before = bytes(self._table)
        self._table[address:end] = data
        error = self._check(before)
        if error:
            self._table[:] = before
            return error
        was_on = bool(before[Register.TORQUE_ENABLE])
        if self.torque and not was_on:
            # It holds where it is, whatever it was told before.
            self._store(Register.GOAL_POSITION, round(self._position), 4)
        told = address < Register.GOAL_POSITION + 4 and end > Register.GOAL_POSITION
        if self.torque and (told or not was_on) and self._on_goal is not None:
            self._on_goal(self.goal)
        return Error.NONE

    def _check(self, before: bytes) -> int:
        if self.torque and self._table[Register.HARDWARE_ERROR]:
            return Error.ACCESS
        low, high = self._value(Register.MIN_POSITION), self._value(Register.MAX_POSITION)
        single = self._table[Register.OPERATING_MODE] == POSITION_MODE
        changed = before[Register.GOAL_POSITION :] != self._table[Register.GOAL_POSITION :]
        return Error.LIMIT if single and changed and not low <= self.goal <= high else Error.NONE

    def _update(self) -> None:
        """Move until now."""
        now = self._clock()
        passed = now - self._at
        if self._read_position is not None:
            position = self._read_position()
            # Over a shorter time the steps in which it is told would look like speed.
            if passed >= _MEASURED_S:
                self._velocity, self._before, self._at = (position - self._before) / passed, position, now
            self._position = position
        else:
            self._at = now
            speed = min(self._max_speed, self._value(Register.PROFILE_VELOCITY) * VELOCITY_UNIT or math.inf)
            way = self.goal - self._position if self.torque else 0.0
            step = math.copysign(min(abs(way), speed * passed), way)
            self._position += step
            self._velocity = math.copysign(speed, way) if abs(way) > speed * passed else 0.0
        self._store(Register.PRESENT_POSITION, round(self._position), 4)
        self._store(Register.PRESENT_VELOCITY, round(self._velocity / VELOCITY_UNIT), 4)
        self._table[Register.MOVING] = self._velocity != 0.0

    def _value(self, register: Register) -> int:
        return int.from_bytes(self._table[register : register + 4], "little", signed=True)

    def _store(self, register: Register, value: int, size: int) -> None:
        self._table[register : register + size] = value.to_bytes(size, "little", signed=size == 4)
