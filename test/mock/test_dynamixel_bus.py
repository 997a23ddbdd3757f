"""The stand-in bus speaks what the manufacturer's own library speaks."""

from __future__ import annotations

import termios
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvs_ros.mock.dynamixel_bus import DynamixelBus
from hvs_ros.mock.dynamixel_packets import Packet, crc16, decode, encode
from hvs_ros.mock.dynamixel_servo import HardwareError, MockServo, Register

sdk = pytest.importorskip("dynamixel_sdk")


class Client:
    """The manufacturer's library on a port. An answer has 34 ms, which a busy machine may exceed: it asks again."""

    def __init__(self, port: str) -> None:
        self.port = sdk.PortHandler(port)
        self.packets = sdk.PacketHandler(2.0)
        assert self.port.openPort()
        self.port.ser.timeout = 0.01  # it would keep the bus's thread from running

    def ping(self, servo: int) -> tuple[int, int]:
        model, _, error = asked(lambda: self.packets.ping(self.port, servo))
        return model, error

    def read(self, servo: int, register: Register, size: int) -> tuple[int, int]:
        data, _, error = asked(lambda: self.packets.readTxRx(self.port, servo, register, size))
        return int.from_bytes(bytes(data), "little", signed=size == 4), error

    def write(self, servo: int, register: Register, size: int, value: int) -> int:
        data = list(value.to_bytes(size, "little"))
        _, _, error = asked(lambda: (None, *self.packets.writeTxRx(self.port, servo, register, size, data)))
        return int(error)


def asked(ask: Callable[[], tuple[Any, int, int]]) -> tuple[Any, int, int]:
    for _ in range(100):
        answer = ask()
        if answer[1] == sdk.COMM_SUCCESS:
            return answer
    pytest.fail("no answer")


@pytest.fixture
def bus() -> Iterator[DynamixelBus]:
    with DynamixelBus([1, 2]) as bus:
        yield bus


@pytest.fixture
def client(bus: DynamixelBus) -> Iterator[Client]:
    client = Client(bus.port)
    yield client
    client.port.closePort()


def test_the_checksum_is_that_of_the_manual() -> None:
    # The manual's example: read the present position of servo 1.
    assert encode(Packet(1, 2, bytes([0x84, 0, 4, 0]))) == bytes.fromhex("FFFFFD0001070002840004001D15")
    assert crc16(b"") == 0


@given(st.integers(0, 252), st.integers(0, 255), st.binary(max_size=40), st.binary(max_size=5))
def test_packets_survive_noise_and_headers_inside(servo: int, instruction: int, data: bytes, noise: bytes) -> None:
    packet = Packet(servo, instruction, data + b"\xff\xff\xfd" + data)
    stream = bytearray(noise.replace(b"\xff", b"") + encode(packet) + encode(packet)[:-1])
    assert decode(stream) == packet
    assert decode(stream) is None
    stream += encode(packet)[-1:]
    assert decode(stream) == packet


def test_a_damaged_packet_is_dropped() -> None:
    stream = bytearray(encode(Packet(1, 3, b"abc")))
    stream[9] ^= 1
    assert decode(stream) is None


def test_ping_read_and_write(client: Client) -> None:
    assert client.ping(1) == (1060, 0)
    assert client.read(1, Register.PRESENT_POSITION, 4) == (2048, 0)
    assert client.write(2, Register.PROFILE_VELOCITY, 4, 0xFDFFFF) == 0  # is stuffed on the way
    assert client.read(2, Register.PROFILE_VELOCITY, 4) == (0xFDFFFF, 0)
    assert client.read(1, Register.PROFILE_VELOCITY, 4) == (0, 0)


def test_servos_go_to_the_goals_of_a_sync_write(client: Client, bus: DynamixelBus) -> None:
    for servo in (1, 2):
        client.write(servo, Register.TORQUE_ENABLE, 1, 1)
    goals = {1: 2100, 2: 1900}
    group = sdk.GroupSyncWrite(client.port, client.packets, Register.GOAL_POSITION, 4)
    for servo, goal in goals.items():
        group.addParam(servo, list(goal.to_bytes(4, "little")))
    assert group.txPacket() == 0
    states = sdk.GroupSyncRead(client.port, client.packets, Register.PRESENT_VELOCITY, 8)
    for servo in goals:
        states.addParam(servo)
    end = time.monotonic() + 10.0
    while any(states.getData(servo, Register.PRESENT_POSITION, 4) != goal for servo, goal in goals.items()):
        states.txRxPacket()
        assert time.monotonic() < end
    assert bus.goal(1) == 2100


def test_without_torque_nothing_moves_and_goals_are_not_told() -> None:
    told: list[tuple[int, int]] = []
    with DynamixelBus([5], read_position=lambda _: 1234.4, on_goal=lambda *goal: told.append(goal)) as bus:
        bus.set_register(5, Register.GOAL_POSITION, 4, 3000)
        assert told == []
        bus.set_register(5, Register.TORQUE_ENABLE, 1, 1)
        assert told == [(5, 1234)]  # it holds where it is
        bus.set_register(5, Register.GOAL_POSITION, 4, 3000)
        assert told[1:] == [(5, 3000)]
        with pytest.raises(ValueError, match="refused"):
            bus.set_register(5, Register.GOAL_POSITION, 4, 5000)
        assert told[2:] == []
        assert bus.register(5, Register.PRESENT_POSITION, 4) == 1234


def test_a_servo_moves_with_a_limited_speed() -> None:
    now = [0.0]
    servo = MockServo(1, max_speed=1000.0, clock=lambda: now[0])
    servo.write(Register.TORQUE_ENABLE, b"\x01")
    servo.write(Register.GOAL_POSITION, (3048).to_bytes(4, "little"))

    def present() -> int:
        return int.from_bytes(servo.read(Register.PRESENT_POSITION, 4) or b"", "little")

    now[0] = 0.5
    assert present() == 2548
    servo.write(Register.PROFILE_VELOCITY, (32).to_bytes(4, "little"))  # 7.3 rpm: 500 ticks/s
    now[0] = 1.0
    assert present() == pytest.approx(2548 + 250, abs=1)
    now[0] = 10.0
    assert present() == 3048


def test_a_hardware_error_is_in_every_status_and_turns_the_torque_off(client: Client, bus: DynamixelBus) -> None:
    client.write(1, Register.TORQUE_ENABLE, 1, 1)
    bus.hardware_error(1, HardwareError.OVERLOAD)
    assert client.read(1, Register.HARDWARE_ERROR, 1) == (HardwareError.OVERLOAD, 0x80)
    assert not bus.torque(1)
    assert client.write(1, Register.TORQUE_ENABLE, 1, 1) & 0x7F
    asked(lambda: (None, *client.packets.reboot(client.port, 1)))
    assert client.read(1, Register.HARDWARE_ERROR, 1) == (0, 0)


def test_a_silent_servo_does_not_answer(client: Client, bus: DynamixelBus) -> None:
    bus.silent.add(1)
    result: Any = client.packets.ping(client.port, 1)[1]
    assert result == sdk.COMM_RX_TIMEOUT
    assert client.ping(2) == (1060, 0)


def test_a_bus_that_is_pulled_out_comes_back_on_the_same_port(client: Client, bus: DynamixelBus) -> None:
    bus.unplug()
    with pytest.raises(OSError):
        Client(bus.port)
    with pytest.raises((OSError, termios.error)):
        client.packets.ping(client.port, 1)
    bus.plug()
    again = Client(bus.port)
    assert again.ping(1) == (1060, 0)
    again.port.closePort()


def test_a_client_that_does_not_read_blocks_nobody(bus: DynamixelBus) -> None:
    ping = encode(Packet(1, 1))
    with open(bus.port, "wb", buffering=0) as port:
        for _ in range(2000):
            port.write(ping)
    bus.unplug()
    bus.plug()
    client = Client(bus.port)
    assert client.ping(1) == (1060, 0)
    client.port.closePort()
