"""Plays a recorded search again, decision by decision: from an episode's bag, a folder of bags, or a results file.

The same head then makes the same moves, which shows what has changed in the world, the head or the scoring. A recording
may hold many searches; the one to replay is found by its task and by where the head looked first.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hvs_ros.angles import Direction
from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError
from hvs_ros.search.action import Action, ActionError, Rotate, Submit
from hvs_ros.search.decision import Decision, ParseStatus
from hvs_ros.search.task import Task
from hvs_ros.search.view import Observation
from hvs_ros.share import user_path

_ACTION = re.compile(r"\s*(rotate|submit)\(\s*([-+]?[\d.]+(?:e[-+]?\d+)?)\s*,\s*([-+]?[\d.]+(?:e[-+]?\d+)?)\s*\)\s*")
_KINDS: dict[str, type[Rotate] | type[Submit]] = {"rotate": Rotate, "submit": Submit}
_SAME_START_DEG = 2.0


@dataclass(frozen=True)
class _Recording:
    """One recorded search: its task (None: any), where the head looked first (None: anywhere), what was decided."""

    instruction: str | None
    start: Direction | None
    decisions: tuple[Decision, ...]


class ReplayPolicy:
    """Decides what was decided in a recording.

    Args:
        path: the folder or the .mcap file of an episode's bag, a folder of such folders, or a file of JSON lines:
            results of a benchmark, or one line a turn with ``action`` ("rotate(30,0)", "submit(90,-5)") and, if there,
            ``raw`` and ``thought``.

    Raises:
        PolicyError: no path is given, or there is no decision in it.
        PolicyUnavailableError: it is not there, or reading bags needs a package that is not installed.
    """

    def __init__(self, path: str = "") -> None:
        if not path:
            raise PolicyError("policy 'replay' needs the setting path: an episode's bag, or a file of JSON lines")
        self._path = user_path(path)
        if not self._path.exists():
            raise PolicyUnavailableError(f"policy 'replay': {self._path} is not there")
        self._recordings = [item for item in _read(self._path) if item.decisions]
        if not self._recordings:
            raise PolicyError(f"policy 'replay': {self._path} holds no decisions")
        self._candidates: list[_Recording] = []
        self._playing: _Recording | None = None

    def start(self, task: Task) -> None:
        """Begin a new search: choose the recordings of this task.

        Raises:
            PolicyError: there is none.
        """
        self._playing = None
        same = [item for item in self._recordings if item.instruction in (None, task.instruction)]
        # A single recording is meant whatever it was about.
        self._candidates = same or (self._recordings if len(self._recordings) == 1 else [])
        if not self._candidates:
            raise PolicyError(f"policy 'replay': {self._path} holds no search for '{task.instruction}'")

    def decide(self, observation: Observation) -> Decision:
        """Return the decision of this turn.

        Raises:
            PolicyError: the record has ended.
        """
        if self._playing is None:
            self._playing = self._choose(observation.direction)
        decisions = self._playing.decisions
        if observation.turn > len(decisions):
            raise PolicyError(f"policy 'replay': the record ended after turn {len(decisions)} without a submission")
        return decisions[observation.turn - 1]

    def close(self) -> None:
        """Nothing to release."""

    def _choose(self, start: Direction) -> _Recording:
        def distance(recording: _Recording) -> float:
            return 0.0 if recording.start is None else recording.start.angle_to_deg(start)

        best = min(self._candidates, key=distance)
        if len(self._candidates) > 1 and distance(best) > _SAME_START_DEG:
            raise PolicyError(
                f"policy 'replay': of the {len(self._candidates)} searches for this task none starts at {start}; "
                f"the nearest starts at {best.start}"
            )
        return best


def _read(path: Path) -> Iterator[_Recording]:
    if path.is_file() and path.suffix != ".mcap":
        yield from _read_lines(path)
    elif path.is_file() or any(path.glob("*.mcap")):
        yield _read_bag(path)
    else:
        # Other things may lie in a record directory; only bags are read.
        for bag in sorted({file.parent for file in path.glob("*/*.mcap")}):
            yield _read_bag(bag)


def _read_bag(path: Path) -> _Recording:
    try:
        from hvs_ros.recording.errors import RecordingError
        from hvs_ros.recording.read import read_episode
    except ImportError as error:
        raise PolicyUnavailableError(f"policy 'replay' cannot read bags ({error}): pip install rosbags") from error
    try:
        episode = read_episode(path)
    except RecordingError as error:
        raise PolicyError(f"policy 'replay': {error}") from error
    start = episode.turns[0].direction if episode.turns else None
    return _Recording(episode.task.instruction, start, tuple(turn.decision for turn in episode.turns))


def _read_lines(path: Path) -> list[_Recording]:
    recordings: list[_Recording] = []
    loose: list[Decision] = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise PolicyError(f"policy 'replay': {path} cannot be read: {error}") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
            if isinstance(values.get("turns"), list):
                recordings.append(_recording(values))
            elif "action" in values:
                loose.append(_decision(values))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise PolicyError(
                f"policy 'replay': {path}, line {number}: not a recorded turn or episode: {error}"
            ) from error
    if loose:
        recordings.append(_Recording(None, None, tuple(loose)))
    return recordings


def _recording(values: Mapping[str, Any]) -> _Recording:
    turns = values["turns"]
    start = turns[0].get("direction") if turns else None
    return _Recording(
        instruction=values.get("instruction"),
        start=None if start is None else Direction(*start),
        decisions=tuple(_decision(turn) for turn in turns),
    )


def _decision(turn: Mapping[str, Any]) -> Decision:
    action = _action(turn["action"])
    status = ParseStatus(turn.get("status", "ok"))
    if action is None and status is ParseStatus.OK:
        status = ParseStatus.NO_ANSWER
    return Decision(
        action if status is ParseStatus.OK else None,
        thought=str(turn.get("thought", "")),
        raw=str(turn.get("raw", "") or action or ""),
        status=status,
        guess=bool(turn.get("guess", False)),
    )


def _action(value: object) -> Action | None:
    """Return an action written as "rotate(30,0)" or as {"do": "rotate", "angles": [30, 0]}; None for none."""
    if value is None or value == "":
        return None
    if isinstance(value, Mapping):
        first, second = value["angles"]
        return _KINDS[value["do"]](float(first), float(second))
    match = _ACTION.fullmatch(str(value))
    if match is None:
        raise ActionError(f"'{value}' is no action; it should look like rotate(30,0) or submit(90,-5)")
    return _KINDS[match.group(1)](float(match.group(2)), float(match.group(3)))
