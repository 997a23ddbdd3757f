"""The session as a state machine, and the loop that drives it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvs_ros.angles import Direction
from hvs_ros.search.action import LIMIT_DEG, ActionError, OutOfRangeError, Rotate, Submit
from hvs_ros.search.decision import Decision, ParseStatus
from hvs_ros.search.episode import Outcome, SearchFailure, SearchResult, SearchSession, Turn
from hvs_ros.search.loop import Phase, Watcher, run_search
from hvs_ros.search.task import Target, Task, TaskError, TaskKind
from hvs_ros.search.view import Arrival, MoveOutcome, Observation, View

NOTHING = Decision(None, raw="hm", status=ParseStatus.NO_ANSWER)


def view(yaw_deg: float = 0.0, pitch_deg: float = 0.0) -> View:
    image = np.zeros((9, 16, 3), np.uint8)
    return View(image, Direction(yaw_deg, pitch_deg), stamp_ns=7, hfov_deg=100.0, made="exact")


def reached(yaw_deg: float, pitch_deg: float, outcome: MoveOutcome = MoveOutcome.REACHED, message: str = "") -> Arrival:
    return Arrival(outcome, Direction(yaw_deg, pitch_deg), 8, message)


class TestSession:
    def test_look_rotate_look_submit(self) -> None:
        session = SearchSession(Task("find it"))
        first = session.observe(view(350, 80))
        assert (first.turn, first.turns_left, first.feedback, first.stamp_ns) == (1, 10, None, 7)
        assert session.decide(Decision(Rotate(20, 30))) == Direction(10, 90)
        turn = session.conclude(reached(10, 90))
        assert turn.feedback == "Done. You look at yaw 10, pitch 90."
        second = session.observe(view(10, 90))
        assert (second.turn, second.turns_left, second.feedback) == (2, 9, turn.feedback)
        assert session.decide(Decision(Submit(370, 5), guess=True)) is None
        session.conclude()
        result = session.result
        assert session.done and result.outcome is Outcome.SUBMITTED and result.outcome.completed
        assert result.submitted == Direction(10, 5) and result.guess and result.looking == Direction(10, 90)
        assert [turn.number for turn in result.turns] == [1, 2]

    def test_pictures_need_not_be_kept(self) -> None:
        turns = []
        for keep in (True, False):
            session = SearchSession(Task("find it"), keep_pictures=keep)
            assert session.observe(view(30, 10)).image.shape == (9, 16, 3)
            assert session.decide(Decision(Rotate(20, 0), made="JPEG 85")) == Direction(50, 10)
            turns.append(session.conclude(reached(50, 10)))
            assert session.observe(view(50, 10)).arrival == turns[-1].arrival
        kept, empty = turns
        assert kept.observation.image.shape == (9, 16, 3) and empty.observation.image.shape == (0, 0, 3)
        assert empty.picture == kept.picture == "16x9, exact, JPEG 85"
        assert empty.observation.direction == kept.observation.direction and empty.feedback == kept.feedback

    def test_the_last_turn_without_a_submission_ends_it(self) -> None:
        session = SearchSession(Task("find it", max_turns=2))
        for _ in range(2):
            assert not session.done
            session.observe(view())
            assert session.decide(NOTHING) is None
            session.conclude()
        assert session.result.outcome is Outcome.TURNS_EXHAUSTED and session.result.submitted is None
        assert "2 turns" in session.result.message

    @pytest.mark.parametrize("calls", ["d", "c", "oo", "oc", "odd", "odo", "odcd", "odcc"])
    def test_calls_out_of_order_are_refused_and_change_nothing(self, calls: str) -> None:
        session = SearchSession(Task("find it"))
        steps: dict[str, Any] = {
            "o": lambda: session.observe(view()),
            "d": lambda: session.decide(NOTHING),
            "c": lambda: session.conclude(),
        }
        for step in calls[:-1]:
            steps[step]()
        with pytest.raises(RuntimeError, match="out of order: next comes"):
            steps[calls[-1]]()
        for step in "odc"[len(calls[:-1]) % 3 :]:
            steps[step]()
        assert session.turns

    def test_nothing_goes_on_after_the_end(self) -> None:
        session = SearchSession(Task("find it"))
        with pytest.raises(RuntimeError, match="not over"):
            _ = session.result
        session.fail(SearchFailure(Outcome.CANCELED, "enough"))
        session.fail(SearchFailure(Outcome.HEAD_FAILED, "too late"))
        assert session.result == SearchResult(Outcome.CANCELED, "enough", None, False, None, ())
        with pytest.raises(RuntimeError, match="the search is over"):
            session.observe(view())

    @pytest.mark.parametrize(
        ("outcome", "ends"),
        [
            (MoveOutcome.REACHED, False),
            (MoveOutcome.CLAMPED, False),
            (MoveOutcome.REFUSED, False),
            (MoveOutcome.NOT_SETTLED, True),
            (MoveOutcome.NO_RESPONSE, True),
            (MoveOutcome.STOPPED, True),
            (MoveOutcome.PREEMPTED, True),
            (MoveOutcome.FAULT, True),
        ],
    )
    def test_a_move_that_fails_ends_the_search_unless_it_was_refused(self, outcome: MoveOutcome, ends: bool) -> None:
        session = SearchSession(Task("find it"))
        session.observe(view())
        session.decide(Decision(Rotate(90, 0)))
        turn = session.conclude(reached(30, 0, outcome, "joint neck_yaw is stuck"))
        assert session.done == ends and turn.direction == Direction(30, 0)
        if ends:
            assert session.result.outcome is Outcome.HEAD_FAILED and not session.result.outcome.completed
            assert outcome.name in session.result.message and "neck_yaw" in session.result.message

    @pytest.mark.parametrize(
        ("action", "arrival", "text"),
        [
            (Rotate(90, 0), reached(90, 0), "Done. You look at yaw 90, pitch 0."),
            (Rotate(90, 0), reached(70.04, -3.26), "Done. You look at yaw 70, pitch -3.3."),
            (Rotate(90, 0), reached(30, -0.01, MoveOutcome.CLAMPED), "Done as far as the head can turn. You look at"),
            (Rotate(90, 0), reached(0, 0, MoveOutcome.REFUSED, "no scene"), "Not done (no scene). You look at yaw 0, "),
            (Rotate(90, 0), reached(5, 0, MoveOutcome.NOT_SETTLED), "Not done (not settled). You look at yaw 5, "),
            (None, None, "Your last answer held no valid action, nothing was done. You look at yaw 0, pitch 0."),
            (Submit(1, 2), None, "Submitted. You look at yaw 0, pitch 0."),
        ],
    )
    def test_the_feedback_tells_what_came_of_it_with_the_direction_reached(
        self, action: Any, arrival: Arrival | None, text: str
    ) -> None:
        session = SearchSession(Task("find it"))
        session.observe(view())
        session.decide(NOTHING if action is None else Decision(action))
        assert session.conclude(arrival).feedback.startswith(text)

    def test_where_it_looked_is_known_as_soon_as_there_was_a_view(self) -> None:
        session = SearchSession(Task("find it"))
        session.observe(view(33, 3))
        session.fail(SearchFailure(Outcome.POLICY_TIMEOUT, "slow"))
        assert session.result.looking == Direction(33, 3) and session.result.turns == ()


class TestValues:
    @given(st.floats(), st.floats())
    def test_actions_are_finite_and_have_sense(self, yaw: float, pitch: float) -> None:
        for action in (Rotate, Submit):
            if not (math.isfinite(yaw) and math.isfinite(pitch)):
                with pytest.raises(ActionError):
                    action(yaw, pitch)
            elif max(abs(yaw), abs(pitch)) > LIMIT_DEG:
                with pytest.raises(OutOfRangeError, match="beyond"):
                    action(yaw, pitch)
            else:
                action(yaw, pitch)

    def test_a_decision_has_an_action_exactly_when_it_is_ok(self) -> None:
        with pytest.raises(ValueError, match="'ok'"):
            Decision(None)
        with pytest.raises(ValueError, match="'truncated'"):
            Decision(Rotate(1, 1), status=ParseStatus.TRUNCATED)

    @pytest.mark.parametrize(
        ("words", "turns"), [("", 10), (" \n", 10), ("a\0b", 10), ("a\ud800", 10), ("find it", 0), ("find it", -3)]
    )
    def test_a_task_says_what_to_find_and_has_a_turn(self, words: str, turns: int) -> None:
        with pytest.raises(TaskError):
            Task(words, TaskKind.PATH, turns)

    @pytest.mark.parametrize(
        ("yaw", "width", "center"), [((350, 10), 20, 0), ((10, 350), 340, 180), ((0, 360), 360, 180), ((5, 5), 0, 5)]
    )
    def test_a_box_may_cross_yaw_zero(self, yaw: tuple[float, float], width: float, center: float) -> None:
        target = Target(yaw, (-10, 30))
        assert target.width_deg == width and target.center == Direction(center, 10)


@dataclass
class ScriptedHead:
    """Goes where it is told, and writes down what it does."""

    log: list[str]
    looking: Direction = field(default_factory=lambda: Direction(0, 0))
    fail_look: int = 99

    def look(self) -> View:
        self.log.append("look")
        if self.log.count("look") == self.fail_look:
            raise SearchFailure(Outcome.VIEW_TIMEOUT, "no view")
        return view(self.looking.yaw_deg, self.looking.pitch_deg)

    def turn_to(self, goal: Direction) -> Arrival:
        self.log.append(f"turn to {goal}")
        self.looking = goal
        return Arrival(MoveOutcome.REACHED, goal, 9)


@dataclass
class ScriptedDecider:
    log: list[str]
    answers: list[Decision | Exception]
    seen: list[Observation] = field(default_factory=list)

    def start(self, task: Task) -> None:
        self.log.append(f"start {task.instruction}")

    def decide(self, observation: Observation) -> Decision:
        self.seen.append(observation)
        answer = self.answers[len(self.seen) - 1]
        if isinstance(answer, Exception):
            raise answer
        return answer


class LoggingWatcher(Watcher):
    def __init__(self, log: list[str]) -> None:
        self.log = log

    def on_phase(self, phase: Phase, turn: int) -> None:
        self.log.append(f"{turn} {phase.value}")

    def on_view(self, observation: Observation) -> None:
        self.log.append("view")

    def on_decision(self, observation: Observation, decision: Decision) -> None:
        self.log.append(f"decision {decision.action}")

    def on_turn(self, turn: Turn) -> None:
        self.log.append(f"turn {turn.number}")

    def on_end(self, result: SearchResult) -> None:
        self.log.append(f"end {result.outcome.value}")


class TestLoop:
    def run(
        self, *answers: Decision | Exception, task: Task | None = None, fail_look: int = 99, **options: Any
    ) -> tuple[SearchResult, list[str], ScriptedDecider]:
        log: list[str] = []
        head = ScriptedHead(log, fail_look=fail_look)
        decider = ScriptedDecider(log, list(answers))
        result = run_search(task or Task("find it"), head, decider, (LoggingWatcher(log),), **options)
        return result, log, decider

    def test_everybody_is_told_in_order(self) -> None:
        result, log, decider = self.run(Decision(Rotate(-90, 0)), Decision(Submit(270, 0)))
        assert log == [
            *["start find it", "1 looking", "look", "view", "1 thinking", "decision rotate(-90,0)"],
            *["1 moving", "turn to (270.0, 0.0)", "turn 1"],
            *["2 looking", "look", "view", "2 thinking", "decision submit(270,0)", "turn 2", "end submitted"],
        ]
        assert result.submitted == Direction(270, 0)
        assert decider.seen[1].feedback == "Done. You look at yaw 270, pitch 0."
        times = result.turns[0].times
        assert min(times.look_s, times.think_s, times.move_s) >= 0.0

    def test_the_mark_is_drawn_into_a_copy_and_named(self) -> None:
        result, _, decider = self.run(Decision(Submit(0, 0)), mark=lambda image: image + 5, mark_name="cross")
        assert decider.seen[0].image.max() == 5 and decider.seen[0].picture == "exact, cross"
        assert result.turns[0].observation.picture == "exact, cross"

    @pytest.mark.parametrize("outcome", [Outcome.POLICY_FAILED, Outcome.POLICY_TIMEOUT, Outcome.CANCELED])
    def test_a_failure_of_the_policy_is_the_end_and_no_turn(self, outcome: Outcome) -> None:
        result, log, _ = self.run(Decision(Rotate(1, 0)), SearchFailure(outcome, "because"))
        assert result.outcome is outcome and result.message == "because" and len(result.turns) == 1
        assert log[-1] == f"end {outcome.value}"

    def test_a_view_that_does_not_come_is_the_end(self) -> None:
        result, _, _ = self.run(Decision(Rotate(1, 0)), fail_look=2)
        assert result.outcome is Outcome.VIEW_TIMEOUT and result.looking == Direction(1, 0)

    def test_an_error_of_a_watcher_is_not_hidden(self) -> None:
        class Broken(Watcher):
            def on_turn(self, turn: Turn) -> None:
                raise OSError("disk full")

        log: list[str] = []
        with pytest.raises(OSError, match="disk full"):
            run_search(Task("find it"), ScriptedHead(log), ScriptedDecider(log, [NOTHING]), (Broken(),))

    @given(st.lists(st.tuples(st.floats(-400, 400), st.floats(-200, 200)), max_size=12), st.integers(1, 10))
    def test_the_head_is_always_where_the_session_says(self, turns: list[tuple[float, float]], most: int) -> None:
        answers = [Decision(Rotate(*turn)) for turn in turns] + [Decision(Submit(0, 0))]
        result, _, decider = self.run(*answers, task=Task("find it", max_turns=most))
        assert len(result.turns) == min(most, len(answers))
        assert result.outcome is (Outcome.SUBMITTED if len(turns) < most else Outcome.TURNS_EXHAUSTED)
        for before, after in zip(result.turns, decider.seen[1:], strict=False):
            assert before.direction == after.direction
            assert 0 <= after.direction.yaw_deg < 360 and abs(after.direction.pitch_deg) <= 90
