"""Did two runs of the same episodes decide the same? Asked of a run in this process and one through the ROS graph.

What is compared is what a policy saw, said and was understood to say, turn by turn, and what came of it; not times,
tokens or places. From the first turn of an episode that differs, everything after it may differ for that reason alone,
so only that turn is listed, beside how the episode ended.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass

from hvs_ros.angles import Direction, yaw_difference_deg
from hvs_ros.benchmark.record import SearchRecord, TurnRecord
from hvs_ros.benchmark.result import EpisodeResult
from hvs_ros.search.action import Action
from hvs_ros.search.scoring import ScoringMode

SAME_DEG = 0.001
"""Angles that differ by less are the same: messages carry radians."""
SHOWN = 60
"""Characters of a text that is shown."""
NOTHING = "-"


@dataclass(frozen=True)
class Difference:
    """One thing that is not the same.

    Attributes:
        episode_id: where.
        turn: in which turn, the first is 1; None: how the episode ended.
        what: direction, action, status, answer, turns, outcome, submitted, success (by a rule).
        one: in the first run, as text.
        other: in the second run.
    """

    episode_id: str
    turn: int | None
    what: str
    one: str
    other: str

    @property
    def where(self) -> str:
        """Episode and turn, for a person."""
        return f"{self.episode_id}, " + ("end" if self.turn is None else f"turn {self.turn}")


def disagreements(one: Sequence[EpisodeResult], other: Sequence[EpisodeResult]) -> list[Difference]:
    """Return what differs between two runs, by episode in the order of the first run; empty: nothing.

    Args:
        one: results of a run.
        other: of the other one, in any order. An episode that only one of them holds is a difference.
    """
    others = {result.episode_id: result for result in other}
    ones = {result.episode_id: result for result in one}
    found: list[Difference] = []
    for episode_id in dict.fromkeys([*ones, *others]):
        found += _of_episode(episode_id, ones.get(episode_id), others.get(episode_id))
    return found


def _of_episode(episode_id: str, one: EpisodeResult | None, other: EpisodeResult | None) -> Iterator[Difference]:
    if one is None or other is None:
        there, missing = "there", "missing"
        yield Difference(
            episode_id, None, "episode", missing if one is None else there, missing if other is None else there
        )
        return
    for a, b in zip(one.record.turns, other.record.turns, strict=False):
        in_turn = [Difference(episode_id, a.number, *pair) for pair in _in_turn(a, b)]
        yield from in_turn
        if in_turn:
            break
    yield from (Difference(episode_id, None, *pair) for pair in _at_end(one, other))


def _in_turn(a: TurnRecord, b: TurnRecord) -> Iterator[tuple[str, str, str]]:
    if not _same_direction(a.direction, b.direction):
        yield "direction", _shown_direction(a.direction), _shown_direction(b.direction)
    if a.raw != b.raw:
        yield "answer", *_around_difference(a.raw, b.raw)
    if a.status is not b.status:
        yield "status", a.status.value, b.status.value
    if not _same_action(a.action, b.action):
        yield "action", _shown(a.action), _shown(b.action)
    if not _same_direction(a.after, b.after):
        yield "direction after it", _shown_direction(a.after), _shown_direction(b.after)


def _at_end(one: EpisodeResult, other: EpisodeResult) -> Iterator[tuple[str, str, str]]:
    a, b = one.record, other.record
    if a.outcome is not b.outcome:
        yield "outcome", _outcome(a), _outcome(b)
    if len(a.turns) != len(b.turns):
        yield "turns", str(len(a.turns)), str(len(b.turns))
    if not _same_direction(a.submitted, b.submitted):
        yield "submitted", _shown_direction(a.submitted), _shown_direction(b.submitted)
    for mode in ScoringMode:
        verdicts = one.success(mode), other.success(mode)
        if verdicts[0] is not verdicts[1]:
            first, second = (NOTHING if verdict is None else "yes" if verdict else "no" for verdict in verdicts)
            yield f"success, {mode.value} rule", first, second


def _outcome(record: SearchRecord) -> str:
    return f"{record.outcome.value}: {record.message}" if record.message else record.outcome.value


def _same_direction(a: Direction | None, b: Direction | None) -> bool:
    if a is None or b is None:
        return a is b
    return abs(yaw_difference_deg(a.yaw_deg, b.yaw_deg)) < SAME_DEG and abs(a.pitch_deg - b.pitch_deg) < SAME_DEG


def _same_action(a: Action | None, b: Action | None) -> bool:
    if a is None or b is None or type(a) is not type(b):
        return a is b
    return all(abs(x - y) < SAME_DEG for x, y in zip(astuple(a), astuple(b), strict=True))


def _shown(action: Action | None) -> str:
    return NOTHING if action is None else str(action)


def _shown_direction(direction: Direction | None) -> str:
    """As exactly as it is compared."""
    return NOTHING if direction is None else f"({direction.yaw_deg:.3f}, {direction.pitch_deg:.3f})"


def _around_difference(a: str, b: str) -> tuple[str, str]:
    """Return both texts, cut to where they part."""
    same = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    start = 0 if max(len(a), len(b)) <= SHOWN else max(0, same - SHOWN // 3)
    return _cut(a, start), _cut(b, start)


def _cut(text: str, start: int) -> str:
    piece = text[start : start + SHOWN]
    return f"{'…' if start else ''}{piece!r}{'…' if start + SHOWN < len(text) else ''}"
