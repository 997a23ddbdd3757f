"""The contract that every head keeps, tested from outside through the graph.

Add a head to ``HEADS`` and every test here runs against it. What a test may expect of speed and range it reads
from the head's own capabilities.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import cv2
import pytest
from head_under_test import (
    ABORTED,
    CANCELED,
    LATCHED,
    SUCCEEDED,
    HeadClient,
    Result,
    off,
    seen_direction,
    write_panorama,
)
from hvs_interfaces.msg import HeadCapabilities
from node_launcher import Launcher
from rclpy.qos import QoSProfile
from ros_domain import claim_domain
from ros_graph import Graph, wait_until
from sensor_msgs.msg import CompressedImage, Image, JointState
from turret import write_turret

from hvs_ros.nodes.convert import time_ns
from hvs_ros.nodes.images import from_compressed

VIEW = {"width": 160, "height": 90}
SLOW = 0.2
"""rad/s; a move by 1 rad takes five seconds."""


@dataclass(frozen=True)
class Kind:
    """A kind of head.

    Attributes:
        start: starts one in the namespace ``head``, in the scene ``first`` of a folder of scenes.
        near: rad, how near to its goal it gets; joints of a robot hang a little.
        slack: rad/s, by how much its measured velocity may be beyond what was commanded: servos overshoot when a
            command comes late.
        loads_scenes: it has load_scene.
        moves: how many moves in a row are tried.
    """

    start: Callable[[Launcher, Path], None]
    near: float = 1e-6
    slack: float = 1e-6
    loads_scenes: bool = True
    moves: int = 100


def panorama_head(start: Launcher, scenes: Path, **parameters: object) -> None:
    """Start a panorama head."""
    start("hvs_ros.nodes.panorama_head", namespace="head", scenes=str(scenes), **VIEW, **parameters)


def robot_head(start: Launcher, scenes: Path) -> None:
    """Start a robot's head and its twin: a neck that turns all round, so that every direction can be tried."""
    pytest.importorskip("pinocchio")
    pytest.importorskip("mujoco")
    robot = str(write_turret(scenes.parent))
    start(
        "hvs_ros.nodes.neck_twin",
        namespace="twin",
        robot=robot,
        scenes=str(scenes),
        scene="first",
        hfov=math.radians(100.0),
        scene_radius=0.0,
        latency=0.01,
        **VIEW,
    )
    start(
        "hvs_ros.nodes.robot_head",
        namespace="head",
        robot=robot,
        scene="first",
        kind="twin",
        confirm=True,
        joint_state_timeout=2.0,  # a machine that runs several tests at once lets them wait
        **VIEW,
    )


HEADS = {
    "panorama, instant": Kind(panorama_head),
    "panorama, profile": Kind(
        lambda start, scenes: panorama_head(
            start, scenes, motion="profile", max_velocity=4.0, max_acceleration=30.0, settle_time=0.05, pose_rate=50.0
        )
    ),
    "robot, on its twin": Kind(robot_head, near=0.015, slack=0.8, loads_scenes=False, moves=25),
}


@pytest.fixture(scope="module", params=HEADS)
def shared_head(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HeadClient]:
    """One head for all tests of a kind: starting one takes longer than most of them."""
    folder = tmp_path_factory.mktemp("head")
    write_panorama(folder / "scenes" / "first" / "panorama.png")
    write_panorama(folder / "scenes" / "second" / "panorama.png", turned=1.0)
    with claim_domain() as domain, Launcher(domain, folder) as start, Graph(domain) as graph:
        kind = HEADS[request.param]
        kind.start(start, folder / "scenes")
        client = HeadClient(graph).wait()
        client.scenes = folder / "scenes"
        client.kind = kind
        wait_until(lambda: client.move(0.0)[1].outcome == Result.REACHED, limit_s=30.0, what="a head that can move")
        yield client


@pytest.fixture
def head(shared_head: HeadClient) -> HeadClient:
    """The head, in its first scene, looking ahead."""
    if shared_head.capabilities.scene != "first":
        assert shared_head.load_scene("first").success
    assert shared_head.move(0.0)[1].outcome == Result.REACHED
    return shared_head


@pytest.fixture
def travelling_head(head: HeadClient) -> HeadClient:
    """A head that can be somewhere else."""
    if not head.kind.loads_scenes:
        pytest.skip("a robot is where it is")
    return head


@pytest.mark.parametrize(("yaw", "pitch"), [(0.5, 0.1), (-2.0, -0.7), (math.pi, 0.0), (9.0, 0.4)])
def test_it_reaches_a_direction_and_the_view_shows_it(head: HeadClient, yaw: float, pitch: float) -> None:
    status, result = head.move(yaw, pitch)
    assert (status, result.outcome, result.message) == (SUCCEEDED, Result.REACHED, "")
    assert off(result.pose.yaw, yaw) < head.kind.near
    assert result.pose.pitch == pytest.approx(pitch, abs=head.kind.near)
    assert -math.pi < result.pose.yaw <= math.pi
    assert result.pose.settled
    assert result.pose.header.frame_id == head.capabilities.header.frame_id
    seen_yaw, seen_pitch = head.looks_at(result)
    assert off(seen_yaw, yaw) < 0.04
    assert seen_pitch == pytest.approx(pitch, abs=0.04)


def test_the_view_leaves_before_the_result(head: HeadClient) -> None:
    before = len(head.views)
    goal = head.send(0.3)
    _, result = goal.result()
    view = head.view_since(result.view_stamp)
    assert time_ns(view.header.stamp) >= time_ns(result.view_stamp)
    assert len(head.views) > before


def test_a_relative_move_adds_to_the_present_direction(head: HeadClient) -> None:
    head.move(0.4, 0.2)
    _, result = head.move(-1.0, 0.1, relative=True)
    assert result.outcome == Result.REACHED
    assert result.pose.yaw == pytest.approx(-0.6, abs=head.kind.near)
    assert result.pose.pitch == pytest.approx(0.3, abs=head.kind.near)


def test_a_move_by_nothing_shows_a_fresh_view_at_once(head: HeadClient) -> None:
    _, first = head.move(0.0, relative=True)
    began = time.monotonic()
    status, second = head.move(0.0, relative=True)
    assert status == SUCCEEDED
    assert time_ns(head.view_since(second.view_stamp).header.stamp) > time_ns(first.view_stamp)
    assert time.monotonic() - began < 1.0


def test_a_head_without_a_stop_takes_the_short_way(head: HeadClient) -> None:
    assert head.capabilities.yaw_continuous
    _, there = head.move(3.0)
    _, result = head.move(-3.0)
    assert off(result.pose.yaw, -3.0) < head.kind.near
    assert all(abs(pose.yaw) > 2.9 for pose in head.poses_since(time_ns(there.pose.header.stamp)))


def test_beyond_straight_up_it_is_clamped_and_says_so(head: HeadClient) -> None:
    status, result = head.move(0.2, -2.0)
    assert (status, result.outcome) == (SUCCEEDED, Result.CLAMPED)
    assert result.pose.pitch == pytest.approx(head.capabilities.pitch_min, abs=head.kind.near)
    assert "pitch" in result.message
    assert head.looks_at(result)[1] == pytest.approx(-math.pi / 2, abs=0.04)


@pytest.mark.parametrize(
    ("goal", "reason"),
    [
        ({"yaw": math.nan}, "not a number"),
        ({"yaw": 0.0, "pitch": math.inf}, "not a number"),
        ({"yaw": 0.0, "max_velocity": math.nan}, "not a number"),
        ({"yaw": 360.0}, "degrees"),
        ({"yaw": 0.0, "max_velocity": -1.0}, "max_velocity"),
        ({"yaw": 0.0, "timeout_s": -1.0}, "timeout"),
        ({"yaw": 0.0, "mode": 7}, "mode"),
    ],
)
def test_a_senseless_goal_is_refused_with_the_reason(head: HeadClient, goal: dict[str, float], reason: str) -> None:
    head.move(0.7)
    status, result = head.move(**goal)
    assert (status, result.outcome) == (ABORTED, Result.REFUSED)
    assert reason in result.message
    assert result.pose.yaw == pytest.approx(0.7, abs=head.kind.near)


def test_a_refused_goal_leaves_the_move_under_way_alone(head: HeadClient) -> None:
    goal = head.send(0.3, max_velocity=1.0)
    assert head.move(math.nan)[1].outcome == Result.REFUSED
    assert goal.result()[1].outcome == Result.REACHED


def test_the_velocity_of_a_goal_slows_it_down(head: HeadClient) -> None:
    began = time.monotonic()
    assert head.move(0.4, max_velocity=1.0)[1].outcome == Result.REACHED
    assert time.monotonic() - began >= 0.4


def test_a_newer_goal_takes_over_without_a_jump(head: HeadClient) -> None:
    began = time_ns(head.move(0.0)[1].pose.header.stamp)
    first = head.send(1.5, max_velocity=1.0)
    time.sleep(0.3)
    second = head.send(-0.5, 0.2, max_velocity=1.0)
    status, result = first.result()
    assert (status, result.outcome) == (ABORTED, Result.PREEMPTED)
    assert not second.ended
    status, result = second.result()
    assert (status, result.outcome) == (SUCCEEDED, Result.REACHED)
    assert result.pose.yaw == pytest.approx(-0.5, abs=head.kind.near)
    # What was published before the result may arrive after it.
    wait_until(lambda: head.poses_since(time_ns(result.pose.header.stamp)), what="the last pose")
    poses = sorted(head.poses_since(began), key=lambda pose: time_ns(pose.header.stamp))
    for before, after in pairwise(poses):
        seconds = (time_ns(after.header.stamp) - time_ns(before.header.stamp)) / 1e9
        assert abs(after.yaw - before.yaw) <= (1.0 + head.kind.slack) * seconds + head.kind.near
        assert abs(after.yaw_velocity - before.yaw_velocity) <= head.limits[1] * seconds + head.kind.slack
    assert max(pose.yaw for pose in poses) > 0.2


def test_many_goals_at_once_end_all_and_the_last_one_wins(head: HeadClient) -> None:
    goals = [head.send(0.1 * index) for index in range(20)]
    results = [goal.result()[1] for goal in goals]
    assert {result.outcome for result in results} <= {Result.REACHED, Result.PREEMPTED}
    assert results[-1].outcome == Result.REACHED
    assert head.pose_at_rest().yaw == pytest.approx(1.9, abs=head.kind.near)


def test_many_moves_in_a_row_do_not_stall(head: HeadClient) -> None:
    for index in range(head.kind.moves):
        status, result = head.send(0.01 if index % 10 == 0 else 0.0, relative=True).result(5.0)
        assert (status, result.outcome) == (SUCCEEDED, Result.REACHED), f"move {index}"


def test_a_cancellation_is_answered_at_once_and_the_head_holds(head: HeadClient) -> None:
    goal = head.send(1.0, max_velocity=SLOW)
    wait_until(lambda: head.poses[-1].yaw_velocity > 0.1, what="motion")
    assert goal.cancel() < 0.2
    status, result = goal.result(1.0)
    assert (status, result.outcome) == (CANCELED, Result.STOPPED)
    assert 0.0 < result.pose.yaw < 0.9
    assert head.pose_at_rest().yaw == pytest.approx(result.pose.yaw, abs=0.02)
    assert head.move(0.5)[1].outcome == Result.REACHED


def test_a_move_that_takes_too_long_ends_and_the_head_holds(head: HeadClient) -> None:
    status, result = head.move(1.0, max_velocity=SLOW, timeout_s=0.3)
    assert (status, result.outcome) == (ABORTED, Result.NOT_SETTLED)
    assert "0.3 s" in result.message
    assert head.pose_at_rest().yaw == pytest.approx(result.pose.yaw, abs=0.02)


def test_feedback_tells_pose_and_error(head: HeadClient) -> None:
    head.feedback.clear()
    head.move(0.3, -0.1, max_velocity=1.0)
    wait_until(lambda: len(head.feedback) >= 3, what="feedback, which the result may overtake")
    for feedback in head.feedback:
        assert feedback.pose.yaw + feedback.yaw_error == pytest.approx(0.3, abs=head.kind.near)
        assert feedback.pose.pitch + feedback.pitch_error == pytest.approx(-0.1, abs=head.kind.near)


def test_image_and_camera_info_pair(head: HeadClient) -> None:
    began = time.time_ns()
    for yaw in (0.1, 0.2, 0.3):
        head.move(yaw)

    def since(messages: list[Any]) -> dict[int, Any]:
        return {time_ns(m.header.stamp): m for m in messages if time_ns(m.header.stamp) >= began}

    # One of the two may arrive a little later, never not at all.
    wait_until(lambda: len(since(head.views)) >= 3 and not since(head.views).keys() - since(head.infos), what="pairs")
    infos = since(head.infos)
    capabilities = head.capabilities
    for stamp, view in since(head.views).items():
        info = infos[stamp]
        assert info.header.frame_id == view.header.frame_id == capabilities.optical_frame
        assert (info.width, info.height) == (view.width, view.height) == (capabilities.width, capabilities.height)
        assert 2 * math.atan(info.width / 2 / info.k[0]) == pytest.approx(capabilities.hfov)


def test_a_settled_pose_and_joint_states_go_with_every_view(head: HeadClient) -> None:
    joints: list[JointState] = head.graph.collect(JointState, "head/joint_states", QoSProfile(depth=100))
    wait_until(lambda: joints, what="joint_states")
    _, result = head.move(0.6, 0.3)
    stamp = time_ns(head.view_since(result.view_stamp).header.stamp)
    pose = wait_until(lambda: [p for p in head.poses if time_ns(p.header.stamp) == stamp], what="the view's pose")[0]
    assert pose.settled
    assert (pose.yaw, pose.pitch) == pytest.approx((0.6, 0.3), abs=head.kind.near)
    joint = wait_until(lambda: [j for j in joints if time_ns(j.header.stamp) == stamp], what="its joint state")[0]
    angles = dict(zip(joint.name, joint.position, strict=True))
    assert off(angles["head_yaw"], 0.6) < head.kind.near  # a joint without a stop may have turned more than once
    assert angles["head_pitch"] == pytest.approx(0.3, abs=head.kind.near)


def test_a_compressed_view_shows_the_same(head: HeadClient) -> None:
    compressed: list[CompressedImage] = head.graph.collect(CompressedImage, "head/camera/image_raw/compressed")
    wait_until(lambda: compressed, what="the first compressed view")
    _, result = head.move(-1.2, 0.2)
    view = wait_until(
        lambda: [v for v in compressed if time_ns(v.header.stamp) >= time_ns(result.view_stamp)], what="a view"
    )[0]
    assert "jpeg" in view.format
    seen_yaw, seen_pitch = seen_direction(from_compressed(view))
    assert off(seen_yaw, -1.2) < 0.06
    assert seen_pitch == pytest.approx(0.2, abs=0.06)


def test_who_comes_late_is_told_capabilities_and_shown_the_view(head: HeadClient) -> None:
    head.move(0.8)
    with Graph(int(head.graph.context.get_domain_id())) as late:
        capabilities = late.collect(HeadCapabilities, "head/capabilities", LATCHED)
        views: list[Image] = late.collect(Image, "head/camera/image_raw")
        wait_until(lambda: capabilities and views, what="capabilities and a view")
    assert capabilities[0].kind
    assert capabilities[0].scene == "first"
    assert capabilities[0].yaw_min == pytest.approx(-math.pi)


@pytest.mark.parametrize("how", ["name", "folder", "picture"])
def test_a_scene_is_loaded_by_name_or_path(travelling_head: HeadClient, how: str) -> None:
    head = travelling_head
    folder = head.scenes / "second"
    wanted = {"name": "second", "folder": str(folder), "picture": str(folder / "panorama.png")}[how]
    before = time_ns(head.capabilities.header.stamp)
    response = head.load_scene(wanted, 0.5, 0.1)
    assert response.success, response.message
    assert response.scene == ("panorama" if how == "picture" else "second")
    assert (response.pose.yaw, response.pose.pitch) == pytest.approx((0.5, 0.1))
    seen_yaw, seen_pitch = head.looks_at(response)
    assert off(seen_yaw, 1.5) < 0.04  # everything there is turned by 1 rad
    assert seen_pitch == pytest.approx(0.1, abs=0.04)
    wait_until(lambda: time_ns(head.capabilities.header.stamp) > before, what="new capabilities")
    assert head.capabilities.scene == response.scene


@pytest.mark.parametrize("bad", ["missing", "corrupt", "square", "empty", "text", "annotation", "nan", "nothing"])
def test_a_bad_scene_is_refused_and_the_old_one_stays(travelling_head: HeadClient, tmp_path: Path, bad: str) -> None:
    head = travelling_head
    head.move(0.9)
    folder = tmp_path / bad
    folder.mkdir()
    if bad == "corrupt":
        write_panorama(folder / "panorama.png")
        whole = (folder / "panorama.png").read_bytes()
        (folder / "panorama.png").write_bytes(whole[: len(whole) // 2])
    elif bad == "square":
        write_panorama(folder / "panorama.png")
        cv2.imwrite(str(folder / "panorama.png"), cv2.imread(str(folder / "panorama.png"))[:, :256])
    elif bad == "text":
        (folder / "panorama.jpg").write_text("not a picture")
    elif bad == "annotation":
        write_panorama(folder / "panorama.png")
        (folder / "annotation.json").write_text("{")
    path = {"missing": str(tmp_path / "none"), "nothing": "", "nan": "second"}.get(bad, str(folder))
    response = head.load_scene(path, math.nan if bad == "nan" else 0.0)
    assert not response.success
    assert response.message
    if bad not in ("nan", "nothing"):
        assert path in response.message
    assert response.scene == "first"
    assert response.pose.yaw == pytest.approx(0.9)
    _, result = head.move(0.2)
    assert off(head.looks_at(result)[0], 0.2) < 0.04


def test_a_changed_scene_stops_the_move(travelling_head: HeadClient) -> None:
    head = travelling_head
    goal = head.send(1.0, max_velocity=SLOW)
    assert head.load_scene("second", -1.0).success
    status, result = goal.result()
    assert (status, result.outcome) == (ABORTED, Result.STOPPED)
    assert "second" in result.message
    assert head.pose_at_rest().yaw == pytest.approx(-1.0)
