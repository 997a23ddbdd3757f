"""The record of a search of this process, as if it had been read from a bag."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hvs_ros.confidential import without_secrets
from hvs_ros.image_encodings import encode_jpeg
from hvs_ros.recording.episode import EpisodeRecord, RecordedHead, RecordedTurn, RecordedView
from hvs_ros.search.episode import SearchResult, Turn
from hvs_ros.search.task import Task


def from_search(
    result: SearchResult,
    task: Task,
    *,
    search_id: str = "",
    policy: str = "",
    parameters: Mapping[str, Any] | None = None,
    scene: str = "",
    duration_s: float | None = None,
) -> EpisodeRecord:
    """Return the record of a finished search.

    The pictures in it are those that the policy was given, marks included.

    Args:
        result: of the search.
        task: what was searched for.
        search_id: name for records.
        policy: name of it.
        parameters: its settings; what looks like a key or a password is not kept.
        scene: what surrounded the head.
        duration_s: of the search; None: what its turns took.
    """
    turns = tuple(_turn(turn) for turn in result.turns)
    if duration_s is None:
        duration_s = sum(turn.times.look_s + turn.times.think_s + turn.times.move_s for turn in turns)
    started = turns[0].view_stamp_ns if turns else 0
    return EpisodeRecord(
        search_id=search_id,
        task=task,
        policy=policy,
        parameters=without_secrets(parameters or {}),
        outcome=result.outcome,
        message=result.message,
        submitted=result.submitted,
        guess=result.guess,
        looking=result.looking,
        turns=turns,
        scene=scene,
        head=_head(result),
        started_ns=started,
        ended_ns=started + round(duration_s * 1e9),
    )


def _turn(turn: Turn) -> RecordedTurn:
    seen = turn.observation
    height, width = seen.image.shape[:2]
    return RecordedTurn(
        number=turn.number,
        view=RecordedView(encode_jpeg(seen.image), seen.stamp_ns, width, height),
        view_stamp_ns=seen.stamp_ns,
        picture=turn.picture,
        direction=seen.direction,
        decision=turn.decision,
        move=None if turn.arrival is None else turn.arrival.outcome,
        move_message="" if turn.arrival is None else turn.arrival.message,
        after=turn.direction,
        feedback=turn.feedback,
        times=turn.times,
    )


def _head(result: SearchResult) -> RecordedHead:
    if not result.turns:
        return RecordedHead()
    seen = result.turns[0].observation
    height, width = seen.image.shape[:2]
    return RecordedHead(kind="panorama", view=seen.picture, width=width, height=height, hfov_deg=seen.hfov_deg)
