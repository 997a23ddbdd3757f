"""Cancel works at every moment: acknowledged at once, the head holds, the next goal is accepted."""

from __future__ import annotations

import time

import pytest
from hvs_interfaces.action import Search
from hvs_interfaces.msg import SearchState
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from ros_graph import wait_until
from searching import Background, World, world  # noqa: F401  (a fixture)

from hvs_ros.nodes.search_client import SearchClientError
from hvs_ros.search.episode import Outcome

STATES = QoSProfile(depth=50, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@pytest.mark.parametrize(
    ("script", "head", "when"),
    [
        ("wait(20); submit", {}, SearchState.THINKING),
        ("hang", {}, SearchState.THINKING),
        ("rotate(90,0); submit", {"fault": "stalls", "from_move": 2}, SearchState.MOVING),
        ("rotate(90,0); submit", {"move_time": 5.0}, SearchState.LOOKING),
        ("submit", {"fault": "no_view"}, SearchState.LOOKING),
        ("submit", None, SearchState.LOOKING),
    ],
    ids=["thinking", "hanging", "moving", "first move", "no view", "no head"],
)
def test_cancel_is_acknowledged_within_200_ms(
    world: World,  # noqa: F811
    script: str,
    head: dict[str, object] | None,
    when: int,
) -> None:
    mock = None if head is None else world.head(**head)
    world.searcher(script)
    states = world.collect(SearchState, "search/state", STATES)
    goal = world.send(Search.Goal(instruction="find it"))
    wait_until(lambda: any(state.state == when and state.turn > 0 for state in states), what="that state")
    time.sleep(0.1)
    began = time.monotonic()
    acknowledged = goal.handle.cancel_goal_async()
    wait_until(acknowledged.done, what="the acknowledgement")
    assert time.monotonic() - began < 0.2
    assert acknowledged.result().goals_canceling
    wait_until(lambda: goal.ended, 1.0, "the end")
    assert goal.status == 5 and goal.result.outcome == Search.Result.CANCELED
    if mock is not None and (when == SearchState.MOVING or "move_time" in (head or {})):
        wait_until(lambda: mock.canceled == 1, what="the head to be stopped")
    assert states[-1].state == SearchState.DONE
    if mock is not None and script != "hang":
        mock.set_parameters([Parameter("fault", value=""), Parameter("move_time", value=0.0)])
        following = Background(world.client, limit_s=1.0)
        wait_until(lambda: states[-1].state == SearchState.THINKING or following.record, what="the next search")
        assert following.result().outcome in (Outcome.SUBMITTED, Outcome.CANCELED)


def test_a_stuck_policy_is_replaced_for_the_next_goal(
    world: World,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world.head()
    searcher = world.searcher("hang")
    searcher.runner._grace_s = 0.2
    for _ in range(2):
        record = world.client.search("find it", limit_s=0.5)
        assert record.outcome is Outcome.CANCELED


def test_shutting_down_cancels_the_search_and_the_move(world: World) -> None:  # noqa: F811
    head = world.head(fault="stalls", from_move=2)
    searcher = world.searcher("rotate(90,0); submit")
    states = world.collect(SearchState, "search/state", STATES)
    search = Background(world.client)
    wait_until(lambda: len(head.moves) == 2, what="the move")
    searcher.close()
    record = search.result(2.0)
    assert record.outcome is Outcome.CANCELED and "shuts down" in record.message
    assert head.canceled == 1
    wait_until(lambda: states[-1].state == SearchState.DONE, what="the last state")
    with pytest.raises(SearchClientError, match="shutting down"):
        world.client.search("find another")


def test_cleaned_up_it_closes_its_policy(world: World) -> None:  # noqa: F811
    searcher = world.searcher("hang")
    policy = wait_until(lambda: searcher.runner._policy, what="the policy")
    assert searcher.trigger_deactivate() == searcher.trigger_cleanup() == TransitionCallbackReturn.SUCCESS
    assert policy._closed.is_set()


def test_cancel_from_another_thread(world: World) -> None:  # noqa: F811
    world.head()
    world.searcher("wait(20); submit")
    search = Background(world.client)
    time.sleep(0.5)
    world.client.cancel()
    assert search.result(3.0).outcome is Outcome.CANCELED


def test_an_error_of_the_callers_own_function_cancels_the_search(world: World) -> None:  # noqa: F811
    head = world.head()
    world.searcher("rotate(10,0)")

    def complain(_turn: object) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        world.client.search("find it", max_turns=1000, on_turn=complain)
    turned = len(head.moves)
    time.sleep(0.3)
    assert len(head.moves) == turned < 100


def test_without_a_searcher_the_client_says_so(world: World) -> None:  # noqa: F811
    with pytest.raises(SearchClientError, match="no node offered the action /search"):
        world.client.search("find it", server_limit_s=0.3)
