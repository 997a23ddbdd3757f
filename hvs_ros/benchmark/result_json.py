"""An episode's result as JSON and back.

Degrees and seconds are rounded to what means anything (a ten-thousandth), so that a line stays readable and two runs
of a deterministic policy compare equal; directions are [yaw, pitch] in search degrees.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hvs_ros.angles import Direction
from hvs_ros.benchmark.record import SearchRecord, TurnRecord
from hvs_ros.benchmark.result import EpisodeResult, Judgement
from hvs_ros.search.action import Action, Rotate, Submit
from hvs_ros.search.decision import ParseStatus, Usage
from hvs_ros.search.episode import Outcome, TurnTimes
from hvs_ros.search.scoring import ScoringMode
from hvs_ros.search.task import Target, TaskKind
from hvs_ros.search.view import MoveOutcome

_LARGEST = 1e9
"""Of degrees and seconds."""
_MOST = 2**53
"""Of bytes, tokens and turns."""
_ACTIONS: dict[str, Callable[..., Action]] = {"rotate": Rotate, "submit": Submit}


def to_json(result: EpisodeResult, folder: Path | None = None) -> dict[str, Any]:
    """Return the result as JSON values.

    Args:
        result: of an episode.
        folder: where the results file is; paths below it are written relative to it, so that it can be moved.
    """
    record = result.record
    return {
        "episode": result.episode_id,
        "scene": result.scene,
        "panorama": list(result.panorama),
        "tilt": list(result.tilt),
        "instruction": result.instruction,
        "kind": result.kind.value,
        "max_turns": result.max_turns,
        "level": result.level,
        "start": _direction(result.start),
        "target": _target(result.target),
        "outcome": record.outcome.value,
        "message": record.message,
        "submitted": _direction(record.submitted),
        "guess": record.guess,
        "looking": _direction(record.looking),
        "submitted_judged": _judgement(result.submitted),
        "looking_judged": _judgement(result.looking),
        "turns": [_turn(turn) for turn in record.turns],
        "travel_deg": _round(record.travel_deg),
        "attempts": result.attempts,
        "seconds": _round(result.seconds),
        "ended": result.ended,
        "bag": None if record.bag is None else str(_inside(record.bag, folder)),
    }


def from_json(line: dict[str, Any], folder: Path | None = None) -> EpisodeResult:
    """Return the result that a line holds.

    Args:
        line: as written by ``to_json``.
        folder: where the results file is.

    Raises:
        KeyError, ValueError, TypeError: it is no such line.
    """
    name, size = line["panorama"]
    target = line["target"]
    return EpisodeResult(
        episode_id=_text(line["episode"]),
        scene=_text(line["scene"]),
        panorama=(_text(name), _whole(size)),
        instruction=_text(line["instruction"]),
        kind=TaskKind(line["kind"]),
        max_turns=_whole(line["max_turns"]),
        level=None if line["level"] is None else _whole(line["level"]),
        start=Direction(*_pair(line["start"])),
        target=None if target is None else Target(_pair(target["yaw"]), _optional_pair(target["pitch"])),
        record=SearchRecord(
            outcome=Outcome(line["outcome"]),
            message=_text(line["message"]),
            submitted=_read_direction(line["submitted"]),
            guess=_flag(line["guess"]),
            looking=_read_direction(line["looking"]),
            turns=tuple(_read_turn(turn) for turn in line["turns"]),
            bag=None if line["bag"] is None else (folder or Path()) / line["bag"],
        ),
        submitted=_read_judgement(line["submitted_judged"]),
        looking=_read_judgement(line["looking_judged"]),
        attempts=_whole(line["attempts"]),
        seconds=_number(line["seconds"]),
        ended=_text(line["ended"]),
        tilt=_pair(line.get("tilt", (0.0, 0.0))),  # files of earlier versions have none
    )


def _inside(path: Path, folder: Path | None) -> Path:
    """Return the path relative to the folder, if it is in it."""
    if folder is not None:
        with contextlib.suppress(ValueError):
            return path.absolute().relative_to(folder.absolute())
    return path


def _round(value: float) -> float:
    return round(value, 4) + 0.0  # no -0.0


def _direction(direction: Direction | None) -> list[float] | None:
    return None if direction is None else [_round(direction.yaw_deg), _round(direction.pitch_deg)]


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.60} is no text")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{value!r:.60} is neither true nor false")
    return value


def _number(value: Any) -> float:
    # Written so that NaN fails too, and whole numbers that are no floats.
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= _LARGEST:
        raise TypeError(f"{value!r:.60} is no number of degrees or seconds")
    return float(value)


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST:
        raise TypeError(f"{value!r:.60} is no whole number from 0")
    return value


def _read_direction(value: list[float] | None) -> Direction | None:
    return None if value is None else Direction(*_pair(value))


def _pair(value: list[float]) -> tuple[float, float]:
    first, second = value
    return _number(first), _number(second)


def _optional_pair(value: list[float] | None) -> tuple[float, float] | None:
    return None if value is None else _pair(value)


def _target(target: Target | None) -> dict[str, Any] | None:
    if target is None:
        return None
    return {"yaw": list(target.yaw_deg), "pitch": None if target.pitch_deg is None else list(target.pitch_deg)}


def _judgement(judgement: Judgement | None) -> dict[str, Any] | None:
    if judgement is None:
        return None
    pitch = judgement.pitch_error_deg
    return {
        **{mode.value: judgement.success[mode] for mode in ScoringMode},
        "yaw_error_deg": _round(judgement.yaw_error_deg),
        "pitch_error_deg": None if pitch is None else _round(pitch),
    }


def _read_judgement(value: dict[str, Any] | None) -> Judgement | None:
    if value is None:
        return None
    success = {mode: _flag(value[mode.value]) for mode in ScoringMode}
    pitch = value["pitch_error_deg"]
    return Judgement(success, _number(value["yaw_error_deg"]), None if pitch is None else _number(pitch))


def _action(action: Action | None) -> dict[str, Any] | None:
    if action is None:
        return None
    if isinstance(action, Rotate):
        return {"do": "rotate", "angles": [_round(action.dyaw_deg), _round(action.dpitch_deg)]}
    return {"do": "submit", "angles": [_round(action.yaw_deg), _round(action.pitch_deg)]}


def _read_action(value: dict[str, Any] | None) -> Action | None:
    if value is None:
        return None
    return _ACTIONS[value["do"]](*_pair(value["angles"]))


def _turn(turn: TurnRecord) -> dict[str, Any]:
    times = turn.times
    return {
        "turn": turn.number,
        "direction": _direction(turn.direction),
        "action": _action(turn.action),
        "status": turn.status.value,
        "thought": turn.thought,
        "raw": turn.raw,
        "guess": turn.guess,
        "move": None if turn.move is None else turn.move.value,
        "after": _direction(turn.after),
        "look_s": _round(times.look_s),
        "think_s": _round(times.think_s),
        "move_s": _round(times.move_s),
        "picture": turn.picture,
        "tokens": [turn.usage.prompt_tokens, turn.usage.completion_tokens, turn.usage.image_tokens],
    }


def _read_turn(value: dict[str, Any]) -> TurnRecord:
    return TurnRecord(
        number=_whole(value["turn"]),
        direction=Direction(*_pair(value["direction"])),
        action=_read_action(value["action"]),
        status=ParseStatus(value["status"]),
        thought=_text(value["thought"]),
        raw=_text(value["raw"]),
        guess=_flag(value["guess"]),
        move=None if value["move"] is None else MoveOutcome(value["move"]),
        after=Direction(*_pair(value["after"])),
        times=TurnTimes(*(_number(value[name]) for name in ("look_s", "think_s", "move_s"))),
        # Files of earlier versions have neither.
        picture=_text(value.get("picture", "")),
        usage=Usage(*(None if count is None else _whole(count) for count in value.get("tokens", ()))),
    )
