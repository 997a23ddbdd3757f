"""Turning a base in the graph: its commands, its odometry, and what it does when something is missing."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator

import pytest
from geometry_msgs.msg import Quaternion, Twist, TwistStamped
from nav_msgs.msg import Odometry
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.qos import qos_profile_sensor_data
from ros_domain import claim_domain
from ros_graph import Graph, wait_until

from hvs_ros.mock.base import BaseFaults, SimulatedBase
from hvs_ros.neck.heading_controller import TurnFailure, TurnState
from hvs_ros.neck.robot import BaseTurn
from hvs_ros.nodes.base_driver import BaseDriver
from hvs_ros.nodes.convert import NS, time_message

TURN = BaseTurn(max_velocity=2.0, max_acceleration=4.0)
SLOW_MACHINE_S = 3.0
"""Limit for odometry where its end is not what is tested: other tests may take the processor for a while."""


@pytest.fixture(scope="module")
def graph() -> Iterator[Graph]:
    with claim_domain() as domain, Graph(domain) as graph:
        yield graph


class Base:
    """A simulated base in the graph, that starts at some heading; odometry is best effort, as many drivers send it."""

    def __init__(self, graph: Graph, turn: BaseTurn, faults: BaseFaults, heading: float) -> None:
        self._graph = graph
        self._heading = heading
        self._lock = threading.Lock()
        self.base = SimulatedBase(faults)
        self.commands: list[tuple[float, float]] = []
        self.alive = True
        self._last = time.monotonic()
        kind = TwistStamped if turn.stamped else Twist
        group = MutuallyExclusiveCallbackGroup()
        self._subscription = graph.node.create_subscription(
            kind, turn.cmd_vel, self._on_command, 10, callback_group=group
        )
        self._publisher = graph.node.create_publisher(Odometry, turn.odom, qos_profile_sensor_data)
        self._timer = graph.node.create_timer(0.02, self._tick, callback_group=group)

    def _on_command(self, message: Twist | TwistStamped) -> None:
        twist = message.twist if isinstance(message, TwistStamped) else message
        self.commands.append((time.monotonic(), twist.angular.z))
        with self._lock:
            self.base.command(twist.angular.z)

    def _tick(self) -> None:
        now = time.monotonic()
        with self._lock:
            self.base.advance(now - self._last)
            yaw = self._heading + self.base.odometry()
        self._last = now
        if not self.alive:
            return
        message = Odometry()
        message.header.stamp = time_message(self._graph.node.get_clock().now().nanoseconds)
        message.pose.pose.orientation = Quaternion(z=math.sin(yaw / 2), w=math.cos(yaw / 2))
        self._publisher.publish(message)

    def close(self) -> None:
        """Leave its parts to the node: to take them from a spinning executor is another test's business."""
        self.alive = False


class Stage:
    """A driver and its base."""

    def __init__(
        self,
        graph: Graph,
        turn: BaseTurn,
        faults: BaseFaults,
        heading: float = 0.0,
        odometry_limit_s: float = SLOW_MACHINE_S,
    ) -> None:
        self.base = Base(graph, turn, faults, heading)
        self.driver = BaseDriver(graph.node, turn, odometry_limit_s)
        wait_until(lambda: not self.driver.problem(), what="odometry and a listener")

    def end(self) -> TurnState:
        wait_until(lambda: self.driver.state() is not TurnState.TURNING, what="the end of the turn")
        return self.driver.state()

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, *_: object) -> None:
        self.driver.close()
        self.base.close()


def test_it_turns_beyond_half_a_turn_and_ends_with_zeros(graph: Graph) -> None:
    # It starts near the seam, so that the odometry's yaw wraps on the way.
    with Stage(graph, TURN, BaseFaults(delay=0.1, lag=0.05), heading=3.0) as stage:
        assert stage.driver.heading() == pytest.approx(0.0)
        began = graph.node.get_clock().now().nanoseconds
        assert not stage.base.commands, "a base that is not turned is not commanded"
        stage.driver.turn_to(3.4, timeout=60.0)
        assert stage.driver.destination() == 3.4
        assert stage.end() is TurnState.DONE, stage.driver.message()
        assert stage.driver.heading() == pytest.approx(3.4, abs=TURN.tolerance)
        assert stage.base.base.heading == pytest.approx(3.4, abs=TURN.tolerance + 0.02)
        assert max(abs(velocity) for _, velocity in stage.base.commands) <= TURN.max_velocity
        wait_until(lambda: len(stage.base.commands) >= 3 and not any(v for _, v in stage.base.commands[-3:]))
        assert stage.driver.destination() == stage.driver.heading()
        # The heading on the way is remembered.
        half = next(
            began + index * NS // 100
            for index in range(1000)
            if (stage.driver.at(began + index * NS // 100) or 0.0) > 1.8
        )
        assert stage.driver.at(half) == pytest.approx(1.8, abs=0.1)
        assert stage.driver.at(began) == pytest.approx(0.0, abs=0.01)


def test_stamped_commands_and_stop_at_once(graph: Graph) -> None:
    turn = BaseTurn("/two/cmd_vel", "/two/odom", stamped=True, max_velocity=1.0, max_acceleration=4.0)
    with Stage(graph, turn, BaseFaults()) as stage:
        stage.driver.turn_to(2.0)
        wait_until(lambda: abs(stage.base.base.rate) > 0.5, what="the base to turn")
        stage.driver.stop()
        assert stage.driver.state() is TurnState.IDLE
        zeros = wait_until(lambda: [time for time, v in stage.base.commands if not v][2:], what="three zeros")
        assert all(not v for time, v in stage.base.commands if time >= zeros[0])
        wait_until(lambda: abs(stage.base.base.rate) < 1e-6, what="rest")
        assert stage.driver.heading() is not None and stage.base.base.heading < 1.5
        # And it turns again.
        stage.driver.turn_to(0.0)
        assert stage.end() is TurnState.DONE, stage.driver.message()


def test_odometry_that_ends_ends_the_turn(graph: Graph) -> None:
    turn = BaseTurn("/three/cmd_vel", "/three/odom", max_velocity=0.5, max_acceleration=4.0)
    with Stage(graph, turn, BaseFaults(), odometry_limit_s=0.5) as stage:
        stage.driver.turn_to(3.0)
        # Where the machine itself pauses for so long, the turn has ended already.
        wait_until(lambda: abs(stage.base.base.rate) > 0.3 or stage.driver.failure(), what="the base to turn")
        stage.base.alive = False
        assert stage.end() is TurnState.FAILED
        assert stage.driver.failure() is TurnFailure.NO_ODOMETRY
        assert "/three/odom" in stage.driver.message()
        wait_until(lambda: abs(stage.base.base.rate) < 1e-6, what="rest")
        assert "/three/odom" in stage.driver.problem()


def test_a_base_that_ignores_commands(graph: Graph) -> None:
    turn = BaseTurn("/four/cmd_vel", "/four/odom")
    with Stage(graph, turn, BaseFaults(stuck=0.0)) as stage:
        stage.driver.turn_to(1.0)
        assert stage.end() is TurnState.FAILED
        assert stage.driver.failure() is TurnFailure.NO_RESPONSE
        assert "/four/cmd_vel" in stage.driver.message()


def test_what_is_missing_is_named(graph: Graph) -> None:
    driver = BaseDriver(graph.node, BaseTurn("/five/cmd_vel", "/five/odom"))
    try:
        assert driver.heading() is None and driver.at(graph.node.get_clock().now().nanoseconds) is None
        assert driver.problem() == "no odometry from /five/odom: nobody publishes it"
        driver.stop()
        odometry = graph.node.create_publisher(Odometry, "/five/odom", 1)

        def said(text: str) -> bool:
            odometry.publish(message)
            return text in driver.problem()

        message = Odometry()
        message.pose.pose.orientation = Quaternion(x=0.0, y=0.0, z=0.0, w=0.0)
        wait_until(lambda: said("its orientation is no rotation"), what="zeros to be refused")
        # Stamped zero: taken as of its arrival.
        message.pose.pose.orientation = Quaternion(w=1.0)
        wait_until(lambda: said("nobody listens to velocity commands on /five/cmd_vel"), what="odometry")
        assert driver.heading() == 0.0
        with pytest.raises(ValueError, match="nan"):
            driver.turn_to(math.nan)
    finally:
        driver.close()


def test_close_stops_the_base(graph: Graph) -> None:
    turn = BaseTurn("/six/cmd_vel", "/six/odom", max_velocity=1.0, max_acceleration=4.0)
    with Stage(graph, turn, BaseFaults(timeout=math.inf)) as stage:
        stage.driver.turn_to(3.0)
        wait_until(lambda: abs(stage.base.base.rate) > 0.5, what="the base to turn")
        stage.driver.close()
        wait_until(lambda: abs(stage.base.base.rate) < 1e-6, what="rest")
        stage.driver = BaseDriver(stage.base._graph.node, turn)
