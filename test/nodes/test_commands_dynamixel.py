"""Dynamixel servos: torque, joint states, and everything that can go wrong on a bus."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from controllers import JOINTS, START, ServoController, driver
from ros_domain import claim_domain
from ros_graph import Graph, wait_until
from sensor_msgs.msg import JointState

from hvs_ros.mock.dynamixel_bus import DynamixelBus
from hvs_ros.mock.dynamixel_servo import HardwareError, Register
from hvs_ros.neck.commands import CommandBackend, CommandError
from hvs_ros.neck.robot import Commands
from hvs_ros.neck.trajectory import Trajectory, plan_together
from hvs_ros.nodes.commands.dynamixel_servos import hardware_errors
from hvs_ros.nodes.commands.registry import BackendSetup, create_backend

pytest.importorskip("dynamixel_sdk")

PAN, TILT = ServoController.IDS
TARGET = (0.5, -0.4)
NEAR = 0.002


@dataclass
class Head:
    """A back end and the servos that it commands."""

    backend: CommandBackend
    servos: ServoController
    states: list[JointState]

    @property
    def bus(self) -> DynamixelBus:
        return self.servos.bus

    def until_problem(self, *texts: str) -> None:
        wait_until(lambda: all(text in self.backend.problem() for text in texts), what=f"the problem {texts}")

    def until_well(self) -> None:
        wait_until(lambda: not self.backend.problem(), what="no problem")

    def until_at(self, position: tuple[float, ...]) -> None:
        wait_until(lambda: self.servos.position() == pytest.approx(driver(position), abs=NEAR), what="the target")


@pytest.fixture(scope="module")
def graph() -> Iterator[Graph]:
    """One for all: every test has names of its own."""
    with claim_domain() as domain, Graph(domain) as graph:
        yield graph


@pytest.fixture
def namespace(request: pytest.FixtureRequest) -> str:
    """A part of every name."""
    return re.sub(r"\W+", "_", request.node.name).strip("_")


@pytest.fixture
def make_head(graph: Graph, namespace: str) -> Iterator[Callable[..., Head]]:
    heads: list[Head] = []

    def make(**settings: Any) -> Head:
        servos = ServoController()
        commands = Commands("dynamixel", servos.bus.port, {"ids": [PAN, TILT], "baudrate": 1_000_000, **settings})
        topic = f"{namespace}/joint_states"
        states = graph.collect(JointState, topic)
        heads.append(Head(create_backend(BackendSetup(graph.node, JOINTS, commands, topic)), servos, states))
        return heads[-1]

    yield make
    for head in heads:
        head.backend.close()
        head.bus.close()


@pytest.fixture
def head(make_head: Callable[..., Head]) -> Head:
    head = make_head()
    head.until_well()
    return head


def move(start: tuple[float, ...], target: tuple[float, ...], velocity: float = 2.0) -> Trajectory:
    return plan_together(start, [0.0, 0.0], target, max_velocity=[velocity] * 2, max_acceleration=[20.0] * 2)


def test_joint_states_are_those_of_a_driver(head: Head) -> None:
    state = wait_until(lambda: head.states and head.states[-1], what="joint states")
    assert state.name == ["pan", "servo_tilt"]
    assert list(state.position) == pytest.approx(driver(START), abs=NEAR)
    assert list(state.velocity) == [0.0, 0.0]
    head.backend.execute(move(START, TARGET))
    wait_until(lambda: list(head.states[-1].position) == pytest.approx(driver(TARGET), abs=NEAR), what="the target")
    moving = [state.velocity for state in head.states if any(state.velocity)]
    assert max(v[0] for v in moving) > 0.0 and max(v[1] for v in moving) > 0.0  # tilt goes down, its servo up
    stamps = [(state.header.stamp.sec, state.header.stamp.nanosec) for state in head.states]
    assert stamps == sorted(stamps) and stamps[0][0] > 0


def test_the_torque_is_on_from_the_first_motion_and_stays_on(head: Head) -> None:
    head.backend.hold(START)
    wait_until(lambda: len(head.states) > 10, what="some cycles")
    assert not head.bus.torque(PAN) and not head.bus.torque(TILT)
    head.backend.execute(move(START, TARGET))
    head.until_at(TARGET)
    head.backend.close()
    assert head.bus.torque(PAN) and head.bus.torque(TILT)


def test_a_hold_before_the_torque_is_on_cancels_the_motion(make_head: Callable[..., Head]) -> None:
    head = make_head(rate=5.0)
    head.until_well()
    head.backend.execute(move(START, TARGET))
    head.backend.hold(START)
    before = len(head.states)
    wait_until(lambda: len(head.states) > before + 1, what="the next cycle")
    assert max(abs(a - b) for a, b in zip(head.servos.position(), driver(START), strict=True)) < NEAR


def test_the_profile_is_written(make_head: Callable[..., Head]) -> None:
    head = make_head(profile_velocity=150, profile_acceleration=40)
    head.until_well()
    head.backend.execute(move(START, TARGET))
    head.until_at(TARGET)
    assert head.bus.register(TILT, Register.PROFILE_VELOCITY, 4) == 150
    assert head.bus.register(PAN, Register.PROFILE_ACCELERATION, 4) == 40


def test_an_adapter_that_is_pulled_out_is_named_and_found_again(head: Head) -> None:
    head.backend.execute(move(START, TARGET, 0.2))
    wait_until(lambda: head.servos.heard() > 5, what="the motion")
    head.bus.unplug()
    head.until_problem("the servo bus", head.bus.port)
    head.until_problem("cannot be opened", "plugged in")
    assert head.bus.port in head.backend.problem()
    stopped = head.servos.position()
    head.backend.execute(move(START, TARGET))  # is not begun later
    head.bus.plug()
    head.until_well()
    before = len(head.states)
    wait_until(lambda: len(head.states) > before + 3, what="joint states")
    assert head.servos.position() == stopped
    head.backend.execute(move(START, TARGET))
    head.until_at(TARGET)


def test_a_silent_servo_is_named_and_ends_the_motion(head: Head) -> None:
    head.backend.execute(move(START, TARGET, 0.2))
    wait_until(lambda: head.servos.heard() > 5, what="the motion")
    head.bus.silent.add(TILT)
    head.until_problem(f"servo {TILT} (tilt) does not answer")
    assert "servo 3" not in head.backend.problem()
    before, stopped = len(head.states), head.servos.position()
    wait_until(lambda: len(head.states) > before + 3, what="joint states of the other")
    assert head.states[-1].name == ["pan"]
    assert head.servos.position() == stopped
    head.bus.silent.clear()
    head.until_well()


def test_hardware_errors_in_words() -> None:
    assert hardware_errors(HardwareError.INPUT_VOLTAGE | HardwareError.ENCODER) == "input voltage, motor encoder"
    assert hardware_errors(0x40) == "0x40"


def test_a_hardware_error_is_named_until_the_servo_is_switched_off_and_on(head: Head) -> None:
    head.backend.execute(move(START, TARGET))
    head.until_at(TARGET)
    head.bus.hardware_error(PAN, HardwareError.OVERHEATING | HardwareError.OVERLOAD)
    head.until_problem(f"servo {PAN} (pan) reports a hardware error: overheating, overload;")
    head.until_problem("switch its power off and on")
    head.bus.reboot(PAN)
    head.until_well()
    head.backend.execute(move(TARGET, START))
    head.until_at(START)
    assert head.bus.torque(PAN)


def test_a_servo_in_another_mode_is_named(make_head: Callable[..., Head]) -> None:
    head = make_head()
    head.bus.set_register(TILT, Register.OPERATING_MODE, 1, 1)
    head.until_problem(f"servo {TILT} (tilt) is in the mode 'velocity'", "register 11")


def test_a_goal_beyond_a_servos_own_limits_is_cut(head: Head, capfd: pytest.CaptureFixture[str]) -> None:
    head.bus.set_register(PAN, Register.MAX_POSITION, 4, 2200)
    head.bus.unplug()
    head.until_problem("servo bus")
    head.bus.plug()
    head.until_well()
    head.backend.execute(move(START, TARGET))
    wait_until(lambda: head.bus.goal(PAN) == 2200, what="the limit")
    wait_until(lambda: "servo 3 (pan) is to go to" in capfd.readouterr().err, what="the warning")


def test_two_programs_cannot_share_a_bus(head: Head, make_head: Callable[..., Head], graph: Graph) -> None:
    commands = Commands("dynamixel", head.bus.port, {"ids": [PAN, TILT]})
    second = create_backend(BackendSetup(graph.node, JOINTS, commands))
    try:
        wait_until(lambda: "does another program use it?" in second.problem(), what="the reason")
    finally:
        second.close()


def test_without_the_library_the_extra_is_named(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dynamixel_sdk", None)
    with pytest.raises(CommandError, match=r"'dynamixel': .*pip install -e '\.\[dynamixel\]'"):
        create_backend(BackendSetup(graph.node, JOINTS, Commands("dynamixel", "/dev/null", {"ids": [1, 2]})))
