"""DYNAMIXEL servos of the X series through the manufacturer's library: registers of several servos at once.

The library waits for answers in a busy loop, and lets exceptions of several kinds through when the adapter is pulled
out. Here reads wait in the kernel; what fails is an OSError, a termios.error or a ``ServoError``, after all of which
the bus is to be closed and opened again.
"""

from __future__ import annotations

import errno
import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from hvs_ros.neck.commands import CommandError

READ_S = 0.004
"""A read gives others a turn for so long before the library looks at its own time limit."""
WRITE_LIMIT_S = 1.0
"""Far more than a write takes: a program that was kept from running must not be taken for a bus that hangs."""
WRITE_TRIES = 3

# The control table.
OPERATING_MODE = 11
POSITION_LIMITS = 48
"""Greatest, then least."""
TORQUE_ENABLE = 64
HARDWARE_ERROR = 70
PROFILE_ACCELERATION = 108
PROFILE_VELOCITY = 112
GOAL_POSITION = 116
PRESENT_VELOCITY = 128
PRESENT_POSITION = 132

MODES = {0: "current", 1: "velocity", 3: "position", 4: "extended position", 5: "current-based position", 16: "PWM"}
SINGLE_TURN = 3
POSITION_MODES = (SINGLE_TURN, 4, 5)
HARDWARE_ERRORS = {
    0x01: "input voltage",
    0x04: "overheating",
    0x08: "motor encoder",
    0x10: "electrical shock",
    0x20: "overload",
}


class ServoError(Exception):
    """The bus cannot be used, or a servo did not do what it was told; the message says why."""


def import_sdk() -> Any:
    """Return the manufacturer's library.

    Raises:
        CommandError: it is not installed.
    """
    try:
        return importlib.import_module("dynamixel_sdk")
    except ImportError as error:
        raise CommandError(f"dynamixel_sdk cannot be imported ({error}): pip install -e '.[dynamixel]'") from error


class ServoBus:
    """Servos on a serial port. Not thread-safe.

    Args:
        port: e.g. ``/dev/ttyUSB0``.
        baudrate: bits/s, as set in the servos.
        ids: of the servos.

    Raises:
        CommandError: the library is not installed.
        ValueError: no such baud rate.
    """

    def __init__(self, port: str, baudrate: int, ids: Sequence[int]) -> None:
        self._sdk = import_sdk()
        self._name = port
        self._baudrate = baudrate
        self._ids = tuple(ids)
        self._port: Any = None
        self._packets = self._sdk.PacketHandler(2.0)
        if self._sdk.PortHandler(port).getCFlagBaud(baudrate) <= 0:
            raise ValueError(f"baudrate is {baudrate}; one that the servos have is expected, e.g. 57600 or 1000000")

    def open(self) -> None:
        """Open the port, for this program alone.

        Raises:
            ServoError: it cannot be opened.
        """
        port = self._sdk.PortHandler(self._name)
        try:
            port.setBaudRate(self._baudrate)
            self._port = port
            port.ser.timeout = READ_S
            port.ser.write_timeout = WRITE_LIMIT_S
            port.ser.exclusive = True
        except OSError as error:
            raise ServoError(f"cannot be opened: {error}; {_hint(error)}") from error

    def close(self) -> None:
        """Close the port."""
        if self._port is not None:
            self._port.closePort()
            self._port = None

    def read(self, address: int, size: int) -> dict[int, bytes]:
        """Return a piece of the control table of every servo that answers."""
        group = self._sdk.GroupSyncRead(self._port, self._packets, address, size)
        for servo in self._ids:
            group.addParam(servo)
        if group.txRxPacket() == self._sdk.COMM_SUCCESS:
            return {servo: bytes(group.data_dict[servo]) for servo in self._ids}
        # The first that is silent hides those behind it.
        found = {}
        for servo in self._ids:
            data, result, _ = self._packets.readTxRx(self._port, servo, address, size)
            if result == self._sdk.COMM_SUCCESS and len(data) == size:
                found[servo] = bytes(data)
        return found

    def write(self, servo: int, address: int, size: int, value: int) -> None:
        """Write a register of one servo and wait for its answer.

        Raises:
            ServoError: it does not answer, or refuses.
        """
        data = list(value.to_bytes(size, "little", signed=size == 4))
        for _ in range(WRITE_TRIES):
            result, error = self._packets.writeTxRx(self._port, servo, address, size, data)
            if result == self._sdk.COMM_SUCCESS:
                break
        if result != self._sdk.COMM_SUCCESS or error:
            why = self._packets.getRxPacketError(error) if error else self._packets.getTxRxResult(result)
            raise ServoError(f"servo {servo} does not take {value} in register {address}: {why}")

    def write_goals(self, goals: Mapping[int, int]) -> None:
        """Tell servos their goal positions [ticks], all at once; nobody answers.

        Raises:
            ServoError: it could not be sent.
        """
        if not goals:
            return
        group = self._sdk.GroupSyncWrite(self._port, self._packets, GOAL_POSITION, 4)
        for servo, goal in goals.items():
            group.addParam(servo, list(goal.to_bytes(4, "little", signed=True)))
        result = group.txPacket()
        if result != self._sdk.COMM_SUCCESS:
            raise ServoError(f"goals cannot be sent: {self._packets.getTxRxResult(result)}")


def number(data: bytes) -> int:
    """Return a register's value."""
    return int.from_bytes(data, "little", signed=len(data) == 4)


def hardware_errors(bits: int) -> str:
    """Return the hardware errors in words."""
    known = [text for bit, text in HARDWARE_ERRORS.items() if bits & bit]
    return ", ".join(known) or f"0x{bits:02x}"


def _hint(error: OSError) -> str:
    if error.errno == errno.ENOENT:
        return "is its adapter plugged in, and is this the port in the robot's YAML (commands: topic)?"
    if error.errno == errno.EACCES:
        return "may this user open it (group dialout)?"
    return "does another program use it?"
