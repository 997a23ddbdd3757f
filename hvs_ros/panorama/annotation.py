"""Reads ``annotation.json``, the list of tasks beside a panorama, as published for H*Bench.

Each item has ``task`` (the instruction) and ``yaw`` [left, right] in search degrees; ``pitch`` [low, high] unless it is
a path to look along; ``initial yaw``, a list of directions to start from (else 0, 90, 180 and 270); and ``level``, one
difficulty for each start. A file made by hand is easily wrong in a way that only shows as a strange score, so
whatever is not exactly that is refused, with the file, the item and what is wrong. The one liberty: keys that the
format does not know are ignored, as other tools keep notes there, unless they look like a misspelt known key.
"""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from hvs_ros.angles import Direction, wrap_yaw_deg
from hvs_ros.search.task import LEVEL_NAMES, EpisodeSpec, Target, Task, TaskError, TaskKind

ANNOTATION_NAME = "annotation.json"
DEFAULT_STARTS_DEG = (0.0, 90.0, 180.0, 270.0)

_KEYS = ("task", "yaw", "pitch", "initial yaw", "level")


class SceneError(ValueError):
    """A scene that cannot be searched; the message names the file, the item and what is wrong."""


@dataclass(frozen=True)
class SceneItem:
    """One annotated task of a scene.

    Attributes:
        task: what the searcher is told.
        target: the answer.
        starts_deg: yaws to start from, in [0, 360).
        levels: the difficulty from each start; None where the file gives none.
    """

    task: Task
    target: Target
    starts_deg: tuple[float, ...] = DEFAULT_STARTS_DEG
    levels: tuple[int, ...] | None = None

    def episodes(self, scene: str, index: int) -> list[EpisodeSpec]:
        """Return one episode for each start; ids are ``scene/index/start``, ``#2`` for a repeated start."""
        specs: list[EpisodeSpec] = []
        seen: dict[str, int] = {}
        for number, start in enumerate(self.starts_deg):
            name = f"{scene}/{index}/{start:.10g}"
            seen[name] = seen.get(name, 0) + 1
            if seen[name] > 1:
                name += f"#{seen[name]}"
            level = None if self.levels is None else self.levels[number]
            specs.append(EpisodeSpec(name, scene, self.task, Direction(start, 0.0), self.target, level))
        return specs


def load_annotation(path: Path) -> tuple[SceneItem, ...]:
    """Read an ``annotation.json``.

    Raises:
        SceneError: it cannot be read, is not JSON, or an item is not as described above.
    """
    return tuple(_Item(path, index, item).read() for index, item in enumerate(annotation_items(path)))


def annotation_problems(path: Path) -> list[str]:
    """Return what is wrong with an ``annotation.json``: the first problem of each item, or of the file as a whole."""
    problems: list[str] = []
    try:
        for index, item in enumerate(annotation_items(path)):
            try:
                _Item(path, index, item).read()
            except SceneError as error:
                problems.append(str(error))
    except SceneError as error:
        problems.append(str(error))
    return problems


def annotation_items(path: Path) -> list[Any]:
    """Return the items of an ``annotation.json`` as they stand there, unchecked.

    Raises:
        SceneError: it cannot be read, or is no JSON list.
    """
    document = _parse(path)
    if not isinstance(document, list):
        raise SceneError(f"{path}: the file holds {_kind(document)}; a list of items is expected")
    return document


def _parse(path: Path) -> Any:
    def refuse_constant(name: str) -> NoReturn:
        raise SceneError(f"{path}: {name} is not a number that can be used here")

    def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise SceneError(f"{path}: an item holds the key {twice!r} twice ({_shorten(found)})")
        return found

    try:
        text = path.read_text(encoding="utf-8-sig")
        return json.loads(text, parse_constant=refuse_constant, object_pairs_hook=unique_keys)
    except SceneError:
        raise
    except OSError as error:
        raise SceneError(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise SceneError(f"{path}: line {line} is not UTF-8 ({error.reason}); save it as UTF-8") from error
    except json.JSONDecodeError as error:
        raise SceneError(f"{path}: not JSON at line {error.lineno} column {error.colno}: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise SceneError(f"{path}: not JSON that can be read: {error}") from error


class _Item:
    """Checks one item; holds what an error message must name."""

    def __init__(self, path: Path, index: int, item: Any) -> None:
        self._where = f"{path}: item {index}"
        if not isinstance(item, dict):
            self._refuse(f"is {_kind(item)}; an object with 'task' and 'yaw' is expected")
        self._item: dict[str, Any] = item
        task = item.get("task")
        if isinstance(task, str):
            self._where += f" ({_shorten(task)})"

    def read(self) -> SceneItem:
        self._check_keys()
        pitch = self._pitch() if "pitch" in self._item else None
        target = Target(self._yaw(), pitch)
        starts = self._starts()
        return SceneItem(self._task(target.kind), target, starts, self._levels(target.kind, len(starts)))

    def _refuse(self, problem: str, cause: Exception | None = None) -> NoReturn:
        raise SceneError(f"{self._where}: {problem}") from cause

    def _check_keys(self) -> None:
        for key in self._item:
            meant = None if key in _KEYS else _misspelt(key)
            if meant is not None:
                self._refuse(f"the key {key!r} is not known; write {meant!r} if that is meant")
        for key in ("task", "yaw"):
            if key not in self._item:
                self._refuse(f"{key!r} is missing")

    def _task(self, kind: TaskKind) -> Task:
        text = self._item["task"]
        if not isinstance(text, str):
            self._refuse(f"'task' is {_kind(text)}; the instruction as a string is expected")
        try:
            return Task(text, kind)
        except TaskError as error:
            self._refuse(f"'task': {error}", error)

    def _numbers(self, key: str, accepts: Callable[[int], bool], expected: str) -> list[float]:
        values = self._item[key]
        if not isinstance(values, list):
            self._refuse(f"{key!r} is {_kind(values)}; {expected} is expected")
        if not accepts(len(values)):
            self._refuse(f"{key!r} has {len(values)} numbers; {expected} is expected")
        return [self._number(key, value) for value in values]

    def _number(self, key: str, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self._refuse(f"{key!r} holds {_kind(value)}, {_shorten(value)}; a number of degrees is expected")
        try:
            number = float(value)
        except OverflowError as error:
            self._refuse(f"{key!r} holds a number that is too large", error)
        if not math.isfinite(number):
            self._refuse(f"{key!r} holds {number}; a finite number of degrees is expected")
        return number

    def _yaw(self) -> tuple[float, float]:
        left, right = self._numbers("yaw", lambda n: n == 2, "[left, right]")
        # Negative yaws are the same directions counted the other way; anything further is no angle, e.g. pixels.
        for yaw in (left, right):
            if not -180.0 <= yaw <= 360.0:
                self._refuse(f"'yaw' holds {yaw:g}; degrees from 0 to 360, right positive, are expected")
        if right - left == 360.0:
            return 0.0, 360.0
        if right - left > 360.0:
            self._refuse(f"'yaw' [{left:g}, {right:g}] is more than a full turn")
        return wrap_yaw_deg(left), wrap_yaw_deg(right)

    def _pitch(self) -> tuple[float, float]:
        low, high = self._numbers("pitch", lambda n: n == 2, "[low, high]")
        for pitch in (low, high):
            if not -90.0 <= pitch <= 90.0:
                self._refuse(f"'pitch' holds {pitch:g}; degrees from -90 to 90, up positive, are expected")
        if low > high:
            self._refuse(f"'pitch' [{low:g}, {high:g}] runs downwards; [low, high] is expected")
        return low, high

    def _starts(self) -> tuple[float, ...]:
        if "initial yaw" not in self._item:
            return DEFAULT_STARTS_DEG
        starts = self._numbers("initial yaw", lambda n: n >= 1, "a list of one yaw or more")
        for yaw in starts:
            if not -180.0 <= yaw <= 360.0:
                self._refuse(f"'initial yaw' holds {yaw:g}; degrees from 0 to 360 are expected")
        return tuple(wrap_yaw_deg(yaw) for yaw in starts)

    def _levels(self, kind: TaskKind, starts: int) -> tuple[int, ...] | None:
        if "level" not in self._item:
            return None
        levels = self._item["level"]
        expected = f"a list of {starts}, one level for each start,"
        if not isinstance(levels, list):
            self._refuse(f"'level' is {_kind(levels)}; {expected} is expected")
        if len(levels) != starts:
            self._refuse(f"'level' has {len(levels)} entries; {expected} is expected")
        allowed = range(len(LEVEL_NAMES[kind]))
        for level in levels:
            if isinstance(level, bool) or not isinstance(level, int) or level not in allowed:
                self._refuse(
                    f"'level' holds {_shorten(level)}; an integer from {allowed[0]} to {allowed[-1]} is expected"
                    f" for {kind.value} search"
                )
        return tuple(levels)


def _misspelt(key: str) -> str | None:
    """Return the known key that an unknown one probably stands for."""
    words = key.lower().replace("_", " ").replace("-", " ").split()
    plain = " ".join(word for word in words if word not in ("deg", "degree", "degrees"))
    close = difflib.get_close_matches(plain, _KEYS, n=1, cutoff=0.8)
    return close[0] if close else None


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    names = {bool: "true or false", str: "a string", list: "a list", dict: "an object"}
    return names.get(type(value), "a number")


def _shorten(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
