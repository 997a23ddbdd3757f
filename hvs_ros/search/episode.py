"""One search as a state machine without I/O.

Give it a view and it returns what the policy is to see; give it the policy's decision and it returns where to turn the
head; give it how that ended and it returns the record of the turn, with the feedback for the next one. The ROS node,
the in-process benchmark and a training environment all drive this same object; whatever waits, renders or moves
is theirs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from hvs_ros.angles import Direction, wrap_yaw_deg
from hvs_ros.search.action import Action, Rotate, Submit
from hvs_ros.search.decision import Decision
from hvs_ros.search.task import Task
from hvs_ros.search.view import Arrival, MoveOutcome, Observation, View

_NO_PICTURE = np.empty((0, 0, 3), np.uint8)


class Outcome(Enum):
    """How a search ended; names as in Search.action."""

    SUBMITTED = "submitted"
    TURNS_EXHAUSTED = "turns exhausted"
    CANCELED = "canceled"
    REFUSED = "refused"
    POLICY_UNAVAILABLE = "policy unavailable"
    POLICY_FAILED = "policy failed"
    POLICY_TIMEOUT = "policy timeout"
    HEAD_UNAVAILABLE = "head unavailable"
    HEAD_FAILED = "head failed"
    VIEW_TIMEOUT = "view timeout"
    SCENE_CHANGED = "scene changed"

    @property
    def completed(self) -> bool:
        """The search ran to its end, so that it may be scored; everything else is a failure of the machinery."""
        return self in (Outcome.SUBMITTED, Outcome.TURNS_EXHAUSTED)


class SearchFailure(Exception):
    """A search cannot go on, by no fault of the policy's answers.

    Attributes:
        outcome: which way it ended.
    """

    def __init__(self, outcome: Outcome, message: str) -> None:
        super().__init__(message)
        self.outcome = outcome


@dataclass(frozen=True)
class TurnTimes:
    """Seconds on the steady clock: to get the view, to decide, to move."""

    look_s: float = 0.0
    think_s: float = 0.0
    move_s: float = 0.0


@dataclass(frozen=True)
class Turn:
    """One turn, complete.

    Attributes:
        observation: what the policy saw; its image is empty, (0, 0, 3), where the session keeps no pictures.
        decision: what it answered.
        arrival: how the move ended; None where the head was not commanded.
        direction: where the head looked after the turn.
        feedback: what the policy is told about it.
        times: how long its parts took.
        size: width and height of the picture that the policy saw.
    """

    observation: Observation
    decision: Decision
    arrival: Arrival | None
    direction: Direction
    feedback: str
    times: TurnTimes
    size: tuple[int, int]

    @property
    def number(self) -> int:
        """Which turn, the first is 1."""
        return self.observation.turn

    @property
    def picture(self) -> str:
        """What the policy was given and how its answer came about, for the record."""
        width, height = self.size
        parts = (f"{width}x{height}", self.observation.picture, self.decision.made)
        return ", ".join(part for part in parts if part)


@dataclass(frozen=True)
class SearchResult:
    """The end of a search.

    Attributes:
        outcome: how it ended.
        message: why, for a person; empty when there is nothing to add.
        submitted: the answer as the policy said it, the yaw in [0, 360); None unless SUBMITTED.
        guess: the policy says itself that it guessed.
        looking: where the head really looked at the end; None when no view ever came.
        turns: all turns, in order.
    """

    outcome: Outcome
    message: str
    submitted: Direction | None
    guess: bool
    looking: Direction | None
    turns: tuple[Turn, ...]


class _Step(Enum):
    LOOK = "observe()"
    DECIDE = "decide()"
    ACT = "conclude()"
    DONE = "nothing: the search is over"


class SearchSession:
    """One search, from the first view to the submission.

    Call ``observe``, ``decide`` and ``conclude`` in turn until ``done``; ``fail`` ends it at any time.

    Args:
        task: what to find.
        keep_pictures: turns have their pictures. A view takes 6 MB: many searches at once had better not keep theirs.

    Raises:
        RuntimeError: a call out of order.
    """

    def __init__(self, task: Task, *, keep_pictures: bool = True) -> None:
        self.task = task
        self._keep_pictures = keep_pictures
        self._size = (0, 0)
        self.feedback: str | None = None
        self._turns: list[Turn] = []
        self._step = _Step.LOOK
        self._observation: Observation | None = None
        self._decision: Decision | None = None
        self._outcome: Outcome | None = None
        self._message = ""

    @property
    def turn(self) -> int:
        """The present turn, the first is 1."""
        return min(len(self._turns) + 1, self.task.max_turns)

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns so far."""
        return tuple(self._turns)

    @property
    def done(self) -> bool:
        """The search is over."""
        return self._step is _Step.DONE

    def observe(self, view: View, *, picture: str = "") -> Observation:
        """Take the view of this turn and return what the policy is given (the caller draws the cross into it)."""
        self._expect(_Step.LOOK)
        observation = Observation(
            image=view.image,
            direction=view.direction,
            hfov_deg=view.hfov_deg,
            turn=self.turn,
            turns_left=self.task.max_turns - len(self._turns),
            feedback=self.feedback,
            stamp_ns=view.stamp_ns,
            picture=picture or view.made,
            arrival=self._turns[-1].arrival if self._turns else None,
        )
        height, width = view.image.shape[:2]
        self._size = width, height
        self._observation = observation if self._keep_pictures else replace(observation, image=_NO_PICTURE)
        self._step = _Step.DECIDE
        return observation

    def decide(self, decision: Decision) -> Direction | None:
        """Take the decision and return where to turn the head; None when it is to stay."""
        self._expect(_Step.DECIDE)
        assert self._observation is not None
        self._decision = decision
        self._step = _Step.ACT
        if isinstance(decision.action, Rotate):
            return self._observation.direction.turned(decision.action.dyaw_deg, decision.action.dpitch_deg)
        return None

    def conclude(self, arrival: Arrival | None = None, times: TurnTimes | None = None) -> Turn:
        """Take how the move ended (None when there was none) and return the finished turn."""
        self._expect(_Step.ACT)
        assert self._observation is not None and self._decision is not None
        direction = self._observation.direction if arrival is None else arrival.direction
        turn = Turn(
            observation=self._observation,
            decision=self._decision,
            arrival=arrival,
            direction=direction,
            feedback=_feedback(self._decision.action, arrival, direction),
            times=times or TurnTimes(),
            size=self._size,
        )
        self._turns.append(turn)
        self.feedback = turn.feedback
        self._step = _Step.LOOK
        if isinstance(self._decision.action, Submit):
            self._end(Outcome.SUBMITTED, "")
        elif arrival is not None and not arrival.outcome.arrived and arrival.outcome is not MoveOutcome.REFUSED:
            # A refused command is the policy's to reconsider; any other failure is the head's.
            self._end(Outcome.HEAD_FAILED, f"the move ended with {arrival.outcome.name}: {arrival.message}")
        elif len(self._turns) >= self.task.max_turns:
            self._end(Outcome.TURNS_EXHAUSTED, f"no submission in {self.task.max_turns} turns")
        return turn

    def fail(self, failure: SearchFailure) -> None:
        """End the search for a reason outside it; without effect when it is over already."""
        if not self.done:
            self._end(failure.outcome, str(failure))

    @property
    def result(self) -> SearchResult:
        """The end of the search.

        Raises:
            RuntimeError: it is not over.
        """
        if self._outcome is None:
            raise RuntimeError("the search is not over")
        submitted, guess = None, False
        if self._outcome is Outcome.SUBMITTED:
            last = self._turns[-1].decision
            assert isinstance(last.action, Submit)
            submitted, guess = Direction(wrap_yaw_deg(last.action.yaw_deg), last.action.pitch_deg), last.guess
        looking = self._turns[-1].direction if self._turns else None
        if self._observation is not None and len(self._turns) < self._observation.turn:
            looking = self._observation.direction
        return SearchResult(self._outcome, self._message, submitted, guess, looking, self.turns)

    def _end(self, outcome: Outcome, message: str) -> None:
        self._outcome, self._message, self._step = outcome, message, _Step.DONE

    def _expect(self, step: _Step) -> None:
        if self._step is not step:
            raise RuntimeError(f"called out of order: next comes {self._step.value}")


def _feedback(action: Action | None, arrival: Arrival | None, direction: Direction) -> str:
    """Say what came of an action, with the direction really reached (arrival is judged by the head)."""
    looking = f"You look at yaw {_degrees(direction.yaw_deg)}, pitch {_degrees(direction.pitch_deg)}."
    if isinstance(action, Submit):
        return f"Submitted. {looking}"
    if action is None or arrival is None:
        return f"Your last answer held no valid action, nothing was done. {looking}"
    if arrival.outcome is MoveOutcome.REACHED:
        return f"Done. {looking}"
    if arrival.outcome is MoveOutcome.CLAMPED:
        return f"Done as far as the head can turn. {looking}"
    return f"Not done ({arrival.message or arrival.outcome.value}). {looking}"


def _degrees(value: float) -> str:
    # Ten decimals of an angle that went through radians would only distract.
    return f"{round(value, 1) + 0.0:g}"
