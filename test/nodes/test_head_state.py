"""The transforms of a head; tf2_msgs, which is not there outside a distro, is played by a stand-in."""

from __future__ import annotations

import importlib.util
import math
import sys
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import pytest
from geometry_msgs.msg import TransformStamped
from rclpy.qos import DurabilityPolicy

from hvs_ros.angles import Quaternion
from hvs_ros.neck.joints import JointSample
from hvs_ros.neck.neck import Moment
from hvs_ros.neck.state import GazeState
from hvs_ros.nodes.head_state import StatePublisher

JOINTS = ("head_yaw", "head_pitch")
Vector = tuple[float, float, float]


@dataclass
class TFMessage:
    transforms: list[TransformStamped] = field(default_factory=list)


class FakeNode:
    """Keeps what is published by topic."""

    def __init__(self) -> None:
        self.published: dict[str, list[Any]] = {}
        self.qos: dict[str, Any] = {}
        self.log: list[str] = []

    def create_publisher(self, kind: type, topic: str, qos: Any) -> Any:
        self.qos[topic] = qos
        messages = self.published.setdefault(topic, [])
        return type("Publisher", (), {"publish": staticmethod(messages.append)})

    def get_logger(self) -> Any:
        return type("Logger", (), {"info": staticmethod(self.log.append)})

    def get_clock(self) -> Any:
        return type("Clock", (), {"now": staticmethod(lambda: type("Time", (), {"nanoseconds": 5}))})


def rotate(q: Quaternion, v: Vector) -> Vector:
    x, y, z, w = q
    t = (2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0]))
    return (
        v[0] + w * t[0] + y * t[2] - z * t[1],
        v[1] + w * t[1] + z * t[0] - x * t[2],
        v[2] + w * t[2] + x * t[1] - y * t[0],
    )


def quaternion(transform: TransformStamped) -> Quaternion:
    q = transform.transform.rotation
    return (q.x, q.y, q.z, q.w)


@pytest.fixture
def with_tf(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    package, module = ModuleType("tf2_msgs"), ModuleType("tf2_msgs.msg")
    module.TFMessage = TFMessage  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tf2_msgs", package)
    monkeypatch.setitem(sys.modules, "tf2_msgs.msg", module)
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *a: object() if name == "tf2_msgs" else find(name, *a)
    )


def test_the_optical_axis_follows_the_line_of_sight(with_tf: None) -> None:
    node = FakeNode()
    publisher = StatePublisher(node, "base_link", "gaze", "optical", JOINTS)  # type: ignore[arg-type]
    publisher.publish(Moment(7, GazeState(math.pi / 2, math.pi / 6), settled=True))
    (static,) = node.published["/tf_static"][0].transforms
    (dynamic,) = node.published["/tf"][0].transforms
    assert (static.header.frame_id, static.child_frame_id) == ("gaze", "optical")
    assert (dynamic.header.frame_id, dynamic.child_frame_id) == ("base_link", "gaze")
    assert dynamic.header.stamp.nanosec == 7
    assert node.published["pose"][0].header == dynamic.header
    assert node.qos["/tf_static"].durability == DurabilityPolicy.TRANSIENT_LOCAL
    # A quarter turn to the left and 30 degrees down, along the camera's z.
    seen = rotate(quaternion(dynamic), rotate(quaternion(static), (0.0, 0.0, 1.0)))
    assert seen == pytest.approx((0.0, math.cos(math.pi / 6), -0.5))
    # The picture's right is the head's right: backwards now.
    assert rotate(quaternion(dynamic), rotate(quaternion(static), (1.0, 0.0, 0.0))) == pytest.approx((1.0, 0.0, 0.0))


def test_a_base_that_turns_takes_its_frame_with_it(with_tf: None) -> None:
    node = FakeNode()
    publisher = StatePublisher(node, "base_link", "gaze", "optical", JOINTS)  # type: ignore[arg-type]
    publisher.publish(Moment(7, GazeState(2.0, 0.0), settled=True, turned=math.pi / 2))
    (dynamic,) = node.published["/tf"][0].transforms
    ahead = rotate(quaternion(dynamic), (1.0, 0.0, 0.0))
    assert ahead == pytest.approx((math.cos(2.0 - math.pi / 2), math.sin(2.0 - math.pi / 2), 0.0))
    assert node.published["pose"][0].yaw == 2.0


def test_a_base_frame_of_its_own_hangs_on_the_robot_s_link(with_tf: None) -> None:
    node = FakeNode()
    backwards = ("root_link", (0.0, 0.0, math.pi))
    StatePublisher(node, "hvs_base", "gaze", "optical", JOINTS, backwards)  # type: ignore[arg-type]
    (message,) = node.published["/tf_static"]
    parents = {transform.child_frame_id: transform.header.frame_id for transform in message.transforms}
    assert parents == {"optical": "gaze", "hvs_base": "root_link"}
    forward = rotate(quaternion(message.transforms[1]), (1.0, 0.0, 0.0))
    assert forward == pytest.approx((-1.0, 0.0, 0.0))


def test_without_tf2_msgs_one_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name == "tf2_msgs" else find(name, *a))
    node = FakeNode()
    publisher = StatePublisher(node, "base_link", "gaze", "optical", JOINTS)  # type: ignore[arg-type]
    joints = JointSample(7, (0.5, 0.1), (0.0, 0.0))
    publisher.publish(Moment(7, GazeState(0.5, 0.1), settled=False, joints=joints))
    assert len(node.log) == 1
    assert "tf2_msgs" in node.log[0]
    assert set(node.published) == {"pose", "joint_states"}
    assert not node.published["pose"][0].settled
    (message,) = node.published["joint_states"]
    assert (tuple(message.name), list(message.position)) == (JOINTS, [0.5, 0.1])
