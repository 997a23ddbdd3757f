"""What is odd in an ``annotation.json`` that can be read: nothing of it stops a run, all of it is worth a look.

A box with its edges exchanged, a task that is there twice, a level that is missing: each changes a success rate and
none shows in it. What cannot be read at all is named by :mod:`hvs_ros.panorama.annotation`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hvs_ros.angles import wrap_yaw_deg
from hvs_ros.panorama.annotation import SceneError, annotation_items

_WIDEST_DEG = 180.0
"""No target is wider; what seems to be has its edges exchanged."""


def odd_items(path: Path) -> list[str]:
    """Return what is odd in an annotation, a line each, with the file and the item; nothing where it cannot be read."""
    try:
        items = annotation_items(path)
    except SceneError:
        return []
    lines: list[str] = []
    for index, item in enumerate(items):
        if isinstance(item, dict):
            where = f"{path}: item {index} ({item.get('task')!r:.60})"
            lines += [f"{where}: {reason}" for reason in _odd(item)]
    return lines + [f"{path}: {reason}" for reason in _repeated(items)]


def _odd(item: Mapping[str, Any]) -> Iterator[str]:
    yield from _odd_box(_yaws(item.get("yaw")), _numbers(item.get("pitch")))
    starts = _yaws(item.get("initial yaw"))
    for start in starts:
        if not 0.0 <= start < 360.0 or start != int(start):
            yield f"'initial yaw' holds {start:g}; the published starts are whole degrees from 0 to 359"
    directions = [wrap_yaw_deg(start) for start in starts]
    again = sorted({start for start in directions if directions.count(start) > 1})
    if again:
        yield f"'initial yaw' holds {', '.join(f'{start:g}' for start in again)} more than once"
    if "level" not in item:
        yield "'level' is missing; it is worked out here, and the published code stops there"


def _odd_box(yaw: list[float], pitch: list[float]) -> Iterator[str]:
    if len(yaw) == 2:
        left, right = yaw
        width = right - left if right >= left else right - left + 360.0
        if yaw != [0.0, 360.0]:
            for edge in yaw:
                if not 0.0 <= edge < 360.0:
                    yield f"'yaw' holds {edge:g}; from 0 to below 360 the same direction is {wrap_yaw_deg(edge):g}"
        if width in (0.0, 360.0):
            yield f"'yaw' [{left:g}, {right:g}] is {'empty' if width == 0.0 else 'all around'}"
        elif width > _WIDEST_DEG:
            yield f"'yaw' [{left:g}, {right:g}] is {width:g} degrees wide; are left and right exchanged?"
    if len(pitch) == 2 and pitch[0] == pitch[1]:
        yield f"'pitch' [{pitch[0]:g}, {pitch[1]:g}] is empty"


def _repeated(items: list[Any]) -> Iterator[str]:
    """Yield tasks that are there more than once, or again in another spelling."""
    first: dict[str, tuple[int, str]] = {}
    for index, item in enumerate(items):
        task = item.get("task") if isinstance(item, dict) else None
        if not isinstance(task, str):
            continue
        plain = "".join(letter for letter in task.casefold() if letter.isalnum())
        before, said = first.setdefault(plain, (index, task))
        if before == index:
            continue
        if said == task:
            yield f"items {before} and {index} are the same task, {task!r:.60}"
        else:
            yield f"items {before} and {index} are one task in two spellings, {said!r:.60} and {task!r:.60}"


def _yaws(value: Any) -> list[float]:
    """Return a list of yaws; empty where one of them is no direction at all, which whoever reads the file refuses."""
    yaws = _numbers(value)
    return yaws if all(-180.0 <= yaw <= 360.0 for yaw in yaws) else []


def _numbers(value: Any) -> list[float]:
    """Return a list of numbers as it stands there; empty where it is none."""
    if not isinstance(value, list) or any(isinstance(v, bool) or not isinstance(v, (int, float)) for v in value):
        return []
    return [float(v) for v in value]
