"""Joint states as drivers send them, nonsense included: what becomes a sample, and what is said of the rest."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pytest
from ros_graph import Graph, wait_until
from sensor_msgs.msg import JointState

from hvs_ros.neck.joints import JointSample
from hvs_ros.neck.robot import NeckJoint
from hvs_ros.nodes.convert import time_message
from hvs_ros.nodes.robot_joints import RobotJoints

NAMES = ("pan", "tilt")
TOPIC = "joint_states"


@dataclass
class Driver:
    """Publishes joint states, and keeps what was made of them."""

    graph: Graph
    samples: list[JointSample] = field(default_factory=list)

    def __post_init__(self) -> None:
        known = [NeckJoint("pan", sign=-1, offset=0.1), NeckJoint("tilt")]
        self.joints = RobotJoints(self.graph.node, TOPIC, NAMES, known, 0.5, self.samples.append)
        self._publisher = self.graph.node.create_publisher(JointState, TOPIC, 10)
        wait_until(lambda: self._publisher.get_subscription_count() == 1, what="a listener")

    def say(
        self, names: Sequence[str], position: Sequence[float], velocity: Sequence[float] = (), ahead_s: float = 0.0
    ) -> None:
        message = JointState(name=list(names), position=list(position), velocity=list(velocity))
        now = int(self.graph.node.get_clock().now().nanoseconds)
        message.header.stamp = time_message(now + round(ahead_s * 1e9))
        self._publisher.publish(message)

    def heard(self) -> JointSample:
        return wait_until(lambda: self.samples, what="a sample")[-1]  # type: ignore[no-any-return]


@pytest.fixture
def driver(graph: Graph) -> Iterator[Driver]:
    driver = Driver(graph)
    yield driver
    driver.joints.close()


def test_a_sample_has_the_signs_and_offsets_of_the_urdf(driver: Driver) -> None:
    driver.say(("tilt", "other", "pan"), (0.3, 9.0, 0.2), (0.5, 0.0, 0.7))
    sample = driver.heard()
    assert sample.position == pytest.approx((-0.1, 0.3))
    assert sample.velocity == pytest.approx((-0.7, 0.5))


@pytest.mark.parametrize("position", [math.nan, math.inf, 1e308])
def test_an_angle_that_is_none_is_no_sample_and_is_named(driver: Driver, position: float) -> None:
    driver.say(NAMES, (0.0, position))
    wait_until(lambda: "tilt is" in driver.joints.problem(), what="the complaint")
    assert not driver.samples


@pytest.mark.parametrize("velocity", [math.nan, math.inf, 1e300])
def test_a_velocity_that_is_none_counts_as_not_told(driver: Driver, velocity: float) -> None:
    driver.say(NAMES, (0.0, 0.0), (0.0, velocity))
    assert driver.heard().velocity == (0.0, 0.0)


def test_joints_of_several_publishers_make_a_sample_together(driver: Driver) -> None:
    driver.say(("pan",), (0.2,))
    wait_until(lambda: "tilt" in driver.joints.problem(), what="the complaint that one is missing")
    assert not driver.samples
    driver.say(("tilt",), (0.3,))
    assert driver.heard().position == pytest.approx((-0.1, 0.3))


@pytest.mark.parametrize("ahead_s", [-100.0, 100.0])
def test_a_joint_of_another_time_makes_no_sample(driver: Driver, ahead_s: float) -> None:
    driver.say(("pan",), (0.2,), ahead_s=ahead_s)
    driver.say(("tilt",), (0.3,))
    driver.say(("pan",), (0.4,))
    assert driver.heard().position == pytest.approx((-0.3, 0.3))
    assert len(driver.samples) == 1
