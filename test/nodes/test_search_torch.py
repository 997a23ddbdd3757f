"""The policy torch through the search_policy node, with tiny models of the real architecture."""

from __future__ import annotations

import time
from pathlib import Path

from hvs_interfaces.action import Search
from hvs_interfaces.msg import SearchState
from rclpy.qos import DurabilityPolicy, QoSProfile
from ros_graph import wait_until
from searching import World, world  # noqa: F401  (a fixture)

from hvs_ros.policy.contract import Policy
from hvs_ros.search.episode import Outcome

STATES = QoSProfile(depth=50, durability=DurabilityPolicy.TRANSIENT_LOCAL)
TORCH = "hvs_ros.policy.torch_policy:TorchPolicy"


def settings(model: Path, **more: object) -> dict[str, object]:
    return {"model": str(model), "device": "cpu", "threads": 1, **more}


def test_a_whole_search_with_a_model(world: World, speaking_checkpoint: Path) -> None:  # noqa: F811
    world.head()
    world.searcher(policy=TORCH, settings=settings(speaking_checkpoint))
    for _ in range(2):
        record = world.client.search("find the exit sign")
        assert record.outcome is Outcome.SUBMITTED, record.message
        assert record.submitted is not None and round(record.submitted.yaw_deg) == 30


def test_cancel_while_the_model_thinks(world: World, endless_checkpoint: Path) -> None:  # noqa: F811
    world.head()
    searcher = world.searcher(policy=TORCH, settings=settings(endless_checkpoint, max_tokens=100_000))
    states = world.collect(SearchState, "search/state", STATES)
    policies: list[Policy | None] = []
    for number in range(2):
        goal = world.send(Search.Goal(instruction="find it", search_id=f"search {number}"))
        wait_until(
            lambda name=f"search {number}": any(
                state.state == SearchState.THINKING and state.turn > 0 and state.search_id == name for state in states
            ),
            what="the model to think",
        )
        began = time.monotonic()
        acknowledged = goal.handle.cancel_goal_async()
        wait_until(acknowledged.done, what="the acknowledgement")
        assert time.monotonic() - began < 0.2
        wait_until(lambda goal=goal: goal.ended, 5.0, "the end")
        assert goal.result.outcome == Search.Result.CANCELED
        policies.append(searcher.runner._policy)
    # The model was free for the second search: it was not loaded again.
    assert policies[0] is policies[1] is not None
