"""What a finished search leaves behind for the benchmark, whichever way it was run.

A search in this process ends with core objects that hold pictures, one behind the ROS graph with messages that do not;
both become a ``SearchRecord``, so that scoring, results and tables have one source.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from hvs_ros.angles import Direction
from hvs_ros.search.action import Action
from hvs_ros.search.decision import ParseStatus, Usage
from hvs_ros.search.episode import Outcome, SearchResult, Turn, TurnTimes
from hvs_ros.search.view import MoveOutcome


@dataclass(frozen=True)
class TurnRecord:
    """One turn without its picture.

    Attributes:
        number: which turn, the first is 1.
        direction: where the head looked in the view.
        action: what the policy commanded; None where the answer held no valid action.
        status: what the answer turned out to be.
        thought: the policy's reasoning, as far as it tells.
        raw: the answer as it came.
        guess: the policy says itself that this is a guess.
        move: how the move ended; None where the head was not commanded.
        after: where the head looked after the turn.
        times: how long the parts took.
        picture: what the policy was given and how its answer came about.
        usage: tokens.
    """

    number: int
    direction: Direction
    action: Action | None
    status: ParseStatus
    thought: str
    raw: str
    guess: bool
    move: MoveOutcome | None
    after: Direction
    times: TurnTimes
    picture: str = ""
    usage: Usage = field(default_factory=Usage)

    @classmethod
    def of(cls, turn: Turn) -> TurnRecord:
        """Return the record of a turn of this process."""
        return cls(
            number=turn.number,
            direction=turn.observation.direction,
            action=turn.decision.action,
            status=turn.decision.status,
            thought=turn.decision.thought,
            raw=turn.decision.raw,
            guess=turn.decision.guess,
            move=None if turn.arrival is None else turn.arrival.outcome,
            after=turn.direction,
            times=turn.times,
            picture=turn.picture,
            usage=turn.decision.usage,
        )

    @property
    def seconds(self) -> float:
        """How long the whole turn took."""
        return self.times.look_s + self.times.think_s + self.times.move_s

    def said(self) -> str:
        """Return what the policy said in one line: its thought if it told one, else its answer."""
        return " ".join((self.thought or self.raw).split())


@dataclass(frozen=True)
class SearchRecord:
    """A search that has ended.

    Attributes:
        outcome: how.
        message: why, for a person.
        submitted: the answer as the policy said it; None unless SUBMITTED.
        guess: the policy says itself that it guessed.
        looking: where the head really looked at the end; None when it is not known.
        turns: all turns, in order.
        bag: where it was recorded; None when it was not.
    """

    outcome: Outcome
    message: str = ""
    submitted: Direction | None = None
    guess: bool = False
    looking: Direction | None = None
    turns: tuple[TurnRecord, ...] = ()
    bag: Path | None = None

    @classmethod
    def of(cls, result: SearchResult) -> SearchRecord:
        """Return the record of a search of this process."""
        return cls(
            outcome=result.outcome,
            message=result.message,
            submitted=result.submitted,
            guess=result.guess,
            looking=result.looking,
            turns=tuple(TurnRecord.of(turn) for turn in result.turns),
        )

    @property
    def travel_deg(self) -> float:
        """How far the head turned in all: the angles between the lines of sight, added up."""
        return sum(turn.direction.angle_to_deg(turn.after) for turn in self.turns)
