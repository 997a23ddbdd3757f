"""From what may be searched for in a room to the items of an annotation: only what can be seen, from varied starts."""

from __future__ import annotations

from typing import Any

import numpy as np

from hvs_ros.angles import Direction, wrap_yaw_deg
from hvs_ros.mock.rooms.render import clear_way, visible_share
from hvs_ros.mock.rooms.room import EYE, Goal, Room
from hvs_ros.panorama.camera import EVALUATION
from hvs_ros.panorama.inverse import visible_fraction
from hvs_ros.search.scoring import difficulty
from hvs_ros.search.task import TaskKind

Starts = int | tuple[int, ...]
"""How many directions a task is searched from, up to 100, mostly away from its target; or which, as for every task."""

PUBLISHED_STARTS = (0, 90, 180, 270)
"""As in the published data set."""

_LEAST_VISIBLE = 0.85
_OFTEN_OUT_OF_VIEW = 0.75


def annotate(room: Room, most: int, starts: Starts) -> list[dict[str, Any]]:
    """Return up to ``most`` annotation items with their starts.

    What furniture hides is left out. Ways come first, then one thing without words, then what signs name.
    """
    seen = [goal for goal in room.goals if _can_be_seen(room, goal)]
    ways = [goal for goal in seen if goal.opening is not None]
    things = [goal for goal in seen if goal.opening is None and not goal.by_sign]
    signs = [goal for goal in seen if goal.opening is None and goal.by_sign]
    chosen = [*ways[:2], *_shuffled(room, things)[:1], *_shuffled(room, signs), *things]
    chosen = list({id(goal): goal for goal in chosen}.values())[:most]
    return [_item(room, goal, starts) for goal in seen if goal in chosen]


def _shuffled(room: Room, goals: list[Goal]) -> list[Goal]:
    return [goals[int(k)] for k in room.rng.permutation(len(goals))]


def _can_be_seen(room: Room, goal: Goal) -> bool:
    if goal.opening is not None:
        return clear_way(room.shapes, EYE, *goal.opening) >= _LEAST_VISIBLE
    return visible_share(room.shapes, goal.pieces, EYE) >= _LEAST_VISIBLE


def _item(room: Room, goal: Goal, starts: Starts) -> dict[str, Any]:
    left, right, low, high = (round(float(value), 1) for value in goal.box_deg(room.shapes))
    kind = TaskKind.OBJECT if goal.opening is None else TaskKind.PATH
    yaw = [left, round(right % 360.0, 1) if right >= 360.0 else right]
    item: dict[str, Any] = {"task": goal.instruction, "yaw": yaw}
    if kind is TaskKind.OBJECT:
        item["pitch"] = [low, high]
    if isinstance(starts, int):
        chosen: dict[int, None] = {}
        while len(chosen) < starts:
            chosen[_start(room, (left + right) / 2)] = None
        item["initial yaw"] = list(chosen)
    else:
        item["initial yaw"] = list(starts)
    item["level"] = [
        difficulty(kind, visible_fraction(EVALUATION, Direction(start, 0.0), yaw, item.get("pitch")))
        for start in item["initial yaw"]
    ]
    return item


def _start(room: Room, yaw_deg: float) -> int:
    """Return where a search starts: mostly looking away from the target."""
    away = (75.0, 180.0) if room.rng.random() < _OFTEN_OUT_OF_VIEW else (15.0, 48.0)
    turn = float(room.rng.uniform(*away)) * float(room.rng.choice([-1, 1]))
    return int(np.rint(wrap_yaw_deg(yaw_deg + turn))) % 360
