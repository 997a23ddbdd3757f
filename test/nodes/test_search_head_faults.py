"""A search with a head that is absent, goes wrong or goes away: it ends with a name, and the next one works."""

from __future__ import annotations

import time

import pytest
from rclpy.parameter import Parameter
from ros_graph import wait_until
from searching import Background, World, world  # noqa: F401  (a fixture)

from hvs_ros.angles import Direction
from hvs_ros.search.episode import Outcome
from hvs_ros.search.view import MoveOutcome


def set_parameters(node: object, **values: object) -> None:
    for result in node.set_parameters([Parameter(name, value=value) for name, value in values.items()]):  # type: ignore[attr-defined]
        assert result.successful, result.reason


def test_without_a_head_the_missing_action_is_named(world: World) -> None:  # noqa: F811
    world.searcher(head_timeout=0.5)
    record = world.client.search("find it")
    assert record.outcome is Outcome.HEAD_UNAVAILABLE and "/head/move" in record.message and not record.turns
    assert record.looking is None


@pytest.mark.parametrize(
    ("fault", "outcome", "reason"),
    [
        ("rejects", Outcome.HEAD_FAILED, "rejected the move"),
        ("stalls", Outcome.HEAD_FAILED, "NOT_SETTLED"),
        ("stuck", Outcome.HEAD_FAILED, "NO_RESPONSE"),
        ("aborts", Outcome.HEAD_FAILED, "motor 2 is too hot"),
        ("no_stamp", Outcome.HEAD_FAILED, "view_stamp"),
        ("no_view", Outcome.VIEW_TIMEOUT, "image_raw is published by /head/mock_head (reliable, volatile)"),
        ("late_clock", Outcome.VIEW_TIMEOUT, "same clock"),
        ("early_clock", Outcome.VIEW_TIMEOUT, "same clock"),
        ("bad_encoding", Outcome.VIEW_TIMEOUT, "smell8"),
    ],
)
def test_a_fault_in_the_second_turn_ends_the_search_with_its_name(
    world: World,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    fault: str,
    outcome: Outcome,
    reason: str,
) -> None:
    monkeypatch.setattr("hvs_ros.nodes.head_mover.STOP_LIMIT_S", 0.5)
    monkeypatch.setattr("hvs_ros.nodes.head_client.ASK_AGAIN_S", 0.3)
    monkeypatch.setattr("hvs_ros.nodes.head_client.NO_IMAGE_S", 0.5)
    head = world.head(fault=fault, from_move=2)
    world.searcher("rotate(50,0); submit", move_timeout=0.5, view_timeout=1.0)
    record = world.client.search("find it")
    assert record.outcome is outcome, record.message
    assert reason in record.message
    assert ("no picture for 0.5 s" in capfd.readouterr().err) == (fault == "no_view")
    if fault != "stuck":
        set_parameters(head, fault="")
        assert world.client.search("find it").outcome is Outcome.SUBMITTED


def test_a_head_that_answers_no_goal_is_given_up(world: World, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    monkeypatch.setattr("hvs_ros.nodes.head_mover.ACCEPT_LIMIT_S", 0.2)
    head = world.head(fault="unanswered")
    world.searcher("submit", head_timeout=0.5)
    record = world.client.search("find it")
    assert record.outcome is Outcome.HEAD_UNAVAILABLE and "neither accepts nor rejects" in record.message
    head.close()


def test_a_refused_move_is_told_to_the_policy_and_the_search_goes_on(world: World) -> None:  # noqa: F811
    world.head(fault="refuses", from_move=2)
    world.searcher("rotate(90,0); submit")
    record = world.client.search("find it")
    assert record.outcome is Outcome.SUBMITTED and record.turns[0].move is MoveOutcome.REFUSED
    assert record.turns[0].after == record.turns[0].direction


def test_after_a_refused_move_the_view_is_still_the_one_of_the_direction(world: World) -> None:  # noqa: F811
    world.head(fault="refuses", from_move=3)
    world.searcher(policy="searching_policies:SeesYaw", draw_cross=False)
    record = world.client.search("follow the colour")
    assert [turn.move for turn in record.turns[:3]] == [MoveOutcome.REACHED, MoveOutcome.REFUSED, MoveOutcome.REFUSED]
    assert record.submitted is not None and record.submitted.yaw_deg == pytest.approx(77, abs=1.5)


@pytest.mark.parametrize(("fault", "reached"), [("short", 70.0), ("clamps", 30.0)])
def test_the_achieved_direction_counts_not_the_commanded_one(
    world: World,  # noqa: F811
    fault: str,
    reached: float,
) -> None:
    world.head(fault=fault, from_move=2)
    world.searcher("rotate(90,0); submit")
    record = world.client.search("find it")
    assert record.outcome is Outcome.SUBMITTED
    assert record.turns[0].after.angle_to_deg(Direction(reached, 0)) < 0.01
    assert record.submitted is not None and record.submitted.yaw_deg == pytest.approx(reached)
    clamped = record.turns[0].move is MoveOutcome.CLAMPED
    assert clamped == (fault == "clamps")


def test_without_camera_info_the_capabilities_tell_the_field_of_view(world: World) -> None:  # noqa: F811
    world.head(fault="no_info")
    world.searcher("submit")
    assert world.client.search("find it").outcome is Outcome.SUBMITTED


@pytest.mark.parametrize("reliability", ["reliable", "best_effort"])
def test_cameras_of_both_reliabilities_are_heard(world: World, reliability: str) -> None:  # noqa: F811
    world.searcher("rotate(20,0); submit")
    world.head(reliability=reliability)
    for _ in range(2):
        record = world.client.search("find it", limit_s=10)
        assert record.outcome is Outcome.SUBMITTED, record.message


def test_another_scene_in_mid_search_ends_it(world: World) -> None:  # noqa: F811
    head = world.head()
    world.searcher("rotate(20,0); wait(10); submit")
    search = Background(world.client)
    wait_until(lambda: len(head.moves) == 2, what="the second turn")
    time.sleep(0.1)
    set_parameters(head, scene="elsewhere")
    record = search.result(2.0)
    assert record.outcome is Outcome.SCENE_CHANGED and "elsewhere" in record.message and len(record.turns) == 1


def test_another_scene_during_a_move_ends_it_as_that(world: World) -> None:  # noqa: F811
    head = world.head(fault="stalls", from_move=2)
    world.searcher("rotate(20,0); submit")
    search = Background(world.client)
    wait_until(lambda: len(head.moves) == 2, what="the move")
    set_parameters(head, scene="elsewhere")
    record = search.result(6.0)
    assert record.outcome is Outcome.SCENE_CHANGED and head.canceled == 1


def test_a_head_that_leaves_while_the_policy_thinks_is_noticed(world: World) -> None:  # noqa: F811
    head = world.head()
    world.searcher("wait(2); submit")
    search = Background(world.client)
    wait_until(lambda: head.moves, what="the first turn")
    time.sleep(0.1)
    world.remove(head)
    record = search.result(3.0)
    assert record.outcome is Outcome.HEAD_UNAVAILABLE and "/head/move" in record.message
    world.head()
    assert Background(world.client).result().outcome is Outcome.SUBMITTED


def test_a_new_head_may_be_in_another_scene(world: World) -> None:  # noqa: F811
    head = world.head()
    world.searcher("submit")
    assert Background(world.client).result().outcome is Outcome.SUBMITTED
    world.remove(head)
    time.sleep(0.5)
    search = Background(world.client)
    time.sleep(0.5)
    world.head(scene="elsewhere")
    record = search.result(8.0)
    assert record.outcome is Outcome.SUBMITTED, record.message


def test_a_late_view_is_waited_for_and_an_early_one_never_used(world: World) -> None:  # noqa: F811
    """With a settle_time, the view must be older than the end of the move by that much."""
    head = world.head()
    world.searcher("submit", settle_time=0.4)
    search = Background(world.client)
    wait_until(lambda: head.moves)
    time.sleep(0.7)
    assert search.record is None, "the view published at the end of the move is too early"
    assert search.result(8.0).outcome is Outcome.SUBMITTED, "a later one was asked for"
