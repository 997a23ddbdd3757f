"""An emergency stop that is pressed and released as fast as messages go, by latched and volatile publishers."""

from __future__ import annotations

import pytest
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from ros_graph import Graph, wait_until
from std_msgs.msg import Bool

from hvs_ros.nodes.robot_safety import SafetyStop

PRESSES = 4
QOS = {
    "latched": QoSProfile(depth=2 * PRESSES, durability=DurabilityPolicy.TRANSIENT_LOCAL),
    "volatile": QoSProfile(depth=2 * PRESSES),
    "best effort": QoSProfile(depth=2 * PRESSES, reliability=ReliabilityPolicy.BEST_EFFORT),
}
HEARD_BY = {"latched": 3, "volatile": 2, "best effort": 1}


class Button:
    def __init__(self, graph: Graph, kind: str) -> None:
        self.stops: list[str] = []
        self.safety = SafetyStop(graph.node, self.stops.append)
        self._publisher = graph.node.create_publisher(Bool, "e_stop", QOS[kind])
        wait_until(lambda: self._publisher.get_subscription_count() == HEARD_BY[kind], what="listeners")

    def say(self, pressed: bool) -> None:
        self._publisher.publish(Bool(data=pressed))


@pytest.fixture(params=QOS)
def button(graph: Graph, request: pytest.FixtureRequest) -> Button:
    return Button(graph, request.param)


def test_every_press_of_a_moment_stops_once_and_the_last_word_counts(button: Button) -> None:
    for _ in range(PRESSES):
        button.say(True)
        button.say(False)
    wait_until(lambda: len(button.stops) == PRESSES and not button.safety.engaged, what="all presses and releases")
    button.say(True)
    wait_until(lambda: len(button.stops) == PRESSES + 1, what="the last press")
    assert "e_stop says true" in button.safety.engaged


def test_a_release_that_was_sent_before_a_press_does_not_undo_it(button: Button) -> None:
    for _ in range(PRESSES):
        button.say(False)
        button.say(True)
    wait_until(lambda: len(button.stops) == PRESSES, what="all presses")
    # Whatever comes by the other subscription now is older.
    assert button.safety.engaged
    button.say(False)
    wait_until(lambda: not button.safety.engaged, what="the release")
