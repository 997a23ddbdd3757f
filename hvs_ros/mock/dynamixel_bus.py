"""DYNAMIXEL servos on a serial bus, without the servos and without the bus: for tests, and for the physics twin.

The bus is a pseudo terminal that speaks Protocol 2.0 as servos of the X series do, as far as hvs_ros uses it: ping,
read, write, reboot, sync read, sync write. What can go wrong on a bus can go wrong here: servos that do not answer,
hardware errors, and the adapter being pulled out.

    with DynamixelBus([1, 2]) as bus:
        ...  # open bus.port
"""

from __future__ import annotations

import os
import select
import tempfile
import threading
import tty
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from hvs_ros.mock.dynamixel_packets import BROADCAST, STATUS, Packet, decode, encode
from hvs_ros.mock.dynamixel_servo import Error, MockServo

PING, READ, WRITE, REBOOT, SYNC_READ, SYNC_WRITE = 0x01, 0x02, 0x03, 0x08, 0x82, 0x83
FIRMWARE = 46
ROUND_S = 0.1


class DynamixelBus:
    """A context manager, thread-safe.

    Args:
        ids: of the servos.
        read_position: where a servo is [ticks], if something else moves it; None: it moves by itself. Called from the
            thread of the bus.
        on_goal: is told (id, ticks) of every goal that a servo goes to; those that it ignores, because its torque is
            off or they are out of range, are not told. Like ``read_position`` it must not use the bus itself.

    Attributes:
        port: path to open, the same after ``unplug`` and ``plug``, like those in /dev/serial/by-id.
        silent: servos that do not answer (nor hear), to be changed at will.
    """

    def __init__(
        self,
        ids: Iterable[int],
        read_position: Callable[[int], float] | None = None,
        on_goal: Callable[[int, int], None] | None = None,
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="dynamixel_")
        self.port = str(Path(self._folder.name) / "bus")
        self.silent: set[int] = set()
        self._lock = threading.Lock()
        self._servos = {number: _servo(number, read_position, on_goal) for number in ids}
        self._ends: tuple[int, int] | None = None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.plug()

    def __enter__(self) -> DynamixelBus:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Be gone."""
        self.unplug()
        self._folder.cleanup()

    def plug(self) -> None:
        """Be on the port again."""
        if self._thread is not None:
            return
        master, slave = os.openpty()
        tty.setraw(slave)
        # What a client that has gone does not read is lost, as on a wire.
        os.set_blocking(master, False)
        # Its own end stays open, or the bus would hang up whenever a client does.
        self._ends = (master, slave)
        os.symlink(os.ttyname(slave), self.port)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(master, self._stop), name="dynamixel-bus", daemon=True)
        self._thread.start()

    def unplug(self) -> None:
        """Be pulled out: the port is gone, and whoever has it open gets errors. The servos keep their power."""
        if self._thread is None or self._ends is None:
            return
        self._stop.set()
        self._thread.join()
        self._thread = None
        os.unlink(self.port)
        for end in self._ends:
            os.close(end)
        self._ends = None

    def hardware_error(self, servo: int, bits: int) -> None:
        """Let a servo have a hardware error: see ``HardwareError``."""
        with self._lock:
            self._servos[servo].fail(bits)

    def reboot(self, servo: int) -> None:
        """Switch a servo's power off and on."""
        with self._lock:
            self._servos[servo].reboot()

    def torque(self, servo: int) -> bool:
        """Return whether a servo holds itself."""
        with self._lock:
            return self._servos[servo].torque

    def goal(self, servo: int) -> int:
        """Return where a servo goes [ticks]."""
        with self._lock:
            return self._servos[servo].goal

    def register(self, servo: int, address: int, size: int) -> int:
        """Return a register's value."""
        with self._lock:
            data = self._servos[servo].read(address, size)
        if data is None:
            raise ValueError(f"there is no register {address}")
        return int.from_bytes(data, "little", signed=size == 4)

    def set_register(self, servo: int, address: int, size: int, value: int) -> None:
        """Write a register as a client would."""
        with self._lock:
            error = self._servos[servo].write(address, value.to_bytes(size, "little", signed=size == 4))
        if error:
            raise ValueError(f"register {address} = {value} is refused with error {error}")

    def _run(self, master: int, stop: threading.Event) -> None:
        stream = bytearray()
        while not stop.is_set():
            if not select.select([master], [], [], ROUND_S)[0]:
                continue
            stream += os.read(master, 4096)
            while (packet := decode(stream)) is not None:
                with self._lock:
                    answers = self._answers(packet)
                with suppress(BlockingIOError):
                    os.write(master, b"".join(map(encode, answers)))

    def _answers(self, packet: Packet) -> list[Packet]:
        given = packet.parameters
        if packet.instruction == SYNC_READ:
            return [self._read(number, given[:4]) for number in given[4:] if number in self._heard]
        if packet.instruction == SYNC_WRITE:
            address, size = int.from_bytes(given[:2], "little"), int.from_bytes(given[2:4], "little")
            for start in range(4, len(given), size + 1):
                if given[start] in self._heard:
                    self._servos[given[start]].write(address, given[start + 1 : start + 1 + size])
            return []
        everybody = packet.servo == BROADCAST
        return [
            self._answer(number, packet)
            for number in sorted(self._heard)
            if packet.servo == number or (everybody and packet.instruction == PING)
        ]

    @property
    def _heard(self) -> set[int]:
        return self._servos.keys() - self.silent

    def _answer(self, number: int, packet: Packet) -> Packet:
        servo, given = self._servos[number], packet.parameters
        if packet.instruction == PING:
            return self._status(number, Error.NONE, (servo.read(0, 2) or b"") + bytes([FIRMWARE]))
        if packet.instruction == READ:
            return self._read(number, given)
        if packet.instruction == WRITE:
            return self._status(number, servo.write(int.from_bytes(given[:2], "little"), given[2:]))
        if packet.instruction == REBOOT:
            servo.reboot()
            return self._status(number, Error.NONE)
        return self._status(number, Error.INSTRUCTION)

    def _read(self, number: int, given: bytes) -> Packet:
        if len(given) != 4:
            return self._status(number, Error.LENGTH)
        data = self._servos[number].read(int.from_bytes(given[:2], "little"), int.from_bytes(given[2:], "little"))
        return self._status(number, Error.RANGE) if data is None else self._status(number, Error.NONE, data)

    def _status(self, number: int, error: int, data: bytes = b"") -> Packet:
        return Packet(number, STATUS, bytes([error | self._servos[number].alert]) + data)


def _servo(
    number: int, read_position: Callable[[int], float] | None, on_goal: Callable[[int, int], None] | None
) -> MockServo:
    return MockServo(
        number,
        read_position=None if read_position is None else lambda: read_position(number),
        on_goal=None if on_goal is None else lambda ticks: on_goal(number, ticks),
    )
