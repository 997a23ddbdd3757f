"""The thread that sends set-points, and the clock that they follow."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from rclpy.parameter import Parameter
from ros_graph import Graph, wait_until
from rosgraph_msgs.msg import Clock

from hvs_ros.neck.joints import Joints
from hvs_ros.neck.robot import NeckJoint
from hvs_ros.neck.trajectory import Trajectory, plan_together
from hvs_ros.nodes.commands.set_points import SetPoints
from hvs_ros.nodes.commands.streamer import Streamer, motion_clock
from hvs_ros.nodes.convert import time_message

PERIOD = 0.005
TARGET = (0.3,)


class Driver:
    """Gets set-points."""

    def __init__(self) -> None:
        self.points: list[Joints] = []
        set_points = SetPoints((NeckJoint("pan"),), PERIOD, 0.02, time.monotonic)
        self.streamer = Streamer(set_points, self.points.append, PERIOD)


@pytest.fixture
def driver() -> Iterator[Driver]:
    driver = Driver()
    yield driver
    driver.streamer.close()


def motion(velocity: float = 3.0) -> Trajectory:
    return plan_together([0.0], [0.0], TARGET, max_velocity=[velocity], max_acceleration=[50.0])


def test_it_streams_a_motion_and_falls_asleep(driver: Driver) -> None:
    for _ in range(2):
        before = len(driver.points)
        driver.streamer.execute(motion())
        wait_until(lambda before=before: TARGET in driver.points[before:], what="the target")
    count = -1
    while count != len(driver.points):
        count = len(driver.points)
        time.sleep(10 * PERIOD)
    assert driver.points[-1] == TARGET


def test_a_hold_is_sent_before_it_returns_and_nothing_older_follows(driver: Driver) -> None:
    driver.streamer.execute(motion(0.1))
    wait_until(lambda: len(driver.points) > 3, what="set-points")
    driver.streamer.hold((0.01,))
    assert driver.points[-1] == (0.01,)
    first = driver.points.index((0.01,))
    wait_until(lambda: len(driver.points) > first + 3, what="its repetition")
    assert set(driver.points[first:]) == {(0.01,)}


def test_after_close_nothing_is_sent(driver: Driver) -> None:
    driver.streamer.execute(motion(0.1))
    wait_until(lambda: driver.points, what="set-points")
    driver.streamer.close()
    count = len(driver.points)
    driver.streamer.hold((0.01,))
    driver.streamer.execute(motion())
    time.sleep(10 * PERIOD)
    assert len(driver.points) == count


def test_motions_follow_a_simulations_clock_where_there_is_one(graph: Graph) -> None:
    seconds = motion_clock(graph.node)
    before = seconds()
    assert before == pytest.approx(time.monotonic(), abs=5.0)
    wait_until(lambda: seconds() > before, what="the steady clock")
    graph.node.set_parameters([Parameter("use_sim_time", value=True)])
    publisher = graph.node.create_publisher(Clock, "/clock", 10)

    def told() -> bool:
        publisher.publish(Clock(clock=time_message(7_500_000_000)))
        return seconds() == pytest.approx(7.5)

    wait_until(told, what="the simulation's clock")
