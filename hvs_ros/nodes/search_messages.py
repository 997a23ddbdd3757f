"""Turns, results and states of a search <-> messages.

The enumerations of the core and the constants of the messages have the same names, so that the tables here cannot
disagree with either. Search degrees become radians and back through ``angles`` alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hvs_interfaces.action import MoveHead, Search
from hvs_interfaces.msg import HeadPose, SearchCommand, SearchState
from hvs_interfaces.msg import Turn as TurnMessage

from hvs_ros.angles import Direction, ros_angles, ros_turn, search_direction
from hvs_ros.benchmark.record import SearchRecord, TurnRecord
from hvs_ros.confidential import without_secrets
from hvs_ros.nodes.convert import duration_message, header, pose_direction, time_message
from hvs_ros.recording import decode
from hvs_ros.search.action import Action, Rotate, Submit
from hvs_ros.search.decision import ParseStatus
from hvs_ros.search.episode import Outcome, SearchResult, Turn
from hvs_ros.search.loop import Phase
from hvs_ros.search.task import Task, TaskError, TaskKind
from hvs_ros.search.view import MoveOutcome

OUTCOMES: dict[Outcome, int] = {item: getattr(Search.Result, item.name) for item in Outcome}
MOVE_OUTCOMES: dict[MoveOutcome, int] = {item: getattr(MoveHead.Result, item.name) for item in MoveOutcome}
STATUSES: dict[ParseStatus, int] = {item: getattr(TurnMessage, f"STATUS_{item.name}") for item in ParseStatus}
PHASES: dict[Phase, int] = {item: getattr(SearchState, item.name) for item in Phase}
KINDS: dict[TaskKind, int] = {item: getattr(Search.Goal, item.name) for item in TaskKind}

_OUTCOME_OF = {number: item for item, number in OUTCOMES.items()}
_MOVE_OUTCOME_OF = {number: item for item, number in MOVE_OUTCOMES.items()}
_KIND_OF = {number: item for item, number in KINDS.items()}


def goal_task(goal: Search.Goal) -> Task:
    """Return what a goal asks for.

    Raises:
        TaskError: it asks for nothing that can be searched for.
    """
    if goal.target not in _KIND_OF:
        known = ", ".join(f"{item.name} ({number})" for item, number in KINDS.items())
        raise TaskError(f"target is {goal.target}; one of {known} is expected")
    return Task(goal.instruction, _KIND_OF[goal.target], int(goal.max_turns))


def task_goal(task: Task, search_id: str = "") -> Search.Goal:
    """Return the goal that asks for a task."""
    return Search.Goal(
        instruction=task.instruction, target=KINDS[task.kind], max_turns=task.max_turns, search_id=search_id
    )


def settings_json(settings: Mapping[str, Any]) -> str:
    """Return a policy's settings as JSON, for records: what looks like a key or a password is left out."""
    return json.dumps(without_secrets(settings), sort_keys=True)


def command_message(
    action: Action | None, *, search_id: str, turn: int, stamp_ns: int, frame_id: str
) -> SearchCommand:
    """Return what the policy commanded; a rotation stays a difference, which is not wrapped."""
    message = SearchCommand(header=header(stamp_ns, frame_id), search_id=search_id, turn=turn)
    if isinstance(action, Rotate):
        message.kind = SearchCommand.ROTATE
        message.yaw, message.pitch = ros_turn(action.dyaw_deg), ros_turn(action.dpitch_deg)
    elif isinstance(action, Submit):
        message.kind = SearchCommand.SUBMIT
        message.yaw, message.pitch = ros_angles(Direction(action.yaw_deg, action.pitch_deg))
    return message


def turn_message(
    turn: Turn, *, command: SearchCommand, pose: HeadPose, achieved: HeadPose, stamp_ns: int, frame_id: str
) -> TurnMessage:
    """Return a finished turn.

    Args:
        turn: as the session recorded it.
        command: as it was published.
        pose: where the head looked in the view.
        achieved: where it looked after the turn.
        stamp_ns: end of the turn.
        frame_id: optical frame of the view.
    """
    decision, usage, arrival = turn.decision, turn.decision.usage, turn.arrival
    return TurnMessage(
        header=header(stamp_ns, frame_id),
        search_id=command.search_id,
        turn=turn.number,
        view_stamp=time_message(turn.observation.stamp_ns),
        pose=pose,
        picture=turn.picture,
        thought=decision.thought,
        raw_answer=decision.raw,
        status=STATUSES[decision.status],
        guess=decision.guess,
        command=command,
        move_outcome=0 if arrival is None else MOVE_OUTCOMES[arrival.outcome],
        move_message="" if arrival is None else arrival.message,
        achieved=achieved,
        feedback=turn.feedback,
        look_time=turn.times.look_s,
        think_time=turn.times.think_s,
        move_time=turn.times.move_s,
        prompt_tokens=_tokens(usage.prompt_tokens),
        completion_tokens=_tokens(usage.completion_tokens),
        image_tokens=_tokens(usage.image_tokens),
    )


def result_message(
    result: SearchResult, *, search_id: str, achieved: HeadPose, turns: list[TurnMessage], duration_s: float
) -> Search.Result:
    """Return the end of a search."""
    message = Search.Result(
        outcome=OUTCOMES[result.outcome],
        message=result.message,
        search_id=search_id,
        guess=result.guess,
        achieved=achieved,
        turns=turns,
        duration=duration_message(duration_s),
    )
    if result.submitted is not None:
        message.submitted_yaw, message.submitted_pitch = ros_angles(result.submitted)
    return message


def move_outcome(number: int) -> MoveOutcome:
    """Return a move's outcome; a number without a name is a fault of the head."""
    return _MOVE_OUTCOME_OF.get(number, MoveOutcome.FAULT)


def turn_record(message: TurnMessage) -> TurnRecord:
    """Return a turn from the graph as a record; it reads the same as the turn in a bag."""
    decision = decode.decision(message)
    return TurnRecord(
        number=message.turn,
        direction=decode.direction(message.pose),
        action=decision.action,
        status=decision.status,
        thought=decision.thought,
        raw=decision.raw,
        guess=decision.guess,
        move=_MOVE_OUTCOME_OF.get(message.move_outcome),
        after=decode.direction(message.achieved),
        times=decode.times(message),
        picture=message.picture,
        usage=decision.usage,
    )


def search_record(message: Search.Result) -> SearchRecord:
    """Return the end of a search from the graph as a record.

    Raises:
        ValueError: the outcome is none that is known.
    """
    outcome = _OUTCOME_OF.get(message.outcome)
    if outcome is None:
        raise ValueError(f"outcome {message.outcome} of the search is not known ({message.message!r})")
    submitted = outcome is Outcome.SUBMITTED
    achieved = message.achieved
    return SearchRecord(
        outcome=outcome,
        message=message.message,
        submitted=search_direction(message.submitted_yaw, message.submitted_pitch) if submitted else None,
        guess=message.guess,
        # An unset stamp: the head never said where it looks.
        looking=pose_direction(achieved) if achieved.header.stamp.sec or achieved.header.stamp.nanosec else None,
        turns=tuple(map(turn_record, message.turns)),
    )


def _tokens(count: int | None) -> int:
    return -1 if count is None else count
