"""The random policy: repeatable, and always in time."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from picture_scenes import PictureHead, panorama

from hvs_ros.policy.random_walk import RandomPolicy
from hvs_ros.search.episode import Outcome, SearchResult
from hvs_ros.search.loop import run_search
from hvs_ros.search.task import Task

SCENE = panorama()


def search(
    policy: RandomPolicy, turns: int = 10, yaw_deg: float = 0.0, instruction: str = "find the exit"
) -> SearchResult:
    return run_search(Task(instruction, max_turns=turns), PictureHead(SCENE, yaw_deg), policy)


def test_the_same_seed_searches_alike_in_any_order() -> None:
    first = search(RandomPolicy(seed=4))
    policy = RandomPolicy(seed=4)
    search(policy, instruction="find something else")
    again = search(policy)
    assert [turn.decision for turn in first.turns] == [turn.decision for turn in again.turns]
    other = search(RandomPolicy(seed=5))
    assert [turn.decision for turn in first.turns] != [turn.decision for turn in other.turns]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**9), st.integers(1, 12), st.integers(1, 6), st.sampled_from([0.0, 90.0]))
def test_it_submits_where_it_looks_within_its_turns(seed: int, turns: int, views: int, yaw_deg: float) -> None:
    result = search(RandomPolicy(seed, views), turns, yaw_deg)
    assert result.outcome is Outcome.SUBMITTED and result.guess
    assert len(result.turns) == min(turns, views)
    assert result.submitted is not None and result.looking is not None
    assert result.submitted.angle_to_deg(result.looking) < 0.1
