from __future__ import annotations

import json
import threading
import time

import pytest
from hvs_interfaces.action import MoveHead, Search
from hvs_interfaces.msg import SearchCommand, SearchState
from hvs_interfaces.msg import Turn as TurnMessage
from rclpy.qos import DurabilityPolicy, QoSProfile
from ros_graph import wait_until
from searching import World, world  # noqa: F401  (a fixture)

from hvs_ros.angles import Direction
from hvs_ros.search.action import Rotate, Submit
from hvs_ros.search.decision import ParseStatus
from hvs_ros.search.episode import Outcome
from hvs_ros.search.task import TaskKind
from hvs_ros.search.view import MoveOutcome

STATES = QoSProfile(depth=50, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def close(direction: Direction | None, yaw_deg: float, pitch_deg: float) -> bool:
    return direction is not None and direction.angle_to_deg(Direction(yaw_deg, pitch_deg)) < 0.01


def test_a_search_turns_the_head_and_submits_what_the_policy_says(world: World) -> None:  # noqa: F811
    head = world.head()
    world.searcher("rotate(40,10); rotate(-90,5); submit(310.5,15)")
    told = []
    record = world.client.search("find the exit sign", on_turn=told.append)
    assert record.outcome is Outcome.SUBMITTED, record.message
    assert close(record.submitted, 310.5, 15) and close(record.looking, 310, 15)
    assert [turn.number for turn in told] == [1, 2, 3] == [turn.number for turn in record.turns]
    assert close(record.turns[1].direction, 40, 10) and close(record.turns[1].after, 310, 15)
    assert record.turns[0].move is MoveOutcome.REACHED and record.turns[2].move is None
    action = record.turns[1].action
    assert isinstance(action, Rotate) and action.dyaw_deg == pytest.approx(-90)
    assert isinstance(record.turns[2].action, Submit)
    modes = [goal.mode for goal in head.moves]
    assert modes == [MoveHead.Goal.RELATIVE, MoveHead.Goal.ABSOLUTE, MoveHead.Goal.ABSOLUTE]


def test_the_topics_tell_the_whole_search(world: World) -> None:  # noqa: F811
    world.head()
    world.searcher("rotate(400,0); nothing; submit", settings={"load_s": 0.0})
    states = world.collect(SearchState, "search/state", STATES)
    commands = world.collect(SearchCommand, "search/command")
    turns = world.collect(TurnMessage, "search/turn")
    feedback = []
    record = world.client.search(
        "the way to gate 5", kind=TaskKind.PATH, max_turns=7, search_id="s1", on_state=feedback.append
    )
    assert record.outcome is Outcome.SUBMITTED
    wait_until(lambda: len(turns) == 3 and states and states[-1].state == SearchState.DONE, what="the last state")
    during = [state for state in states if state.search_id == "s1"]
    phases = [(state.state, state.turn) for state in during]
    looking, thinking, moving, done = range(1, 5)
    assert phases == [
        *[(looking, 0), (looking, 1), (thinking, 1), (moving, 1)],
        *[(looking, 2), (thinking, 2), (looking, 3), (thinking, 3), (done, 3)],
    ]
    last = during[-1]
    assert (last.instruction, last.target, last.max_turns) == ("the way to gate 5", Search.Goal.PATH, 7)
    assert last.outcome == Search.Result.SUBMITTED and last.started.sec > 0
    assert json.loads(last.parameters)["script"] == "rotate(400,0); nothing; submit"
    assert last.header.frame_id == "base_link"
    told = [(state.state, state.turn) for state in feedback]
    assert len(told) >= 4 and told == phases[: len(told)], "the result may overtake the last feedback"
    assert [command.kind for command in commands] == [SearchCommand.ROTATE, SearchCommand.NONE, SearchCommand.SUBMIT]
    assert commands[0].yaw == pytest.approx(-6.981317)  # 400 degrees to the right, not wrapped
    first, second = turns[:2]
    assert first.header.frame_id == "camera_optical_frame" and first.pose.header.frame_id == "base_link"
    assert first.view_stamp.sec > 0 and "64x36" in first.picture and "green cross" in first.picture
    assert first.achieved.yaw == pytest.approx(-0.698132) and first.move_outcome == MoveHead.Result.REACHED
    assert first.feedback == "Done. You look at yaw 40, pitch 0."
    assert second.status == TurnMessage.STATUS_NO_ANSWER and second.move_outcome == 0
    assert second.raw_answer == "I am not sure." and second.prompt_tokens == -1
    assert second.achieved.yaw == second.pose.yaw


@pytest.mark.parametrize("transport", ["raw", "compressed"])
def test_the_view_is_the_one_of_the_direction(world: World, transport: str) -> None:  # noqa: F811
    """The mock head's pictures tell the direction; the policy here submits what it sees."""
    world.head(move_time=0.05)
    world.searcher(policy="searching_policies:SeesYaw", image_transport=transport, draw_cross=False)
    record = world.client.search("follow the colour")
    assert record.outcome is Outcome.SUBMITTED, record.message
    assert len(record.turns) == 5
    assert record.submitted is not None and record.submitted.yaw_deg == pytest.approx(4 * 77 % 360, abs=1.5)


@pytest.mark.parametrize(
    ("goal", "reason"),
    [
        ({"instruction": "  "}, "instruction is empty"),
        ({"instruction": "find it", "max_turns": 0}, "max_turns is 0"),
        ({"instruction": "find it", "target": 7}, "target is 7"),
    ],
)
def test_a_goal_that_cannot_start_is_refused_with_the_reason(
    world: World,  # noqa: F811
    goal: dict[str, object],
    reason: str,
) -> None:
    world.searcher()
    result = world.goal(Search.Goal(**goal))
    assert result.outcome == Search.Result.REFUSED and reason in result.message


def test_turns_end(world: World) -> None:  # noqa: F811
    world.head()
    world.searcher("rotate(10,0)")
    record = world.client.search("find it", max_turns=3)
    assert record.outcome is Outcome.TURNS_EXHAUSTED and len(record.turns) == 3 and record.submitted is None
    assert close(record.looking, 30, 0)


@pytest.mark.parametrize(
    ("step", "outcome", "reason"),
    [
        ("raise", Outcome.POLICY_FAILED, "goes wrong"),
        ("nonsense", Outcome.POLICY_FAILED, "not a Decision"),
        ("gone", Outcome.POLICY_UNAVAILABLE, "server does not answer"),
        ("hang", Outcome.POLICY_TIMEOUT, "after 0.5 s"),
    ],
)
def test_a_policy_that_fails_ends_the_search_with_the_reason(
    world: World,  # noqa: F811
    step: str,
    outcome: Outcome,
    reason: str,
) -> None:
    world.head()
    world.searcher(f"rotate(10,0); {step}", decision_timeout=0.5)
    record = world.client.search("find it")
    assert record.outcome is outcome and reason in record.message
    assert len(record.turns) == 1, "a failure is never a turn"


@pytest.mark.parametrize(
    ("step", "status"), [("nan", ParseStatus.BAD_ACTION), ("huge", ParseStatus.OUT_OF_RANGE)]
)
def test_angles_that_are_no_action_use_up_a_turn_and_move_nothing(
    world: World,  # noqa: F811
    step: str,
    status: ParseStatus,
) -> None:
    head = world.head()
    world.searcher(f"{step}; submit")
    record = world.client.search("find it")
    assert record.outcome is Outcome.SUBMITTED
    assert record.turns[0].status is status and record.turns[0].move is None
    assert len(head.moves) == 1


def test_an_unknown_policy_is_named_and_the_node_stays_controllable(world: World) -> None:  # noqa: F811
    world.head()
    world.searcher(policy="telepathy")
    for _ in range(2):
        record = world.client.search("find it")
        assert record.outcome is Outcome.POLICY_UNAVAILABLE
        assert "there is no policy 'telepathy'" in record.message and "signs" in record.message


def test_a_setting_that_the_policy_does_not_have_is_named(world: World) -> None:  # noqa: F811
    world.head()
    world.searcher(settings={"skript": "submit"})
    record = world.client.search("find it")
    assert record.outcome is Outcome.POLICY_UNAVAILABLE and "no setting skript" in record.message


def test_a_goal_waits_for_a_policy_that_loads(world: World) -> None:  # noqa: F811
    world.head()
    world.searcher("submit", settings={"load_s": 1.0})
    states = world.collect(SearchState, "search/state", STATES)
    record = world.client.search("find it")
    assert record.outcome is Outcome.SUBMITTED
    assert any("loading" in state.message for state in states)


def test_a_policy_that_never_loads_is_given_up(world: World) -> None:  # noqa: F811
    world.head()
    world.searcher("submit", settings={"load": "hang"}, load_timeout=0.5)
    record = world.client.search("find it")
    assert record.outcome is Outcome.POLICY_UNAVAILABLE and "loading" in record.message


def test_a_second_goal_is_refused_while_a_search_is_on(world: World) -> None:  # noqa: F811
    world.head()
    world.searcher("wait(1); submit")
    first = world.send(Search.Goal(instruction="first"))
    wait_until(lambda: first.accepted, what="the first goal")
    result = world.goal(Search.Goal(instruction="second"))
    assert result.outcome == Search.Result.REFUSED and "another search is on" in result.message
    wait_until(lambda: first.ended)
    assert first.result.outcome == Search.Result.SUBMITTED


def test_a_second_goal_waits_where_a_queue_is_set(world: World) -> None:  # noqa: F811
    world.head()
    world.searcher("wait(0.3); submit", queue=2)
    goals = [world.send(Search.Goal(instruction=f"goal {number}")) for number in range(4)]
    wait_until(lambda: all(goal.ended for goal in goals), what="all goals")
    outcomes = sorted(goal.result.outcome for goal in goals)
    assert outcomes == sorted([Search.Result.SUBMITTED] * 3 + [Search.Result.REFUSED])


def test_a_waiting_goal_can_be_canceled(world: World) -> None:  # noqa: F811
    world.head()
    world.searcher("wait(1); submit", queue=1)
    first, second = (world.send(Search.Goal(instruction=name)) for name in ("first", "second"))
    wait_until(lambda: first.accepted and second.accepted)
    world.caller.cancel(second)
    wait_until(lambda: second.ended, 0.8, "the waiting goal's end")
    assert second.result.outcome == Search.Result.CANCELED and not first.ended
    wait_until(lambda: first.ended)
    assert first.result.outcome == Search.Result.SUBMITTED


def test_a_hundred_searches_in_a_row_neither_stall_nor_grow(world: World) -> None:  # noqa: F811
    head = world.head()
    searcher = world.searcher("rotate(30,0); submit")
    world.client.search("warm up")
    threads = threading.active_count()
    slowest = 0.0
    for number in range(100):
        began = time.monotonic()
        record = world.client.search(f"search {number}", limit_s=10.0)
        slowest = max(slowest, time.monotonic() - began)
        assert record.outcome is Outcome.SUBMITTED, (number, record.message)
    assert slowest < 5.0
    assert len(head.moves) == 202
    wait_until(lambda: not searcher.server._jobs, what="the last goal to be forgotten")
    assert threading.active_count() <= threads + 24, "the executor's pool may still grow to its size, nothing else"
    mover = searcher.head._mover._caller._client
    pending = [mover._pending_goal_requests, mover._pending_result_requests, mover._feedback_callbacks]
    assert all(len(requests) <= 1 for requests in pending), "a ping at most"
