"""One contract for every command back end: motions, what replaces them, holds, what is wrong, the end."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import pytest
from controllers import (
    JOINTS,
    SAMPLE_S,
    START,
    Controller,
    ForwardController,
    ServoController,
    TrajectoryController,
    driver,
)
from ros_domain import claim_domain
from ros_graph import Graph, wait_until

from hvs_ros.neck.commands import CommandBackend, CommandError
from hvs_ros.neck.robot import Commands
from hvs_ros.neck.trajectory import Trajectory, plan_together
from hvs_ros.nodes.commands.registry import BACKENDS, BackendSetup, create_backend
from hvs_ros.nodes.commands.set_points import FADE_LIMIT_RAD, FADE_S, MAX_PERIODS

VELOCITY, ACCELERATION = 1.5, 15.0
TARGET = (0.5, -0.4)
NEAR = 0.002
"""A tick of a servo is 0.0015 rad."""
LARGEST_STEP = (VELOCITY + 1.5 * FADE_LIMIT_RAD / FADE_S) * MAX_PERIODS * SAMPLE_S
QUIET_S = 0.15


@dataclass
class Stage:
    """A back end and, from ``start`` on, its controller."""

    graph: Graph
    name: str
    address: str
    settings: dict[str, Any]
    start: Callable[[], Controller]
    backend: CommandBackend = field(init=False)

    def __post_init__(self) -> None:
        commands = Commands(self.name, self.address, self.settings)
        self.backend = create_backend(BackendSetup(self.graph.node, JOINTS, commands))

    def ready(self) -> Controller:
        controller = self.start()
        wait_until(lambda: not self.backend.problem(), what=f"{self.name} to find its controller")
        return controller


@pytest.fixture(scope="module")
def graph() -> Iterator[Graph]:
    """One for all: every test has names of its own."""
    with claim_domain() as domain, Graph(domain) as graph:
        yield graph


@pytest.fixture
def namespace(request: pytest.FixtureRequest) -> str:
    """A part of every name."""
    return re.sub(r"\W+", "_", request.node.name).strip("_")


@pytest.fixture(params=[*BACKENDS.shipped])
def stage(request: pytest.FixtureRequest, graph: Graph, namespace: str) -> Iterator[Stage]:
    with ExitStack() as stack:
        stage = make_stage(request.param, graph, f"{namespace}/joints", stack)
        yield stage
        stage.backend.close()


def make_stage(name: str, graph: Graph, topic: str, stack: ExitStack) -> Stage:
    node = graph.node
    if name == "joint_trajectory":
        return Stage(graph, name, topic, {}, lambda: TrajectoryController(node, topic))
    if name == "forward_position":
        return Stage(graph, name, topic, {}, lambda: ForwardController(node, topic))
    if name == "dynamixel":
        pytest.importorskip("dynamixel_sdk")
        servos = ServoController()
        stack.callback(servos.bus.close)
        servos.bus.unplug()

        def plug() -> Controller:
            servos.bus.plug()
            return servos

        return Stage(graph, name, servos.bus.port, {"ids": [3, 7], "baudrate": 1_000_000}, plug)
    pytest.importorskip("control_msgs")
    from action_controller import ActionController

    def serve() -> Controller:
        controller = ActionController(node, topic)
        stack.callback(controller.close)
        return controller

    return Stage(graph, name, topic, {}, serve)


def move(start: tuple[float, ...], target: tuple[float, ...], velocity: tuple[float, ...] = (0.0, 0.0)) -> Trajectory:
    limits = {"max_velocity": [VELOCITY] * 2, "max_acceleration": [ACCELERATION] * 2}
    return plan_together(start, velocity, target, **limits)


def away(controller: Controller) -> float:
    """Return how far the joints have gone from the start."""
    return max(abs(now - first) for now, first in zip(controller.position(), driver(START), strict=True))


def is_at(controller: Controller, position: tuple[float, ...]) -> bool:
    return controller.position() == pytest.approx(driver(position), abs=NEAR)


def test_a_motion_goes_to_its_target_with_sign_and_offset(stage: Stage) -> None:
    controller = stage.ready()
    stage.backend.execute(move(START, TARGET))
    wait_until(lambda: is_at(controller, TARGET), what="the target")
    assert controller.largest_step() <= LARGEST_STEP


def test_a_newer_motion_replaces_the_older_one_without_a_jump(stage: Stage) -> None:
    controller = stage.ready()
    began = time.monotonic()
    stage.backend.execute(first := move(START, TARGET))
    wait_until(lambda: away(controller) > 0.1, what="the motion")
    now = first.at(time.monotonic() - began)
    back = (-0.1, 0.1)
    # A little behind, as joints are.
    stage.backend.execute(move(tuple(value - 0.02 for value in now.position), back, now.velocity))
    wait_until(lambda: is_at(controller, back), what="the newer target")
    assert controller.largest_step() <= LARGEST_STEP
    assert stage.backend.verdict() is None or stage.backend.verdict().succeeded


def test_a_hold_stops_where_it_says(stage: Stage) -> None:
    controller = stage.ready()
    began = time.monotonic()
    stage.backend.execute(motion := move(START, TARGET))
    wait_until(lambda: away(controller) > 0.1, what="the motion")
    here = motion.at(time.monotonic() - began).position
    stage.backend.hold(here)
    wait_until(lambda: is_at(controller, here), what="the hold")
    time.sleep(motion.duration)
    assert is_at(controller, here)
    assert stage.backend.verdict() is None
    # And on it goes.
    stage.backend.execute(move(here, TARGET))
    wait_until(lambda: is_at(controller, TARGET), what="the target")


def test_what_is_wrong_is_named_until_a_controller_listens(stage: Stage) -> None:
    problem = wait_until(stage.backend.problem)
    assert f"/{stage.address.lstrip('/')}" in problem
    assert "?" in problem or "being opened" in problem
    stage.ready()


def test_after_close_nothing_is_sent(stage: Stage) -> None:
    controller = stage.ready()
    stage.backend.execute(move(START, TARGET))
    wait_until(lambda: away(controller) > 0.1, what="the motion")
    stage.backend.close()
    heard = controller.heard()
    stage.backend.execute(move(TARGET, START))
    stage.backend.hold(START)
    stage.backend.close()
    time.sleep(QUIET_S)
    # What was under way then may have arrived late.
    assert controller.heard() <= heard + 1


def test_a_hold_right_before_close_arrives(stage: Stage) -> None:
    controller = stage.ready()
    stage.backend.execute(motion := move(START, TARGET))
    wait_until(lambda: away(controller) > 0.1, what="the motion")
    here = motion.at(0.3).position
    stage.backend.hold(here)
    stage.backend.close()
    wait_until(lambda: is_at(controller, here), what="the hold")


@pytest.mark.parametrize(
    ("name", "settings", "says"),
    [
        ("joint_trajectory", {"period": 0}, "period is 0; a number from 0.001"),
        ("joint_trajectory", {"rate": 10.0}, "no setting rate; it has period, hold_time"),
        ("forward_position", {"rate": "fast"}, "rate is 'fast'"),
        ("forward_position", {"hold_time": float("nan")}, "hold_time is nan"),
        ("dynamixel", {}, r"ids is \(\); a list with a servo for each joint \(pan, tilt\)"),
        ("dynamixel", {"ids": [1, 1]}, r"ids is \[1, 1\]"),
        ("dynamixel", {"ids": [1, 300]}, "ids is 300"),
        ("dynamixel", {"ids": [1, 2], "protocol": 1.0}, r"protocol is 1.0; 2.0 is expected"),
        ("dynamixel", {"ids": [1, 2], "baudrate": 12345}, "baudrate is 12345"),
        ("dynamixel", {"ids": [1, 2], "ticks_per_turn": 1.5}, "ticks_per_turn is 1.5; an integer"),
    ],
)
def test_a_setting_that_is_refused(graph: Graph, name: str, settings: dict[str, Any], says: str) -> None:
    with pytest.raises(CommandError, match=f"'{name}'.*{says}"):
        create_backend(BackendSetup(graph.node, JOINTS, Commands(name, "neck/joints", settings)))


def test_a_topic_that_is_no_name(graph: Graph) -> None:
    with pytest.raises(CommandError, match="'joint_trajectory': no name is 'a b'"):
        create_backend(BackendSetup(graph.node, JOINTS, Commands("joint_trajectory", "a b")))


def test_a_listener_of_another_type_is_named(graph: Graph) -> None:
    backend = create_backend(BackendSetup(graph.node, JOINTS, Commands("joint_trajectory", "odd/joints")))
    with Graph(graph.node.context.get_domain_id()) as other:
        ForwardController(other.node, "odd/joints")
        wait_until(lambda: "test (std_msgs/msg/Float64MultiArray)" in backend.problem(), what="the listener's name")
    backend.close()
