"""The policy onnx through the search_policy node, with tiny models of the real architecture."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from exported_models import Exported, exported  # noqa: F401  (a fixture)
from hvs_interfaces.action import Search
from hvs_interfaces.msg import SearchState
from rclpy.qos import DurabilityPolicy, QoSProfile
from ros_graph import wait_until
from searching import World, world  # noqa: F401  (a fixture)

pytest.importorskip("onnxruntime")

STATES = QoSProfile(depth=50, durability=DurabilityPolicy.TRANSIENT_LOCAL)
pytestmark = pytest.mark.timeout(300)  # an export takes long on a busy machine
ONNX = "hvs_ros.policy.onnx_policy:OnnxPolicy"


def test_canceled_while_it_thinks(world: World, endless_checkpoint: Path, exported: Exported) -> None:  # noqa: F811
    model = exported(endless_checkpoint, "int4")
    settings = {"model": str(model), "provider": "cpu", "threads": 1, "max_tokens": 100_000}
    world.head()
    world.searcher(policy=ONNX, settings=settings)
    states = world.collect(SearchState, "search/state", STATES)
    for number in range(2):  # the model is free for the next search
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
