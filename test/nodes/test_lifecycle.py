"""The managed nodes of a search, through ROS's lifecycle services: heads and the search policy, as processes.

Add a head to ``HEADS`` and every test of heads here runs against it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from head_under_test import ABORTED, SUCCEEDED, HeadClient, Result, off, write_panorama
from hvs_interfaces.msg import SearchState
from lifecycle import Lifecycle
from node_launcher import Launcher, NodeProcess
from rclpy.qos import DurabilityPolicy, QoSProfile
from ros_domain import claim_domain
from ros_graph import Graph, wait_until
from searching import SCRIPTED, Background
from turret import write_turret

from hvs_ros.nodes.convert import NS, time_ns
from hvs_ros.nodes.search_client import SearchClient
from hvs_ros.search.episode import Outcome

STATES = QoSProfile(depth=50, durability=DurabilityPolicy.TRANSIENT_LOCAL)
SLOW = 0.2
"""rad/s; a move by 1 rad takes five seconds."""


def panorama_head(start: Launcher, folder: Path) -> NodeProcess:
    """Start a panorama head that shows views all the time; it does not start by itself."""
    write_panorama(folder / "scenes" / "first" / "panorama.png")
    return start(
        "hvs_ros.nodes.panorama_head",
        namespace="head",
        scenes=str(folder / "scenes"),
        width=160,
        height=90,
        motion="profile",
        max_acceleration=30.0,
        publish_rate=20.0,
        autostart=False,
    )


def robot_head(start: Launcher, folder: Path) -> NodeProcess:
    """Start a robot's head and its twin; the head shows views all the time, and does not start by itself."""
    pytest.importorskip("pinocchio")
    pytest.importorskip("mujoco")
    write_panorama(folder / "scenes" / "first" / "panorama.png")
    robot, view = str(write_turret(folder)), {"width": 160, "height": 90}
    start(
        "hvs_ros.nodes.neck_twin",
        namespace="twin",
        robot=robot,
        scenes=str(folder / "scenes"),
        hfov=math.radians(100.0),
        latency=0.01,
        **view,
    )
    return start(
        "hvs_ros.nodes.robot_head",
        namespace="head",
        robot=robot,
        kind="twin",
        confirm=True,
        joint_state_timeout=2.0,
        publish_rate=20.0,
        autostart=False,
        **view,
    )


HEADS: dict[str, tuple[str, Callable[[Launcher, Path], NodeProcess]]] = {
    "panorama_head": ("head/panorama_head", panorama_head),
    "robot_head": ("head/robot_head", robot_head),
}


class ManagedHead(HeadClient):
    """A head, its process and its lifecycle."""

    def __init__(self, graph: Graph, process: NodeProcess, name: str) -> None:
        super().__init__(graph)
        self.process, self.lifecycle = process, Lifecycle(graph, name)

    def is_still(self) -> bool:
        """Watch it for a while, and return whether it neither moved nor showed anything."""
        began = self.graph.node.get_clock().now().nanoseconds
        pose = wait_until(lambda: self.poses_since(began), what="a pose")[0]
        wait_until(lambda: self.poses_since(began + NS // 2), what="a later pose")
        moved = [p for p in self.poses_since(began) if off(p.yaw, pose.yaw) > 1e-3 or abs(p.pitch - pose.pitch) > 1e-3]
        return not moved and not [view for view in self.views if time_ns(view.header.stamp) >= began]


@pytest.fixture(scope="module", params=HEADS)
def shared_head(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ManagedHead]:
    name, begin = HEADS[request.param]
    folder = tmp_path_factory.mktemp("head")
    with claim_domain() as domain, Launcher(domain, folder) as start, Graph(domain) as graph:
        yield ManagedHead(graph, begin(start, folder), name)


@pytest.fixture
def head(shared_head: ManagedHead) -> ManagedHead:
    """The head, inactive."""
    shared_head.lifecycle.bring("inactive")
    return shared_head


def test_a_head_that_does_not_start_by_itself_has_parameters_and_nothing_else(shared_head: ManagedHead) -> None:
    managed = shared_head.lifecycle
    managed.bring("unconfigured")
    assert "unconfigured" in managed.wait_for_status("unconfigured").message
    assert not [name for name in managed.services() if "/move/" in name]
    assert managed.set("pitch_max", 0.9) == "" == managed.set("pitch_max", math.pi / 2)
    assert not managed.change("activate") and managed.state == "unconfigured"


def test_an_inactive_head_says_so_and_neither_moves_nor_shows_anything(head: ManagedHead) -> None:
    head.wait()
    assert head.lifecycle.wait_for_status("inactive").values
    status, result = head.move(0.5)
    assert (status, result.outcome) == (ABORTED, Result.REFUSED)
    assert "inactive" in result.message and "lifecycle set /head/" in result.message
    assert head.is_still()


def test_deactivated_in_mid_move_it_holds_and_activated_again_it_goes_on(head: ManagedHead) -> None:
    managed = head.lifecycle
    assert managed.change("activate")
    head.wait()
    wait_until(lambda: head.move(0.0)[1].outcome == Result.REACHED, limit_s=30.0, what="a head that can move")
    began = time.time_ns()
    goal = head.send(1.0, max_velocity=SLOW)
    wait_until(lambda: [p for p in head.poses_since(began) if p.yaw_velocity > 0.0], what="motion")
    assert managed.change("deactivate")
    status, result = goal.result()
    assert (status, result.outcome) == (ABORTED, Result.STOPPED)
    assert "deactivated" in result.message
    assert head.pose_at_rest().yaw == pytest.approx(result.pose.yaw, abs=0.02)
    assert 0.0 < result.pose.yaw < 0.9
    assert head.is_still()
    assert managed.change("activate")
    status, result = head.move(0.3)
    assert (status, result.outcome) == (SUCCEEDED, Result.REACHED)
    assert off(head.looks_at(result)[0], 0.3) < 0.04


def test_cleaned_up_it_can_be_configured_again_and_otherwise(head: ManagedHead) -> None:
    managed = head.lifecycle
    assert "cleanup" in managed.set("pitch_max", 0.25)
    assert managed.change("cleanup")
    wait_until(lambda: head.graph.node.count_publishers("/head/pose") == 0, what="its topics to go")
    assert managed.set("pitch_max", 0.25) == ""
    assert managed.change("configure", "activate")
    wait_until(lambda: head.capabilities.pitch_max == pytest.approx(0.25, abs=1e-6), what="new capabilities")
    wait_until(lambda: head.move(0.0)[1].outcome == Result.REACHED, limit_s=30.0, what="a head that can move")
    _, result = head.move(0.2, 0.4)
    assert result.outcome == Result.CLAMPED and result.pose.pitch == pytest.approx(0.25, abs=0.01)
    managed.bring("unconfigured")
    assert managed.set("pitch_max", math.pi / 2) == ""


def test_what_stands_in_the_way_is_told_and_can_be_mended(shared_head: ManagedHead) -> None:
    managed = shared_head.lifecycle
    managed.bring("unconfigured")
    assert managed.set("pitch_min", 0.5) == managed.set("pitch_max", 0.1) == ""
    assert not managed.change("configure") and managed.state == "unconfigured"
    status = managed.wait_for_status("could not be configured")
    assert status.level == b"\x02" and "pitch" in status.message
    assert "could not be configured" in shared_head.process.output
    assert managed.set("pitch_min", -math.pi / 2) == managed.set("pitch_max", math.pi / 2) == ""
    assert managed.change("configure") and managed.state == "inactive"


def test_shut_down_in_mid_move_it_holds_and_its_process_still_ends_cleanly(shared_head: ManagedHead) -> None:
    managed = shared_head.lifecycle
    managed.bring("active")
    shared_head.wait()
    wait_until(lambda: shared_head.move(0.0)[1].outcome == Result.REACHED, limit_s=30.0, what="a head that can move")
    goal = shared_head.send(1.0, max_velocity=SLOW)
    assert managed.change("shutdown") and managed.state == "finalized"
    assert goal.result()[1].outcome == Result.STOPPED
    assert not managed.change("configure")
    assert shared_head.process.stop() == 0
    assert "Traceback" not in shared_head.process.output and "a bug" not in shared_head.process.output


def test_what_stands_in_the_way_of_an_autostart_is_one_line(start_node: Launcher) -> None:
    node = start_node("hvs_ros.nodes.panorama_head", yaw_min=1.0, yaw_max=0.0)
    assert node.wait() == 1
    (line,) = [line for line in node.output.splitlines() if "yaw" in line]
    assert "FATAL" in line and "Traceback" not in node.output


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Graph, NodeProcess, Lifecycle, SearchClient]]:
    """A search policy that does not start by itself, and a mock head whose second move takes for ever."""
    folder = tmp_path_factory.mktemp("searcher")
    with claim_domain() as domain, Launcher(domain, folder) as start, Graph(domain) as graph:
        script = {"policy.script": "rotate(30,0); submit"}
        process = start("hvs_ros.nodes.search_policy", policy=SCRIPTED, autostart=False, **script)
        start("hvs_ros.mock.head", namespace="head", fault="stalls", from_move=2)
        client = SearchClient(graph.node)
        yield graph, process, Lifecycle(graph, "search_policy"), client
        client.close()


def test_a_search_policy_lives_the_same_life(
    searcher: tuple[Graph, NodeProcess, Lifecycle, SearchClient],
) -> None:
    graph, process, managed, client = searcher
    states: list[SearchState] = graph.collect(SearchState, "search/state", STATES)
    assert "unconfigured" in managed.wait_for_status("unconfigured").message
    assert managed.change("configure")
    record = client.search("find it")
    assert record.outcome is Outcome.REFUSED
    assert "inactive" in record.message and "lifecycle set /search_policy activate" in record.message
    wait_until(lambda: states and "inactive" in states[-1].message, what="its state")

    assert managed.change("activate")
    search = Background(client)
    wait_until(lambda: states[-1].state == SearchState.MOVING, what="the move that takes for ever")
    assert managed.change("deactivate")
    record = search.result()
    assert record.outcome is Outcome.CANCELED and "search_policy was deactivated" in record.message
    wait_until(lambda: states[-1].state == SearchState.IDLE, what="its state")
    assert "deactivated" in states[-1].message
    assert client.search("find it").outcome is Outcome.REFUSED

    assert "cleanup" in managed.set("policy.script", "submit")
    assert managed.change("cleanup")
    assert managed.set("policy.script", "submit(12,0)") == "" and "queue" in managed.set("queue", -1)
    assert managed.change("configure", "activate")
    assert Lifecycle(graph, "head/mock_head").set("fault", "") == ""
    record = client.search("find it", limit_s=10.0)
    assert record.outcome is Outcome.SUBMITTED and round(record.submitted.yaw_deg) == 12

    assert managed.change("shutdown") and managed.state == "finalized"
    assert process.stop() == 0
    assert "Traceback" not in process.output and "a bug" not in process.output
