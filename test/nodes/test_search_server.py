"""search_policy with a model on a server: whole searches, cancel while it thinks, a server that comes and goes."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from hvs_interfaces.action import Search
from hvs_interfaces.msg import SearchState
from hvs_interfaces.msg import Turn as TurnMessage
from rclpy.qos import DurabilityPolicy, QoSProfile
from ros_graph import wait_until
from searching import Background, World, world  # noqa: F401  (a fixture)

pytest.importorskip("openai")
pytest.importorskip("aiohttp")

from hvs_ros.mock.model_server import MockModelServer
from hvs_ros.nodes.search_policy import SearchPolicy
from hvs_ros.search.decision import ParseStatus
from hvs_ros.search.episode import Outcome

STATES = QoSProfile(depth=50, durability=DurabilityPolicy.TRANSIENT_LOCAL)
SERVER = "server"
KEY = "sk-s3cr3t-0123456789"


@pytest.fixture
def server() -> Iterator[MockModelServer]:
    with MockModelServer(script="colour") as server:
        yield server


def searcher(world: World, server: MockModelServer, **parameters: object) -> SearchPolicy:  # noqa: F811
    """A search_policy that asks this server."""
    settings: dict[str, object] = {"base_url": server.base_url, "view_size": "64x36", "retry_wait": 0.01, "retries": 1}
    return world.searcher(policy=SERVER, settings=settings, **parameters)


def test_a_whole_search_is_decided_by_what_the_model_sees(
    world: World,  # noqa: F811
    server: MockModelServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HVS_API_KEY", KEY)
    server.change(key=KEY)
    head = world.head()
    searcher(world, server)
    turns = world.collect(TurnMessage, "search/turn")
    states = world.collect(SearchState, "search/state", STATES)
    told = world.collect(DiagnosticArray, "/diagnostics")
    record = world.client.search("find the exit sign")
    assert record.outcome is Outcome.SUBMITTED, record.message
    assert abs(record.submitted.yaw_deg - 308.0) <= 5.0, "the colour of the fifth view, after JPEG"
    assert len(head.moves) == 5 and all(turn.status is ParseStatus.OK for turn in record.turns)
    wait_until(lambda: len(turns) == 5 and told, what="the turns")
    assert [len(asked.pictures) for asked in server.questions] == [1, 2, 3, 4, 5]
    assert [message.prompt_tokens for message in turns] == [asked.prompt_tokens for asked in server.questions]
    assert turns[0].raw_answer == "<think>This is turn 1.</think><answer>rotate(77,0)</answer>"
    assert turns[0].image_tokens > 0
    assert KEY not in f"{turns}{states}{told}", "the key is on no topic"


def test_cancel_while_it_thinks_is_acknowledged_at_once_and_ends_the_request(
    world: World,  # noqa: F811
    server: MockModelServer,
) -> None:
    world.head()
    node = searcher(world, server)
    wait_until(lambda: node.runner._policy, what="the policy")
    server.fail("hang", times=1)
    goal = world.send(Search.Goal(instruction="find it"))
    wait_until(lambda: server.questions, what="the request")
    began = time.monotonic()
    acknowledged = goal.handle.cancel_goal_async()
    wait_until(acknowledged.done, what="the acknowledgement")
    assert time.monotonic() - began < 0.2
    wait_until(lambda: goal.ended, 2.0, "the end")
    assert goal.status == 5 and goal.result.outcome == Search.Result.CANCELED
    wait_until(lambda: server.canceled == 1, what="the server to be told")
    assert world.client.search("find it").outcome is Outcome.SUBMITTED


def test_s4_a_server_that_is_gone_ends_the_search_and_one_that_is_back_serves_the_next(
    world: World,  # noqa: F811
    server: MockModelServer,
) -> None:
    world.head()
    server.stop()
    searcher(world, server)
    record = world.client.search("find it")
    assert record.outcome is Outcome.POLICY_UNAVAILABLE and server.name in record.message and not record.turns
    server.start()
    assert world.client.search("find it").outcome is Outcome.SUBMITTED
    server.change(delay_s=0.3)
    asked = len(server.questions)
    search = Background(world.client)
    wait_until(lambda: len(server.questions) == asked + 3, what="the third turn")
    server.stop()
    record = search.result()
    assert record.outcome is Outcome.POLICY_UNAVAILABLE and "no connection" in record.message
    assert len(record.turns) == 2 and all(turn.status is ParseStatus.OK for turn in record.turns), "no turn was made up"
    server.start()
    server.change(delay_s=0.0)
    assert world.client.search("find it").outcome is Outcome.SUBMITTED


def test_a_decision_that_takes_too_long_ends_its_request_too(
    world: World,  # noqa: F811
    server: MockModelServer,
) -> None:
    world.head()
    node = searcher(world, server, decision_timeout=1.0)
    wait_until(lambda: node.runner._policy, what="the policy")
    server.fail("hang", times=1)
    record = world.client.search("find it")
    assert record.outcome is Outcome.POLICY_TIMEOUT
    wait_until(lambda: server.canceled == 1, what="the server to be told")
    record = world.client.search("find it")
    assert record.outcome in (Outcome.SUBMITTED, Outcome.POLICY_TIMEOUT), "a busy machine may take a second, too"
