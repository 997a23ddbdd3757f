"""search_policy and a head as processes: killed, frozen, restarted, ended by signals."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from head_under_test import write_panorama
from hvs_interfaces.msg import SearchState
from hvs_interfaces.srv import LoadScene
from node_launcher import Launcher
from rcl_interfaces.srv import DescribeParameters, SetParameters
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from ros_graph import Graph, wait_until
from searching import SCRIPTED, Background

from hvs_ros.angles import Direction
from hvs_ros.nodes.search_client import SearchClient, SearchClientError
from hvs_ros.search.episode import Outcome

STATES = QoSProfile(depth=50, durability=DurabilityPolicy.TRANSIENT_LOCAL)
SEARCH, HEAD = "hvs_ros.nodes.search_policy", "hvs_ros.mock.head"


@pytest.fixture
def client(graph: Graph) -> Iterator[SearchClient]:
    client = SearchClient(graph.node)
    yield client
    client.close()


def reached(states: list[SearchState], state: int) -> bool:
    return any(message.state == state and message.turn > 0 for message in states)


@pytest.mark.parametrize("when", ["moving", "thinking"])
def test_a_killed_head_ends_the_search_and_a_restarted_one_serves_the_next(
    start_node: Launcher, graph: Graph, client: SearchClient, when: str
) -> None:
    moving = when == "moving"
    script = "rotate(30,0); submit" if moving else "wait(30); submit"
    start_node(SEARCH, policy=SCRIPTED, head_silence=2.0, **{"policy.script": script})
    head = start_node(HEAD, namespace="head", fault="stalls" if moving else "", from_move=2)
    states = graph.collect(SearchState, "search/state", STATES)
    search = Background(client)
    wait_until(lambda: reached(states, SearchState.MOVING if moving else SearchState.THINKING), what=when)
    time.sleep(0.3)
    head.kill()
    killed = time.monotonic()
    record = search.result(10.0)
    assert time.monotonic() - killed < 7.0, "2 s of silence, and whatever a loaded machine adds"
    assert record.outcome is Outcome.HEAD_UNAVAILABLE and "does not answer" in record.message
    if moving:
        start_node(HEAD, namespace="head")
        assert client.search("find it").outcome is Outcome.SUBMITTED


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_in_mid_search_stops_the_head_and_ends_the_process(
    start_node: Launcher, graph: Graph, client: SearchClient, number: signal.Signals
) -> None:
    searcher = start_node(SEARCH, policy=SCRIPTED, **{"policy.script": "rotate(30,0); submit"})
    head = start_node(HEAD, namespace="head", fault="stalls", from_move=2)
    states = graph.collect(SearchState, "search/state", STATES)
    search = Background(client)
    wait_until(lambda: reached(states, SearchState.MOVING), what="the move")
    time.sleep(0.2)
    began = time.monotonic()
    assert searcher.stop(number) == 0
    assert time.monotonic() - began < 5.0
    record = search.result(3.0)
    assert record.outcome is Outcome.CANCELED and "shuts down" in record.message
    assert states[-1].state == SearchState.DONE
    assert "Traceback" not in searcher.output + head.output
    assert head.stop() == 0


def test_load_scene_in_mid_search_ends_it_as_that(
    start_node: Launcher, graph: Graph, client: SearchClient, tmp_path: Path
) -> None:
    for name in ("here", "there"):
        (tmp_path / "scenes" / name).mkdir(parents=True)
        write_panorama(tmp_path / "scenes" / name / f"{name}.png")
    start_node("hvs_ros.nodes.panorama_head", namespace="head", scenes=str(tmp_path / "scenes"), width=320, height=180)
    start_node(SEARCH, policy=SCRIPTED, **{"policy.script": "rotate(30,0); wait(20); submit"})
    states = graph.collect(SearchState, "search/state", STATES)
    search = Background(client)
    wait_until(lambda: states and states[-1].state == SearchState.THINKING and states[-1].turn == 2, what="turn 2")
    assert graph.call(LoadScene, "/head/load_scene", LoadScene.Request(scene="there")).success
    record = search.result(3.0)
    assert record.outcome is Outcome.SCENE_CHANGED and "'there'" in record.message
    assert record.turns[0].after.angle_to_deg(Direction(30.0, 0.0)) < 0.01


def test_a_killed_searcher_is_noticed_by_the_client(
    start_node: Launcher, graph: Graph, client: SearchClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hvs_ros.nodes.search_client.SILENCE_LIMIT_S", 2.0)
    searcher = start_node(SEARCH, policy=SCRIPTED, **{"policy.script": "hang"})
    start_node(HEAD, namespace="head")
    states = graph.collect(SearchState, "search/state", STATES)
    search = Background(client)
    wait_until(lambda: reached(states, SearchState.THINKING), what="the search")
    searcher.kill()
    with pytest.raises(SearchClientError, match="seems to be gone"):
        search.result(6.0)


def test_a_restarted_searcher_is_noticed_by_the_client(
    start_node: Launcher, graph: Graph, client: SearchClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hvs_ros.nodes.search_client.ASK_AGAIN_S", 0.5)
    searcher = start_node(SEARCH, policy=SCRIPTED, **{"policy.script": "hang"})
    start_node(HEAD, namespace="head")
    states = graph.collect(SearchState, "search/state", STATES)
    search = Background(client)
    wait_until(lambda: reached(states, SearchState.THINKING), what="the search")
    searcher.kill()
    start_node(SEARCH, policy=SCRIPTED, **{"policy.script": "submit"})
    with pytest.raises(SearchClientError, match="does not know the search any more"):
        search.result()
    assert client.search("find it").outcome is Outcome.SUBMITTED


def test_two_copies_run_side_by_side_with_heads_of_other_names(
    start_node: Launcher, domain: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    for name, script in (("left", "rotate(-10,0); submit"), ("right", "rotate(10,0); submit")):
        start_node(SEARCH, namespace=name, policy=SCRIPTED, head="neck", **{"policy.script": script})
        start_node(HEAD, namespace=f"{name}/neck")
    with SearchClient(action="/left/search") as left, SearchClient(action="/right/search") as right:
        directions = [Background(client).result().submitted for client in (left, right)]
    assert [round(direction.yaw_deg) for direction in directions] == [350, 10]


def test_parameters_are_described_and_refused_by_name(start_node: Launcher, graph: Graph) -> None:
    for parameter, value, reason in (
        ("view_timeout", 5, "decimal point"),
        ("queue", -1, "0 to 1000"),
        ("image_transport", "h264", "'raw', 'compressed'"),
    ):
        node = start_node(SEARCH, **{parameter: value})
        assert node.wait() == 1
        assert f"'{parameter}'" in node.output and reason in node.output and "Traceback" not in node.output
    start_node(SEARCH, policy=SCRIPTED, **{"policy.script": "submit"})
    names = ["policy", "queue", "head_silence", "policy.script"]
    described = graph.call(
        DescribeParameters, "/search_policy/describe_parameters", DescribeParameters.Request(names=names)
    ).descriptors
    assert all(descriptor.description for descriptor in described)
    request = SetParameters.Request(parameters=[Parameter("queue", value=3).to_parameter_msg()])
    assert not graph.call(SetParameters, "/search_policy/set_parameters", request).results[0].successful


def test_an_unusable_policy_is_one_line_in_the_log_and_an_error_in_the_diagnostics(
    start_node: Launcher, graph: Graph
) -> None:
    told = graph.collect(DiagnosticArray, "/diagnostics")
    node = start_node(SEARCH, policy=SCRIPTED, **{"policy.load": "missing"})
    reason = "pip install hvs_ros[scripts]"
    wait_until(
        lambda: any(s.level == b"\x02" and reason in s.message for array in told for s in array.status),
        what="the diagnostics",
    )
    wait_until(lambda: reason in node.output, what="the log")
    assert len([line for line in node.output.splitlines() if reason in line]) == 1
    assert node.running and node.stop() == 0
