"""The searcher's mind: where to look next, what to believe, when to submit."""

from __future__ import annotations

import math
from dataclasses import replace

from hvs_ros.angles import Direction, yaw_difference_deg
from hvs_ros.policy.sign_reading.color import find_color
from hvs_ros.policy.sign_reading.looking import Looker, Seen
from hvs_ros.policy.sign_reading.opening import find_opening
from hvs_ros.policy.sign_reading.request import Request, understand
from hvs_ros.policy.sign_reading.sighting import Memory, Sighting, SightingKind
from hvs_ros.search.action import Rotate, Submit
from hvs_ros.search.decision import Decision
from hvs_ros.search.task import Task, TaskKind
from hvs_ros.search.view import Observation

CENTERED_DEG = 1.0
"""Looking this near to a thing is looking at it."""
_NEAR_DEG = 8.0
"""A closer look finds the thing again within this distance."""
_OVERLAP = 0.75
"""Part of a view's width by which two views of the sweep lie apart, at most."""
_OVERHEAD_DEG = 13.0
"""A sign higher up than this hangs over the junction one stands at: its arrow means a turn by a right angle."""
_FOLLOW_DEG, _FOLLOW_OVERHEAD_DEG = 42.0, 85.0
"""How far to turn along an arrow: the sign beside an opening stays in the view, the one overhead has no part in it."""
_LOOKED_DEG = 15.0
"""A view this near to another shows nothing new."""
_ASIDE_DEG, _ASIDE_OVERHEAD_DEG = 65.0, 90.0
"""Where an arrow to the side leads, seen from its sign, when nothing better is known."""
_MOST_TURNS_TO_ONE = 2


class Search:
    """One search.

    Args:
        task: what to find.
        looker: reads views.
        min_match: from which score on a sighting is an answer.
        sure_match: from which score on there is no need to look further.
    """

    def __init__(self, task: Task, looker: Looker, min_match: float, sure_match: float) -> None:
        self._path = task.kind is TaskKind.PATH
        self._looker = looker
        self._min_match, self._sure_match = min_match, sure_match
        self._request = understand(task.instruction)
        self._memory = Memory()
        self._plan: list[Direction] | None = None
        self._target: Sighting | None = None
        self._turns_to_target = 0
        self._followed: list[Sighting] = []
        self._unread: list[Direction] = []

    def decide(self, observation: Observation) -> Decision:
        """Read the view and turn on, or submit."""
        if self._plan is None:
            self._plan = _sweep(observation, self._request)
        seen = self._look(observation)
        self._memory.looked.append(observation.direction)
        answer = self._answer()
        sure = answer is not None and answer.score >= self._sure_match
        last_chance = observation.turns_left <= 2
        read = _said(seen)
        if observation.turns_left == 1:
            return self._submit(observation, answer, read)
        if answer is not None and (sure or not self._plan or last_chance):
            return self._go(observation, answer, read)
        lead = self._lead()
        if lead is not None and not last_chance:
            return self._follow(observation, lead, read)
        if self._plan and not last_chance:
            return self._next_view(observation, read)
        if self._request.textual and self._unread and observation.turns_left > 2:
            return self._look_at_small_print(observation, read)
        guess = self._guess(answer)
        if guess is None:
            return self._next_view(observation, read) if self._plan else self._submit(observation, None, read)
        return self._go(observation, guess, read)

    def _look(self, observation: Observation) -> Seen:
        target, gaze = self._target, observation.direction
        closely = target is not None and gaze.angle_to_deg(target.direction) < _NEAR_DEG
        if closely and target is not None and target.kind is SightingKind.SIGN:
            seen = self._looker.look_closely(observation, self._request, target.size_deg)
            if target.score > 0.0 and not _again(seen, target):
                seen = self._looker.look(observation, self._request)
                if not _again(seen, target) and not target.close:
                    self._memory.reject(target)
        else:
            seen = self._looker.look(observation, self._request)
            self._unread += seen.unread
        self._memory.add(seen.sightings)
        if self._request.color is not None:
            self._memory.add(_without_other_words(find_color(observation, self._request.color), seen))
        if self._path:
            for sign in seen.sightings:
                beside = sign.score >= self._min_match and not _overhead(sign)
                opening = find_opening(observation, sign) if beside else None
                if opening is not None:
                    self._memory.add([opening])
        return seen

    def _answer(self) -> Sighting | None:
        """Return what would be submitted now; None when nothing fits well enough."""
        fitting = [item for item in self._memory.sightings if item.score >= self._min_match]
        if not self._path:
            # A sign that points elsewhere is not where the thing is, unless there is no other.
            return max(fitting, key=lambda item: item.score - (0.15 if item.side else 0.0), default=None)
        direct = [item for item in fitting if item.kind is SightingKind.SIGN and not item.side]
        openings = [item for item in fitting if item.kind is SightingKind.OPENING]
        return max(direct + openings, key=lambda item: item.score, default=None)

    def _lead(self) -> Sighting | None:
        """Return a sign whose arrow has not been followed yet."""
        if not self._path:
            return None
        leads = [
            item
            for item in self._memory.sightings
            if item.kind is SightingKind.SIGN and item.side and item.score >= self._min_match
        ]
        for item in leads:
            if any(_same(item, done) for done in self._followed):
                continue
            if not any(view.angle_to_deg(_along(item)) < _LOOKED_DEG for view in self._memory.looked):
                return item
            self._followed.append(item)
        return None

    def _follow(self, observation: Observation, lead: Sighting, read: str) -> Decision:
        """Turn to where an arrow points."""
        self._followed.append(lead)
        self._target = None
        return _rotate(observation, _along(lead), f"{read} {lead.describe()} fits {lead.fits}: I follow its arrow.")

    def _go(self, observation: Observation, goal: Sighting, read: str) -> Decision:
        """Turn to a sighting, or submit it when the view is centred on it."""
        if self._target is None or not _same(self._target, goal):
            self._turns_to_target = 0
        self._target = goal
        off = observation.direction.angle_to_deg(goal.direction)
        looked = goal.close or goal.kind is not SightingKind.SIGN
        if (off <= CENTERED_DEG and looked) or self._turns_to_target >= _MOST_TURNS_TO_ONE:
            return self._submit(observation, goal, read)
        if off <= CENTERED_DEG / 2 and observation.turn > 1:
            return self._submit(observation, goal, read)
        self._turns_to_target += 1
        return _rotate(observation, goal.direction, f"{read} {_because(goal)}: I turn to it.")

    def _next_view(self, observation: Observation, read: str) -> Decision:
        """Turn to the next view of the sweep, first to the side that an arrow points to."""
        assert self._plan
        self._target = None
        side = next((item.side for item in self._memory.sightings if item.side), 1)
        gaze = observation.direction
        self._plan.sort(key=lambda view: (side * yaw_difference_deg(view.yaw_deg, gaze.yaw_deg)) % 360.0)
        view = self._plan.pop(0)
        return _rotate(observation, view, f"{read} Nothing that is certain yet: I look further around.")

    def _look_at_small_print(self, observation: Observation, read: str) -> Decision:
        spot = self._unread.pop(0)
        self._unread = [other for other in self._unread if other.angle_to_deg(spot) > 12.0]
        self._target = Sighting(SightingKind.SIGN, spot, "small print", 0.0, "", turn=observation.turn, close=True)
        return _rotate(observation, spot, f"{read} There is small print at {spot}: I look closer.")

    def _guess(self, answer: Sighting | None) -> Sighting | None:
        """Return the best there is, however poor; the side to which an arrow points where only that is known."""
        best = answer or next(iter(self._memory.sightings), None)
        if best is None or not self._path or not best.side:
            return best
        turn_deg = _ASIDE_OVERHEAD_DEG if _overhead(best) else _ASIDE_DEG
        direction = Direction(best.direction.yaw_deg + best.side * turn_deg, 0.0).normalized()
        return replace(best, kind=SightingKind.ASIDE, direction=direction, score=0.5 * best.score, arrow=None)

    def _submit(self, observation: Observation, goal: Sighting | None, read: str) -> Decision:
        if goal is None:
            goal = self._guess(None)
        gaze = observation.direction
        if goal is None:
            thought = f"{read} Nothing that I can read or see fits '{self._request.instruction}': I guess."
            return _decision(Submit(*_rounded(gaze)), thought, guess=True)
        # Centred, it submits where it looks; otherwise where it knows the thing to be.
        aim = gaze if gaze.angle_to_deg(goal.direction) <= CENTERED_DEG else goal.direction
        guess = goal.score < self._min_match
        end = "It fits poorly, I guess." if guess else "I submit it."
        return _decision(Submit(*_rounded(aim)), f"{read} {_because(goal)}. {end}", guess=guess)


def _sweep(observation: Observation, request: Request) -> list[Direction]:
    """Return the views that cover the circle, without the one that is seen already."""
    start = observation.direction
    pitch = start.pitch_deg if request.pitch_deg is None else request.pitch_deg
    count = max(3, math.ceil(360.0 / (_OVERLAP * observation.hfov_deg)))
    first = 0 if abs(pitch - start.pitch_deg) > 20.0 else 1
    return [Direction(start.yaw_deg + k * 360.0 / count, pitch).normalized() for k in range(first, count)]


def _again(seen: Seen, target: Sighting) -> bool:
    """Return whether a look shows the target."""
    return any(item.direction.angle_to_deg(target.direction) < _NEAR_DEG for item in seen.sightings)


def _without_other_words(patches: list[Sighting], seen: Seen) -> list[Sighting]:
    """Return the patches that are no signs: what carries words that do not fit is something else."""
    return [
        patch for patch in patches if all(patch.direction.angle_to_deg(words) > 2.5 for words in seen.words)
    ]


def _along(lead: Sighting) -> Direction:
    """Return where to look for what an arrow points at."""
    turn_deg = _FOLLOW_OVERHEAD_DEG if _overhead(lead) else _FOLLOW_DEG
    return Direction(lead.direction.yaw_deg + lead.side * turn_deg, 0.0).normalized()


def _overhead(sign: Sighting) -> bool:
    return sign.direction.pitch_deg > _OVERHEAD_DEG


def _same(a: Sighting, b: Sighting) -> bool:
    return a.kind is b.kind and a.direction.angle_to_deg(b.direction) < max(4.0, 0.6 * max(a.size_deg, b.size_deg))


def _because(goal: Sighting) -> str:
    if goal.kind in (SightingKind.OPENING, SightingKind.ASIDE):
        return f"The arrow of the sign to {goal.fits} points at {goal.describe()}"
    if goal.kind is SightingKind.COLOR:
        return f"There is {goal.describe()}, which may be meant"
    return f"{goal.describe()} fits {goal.fits} ({goal.score:.2f})"


def _said(seen: Seen) -> str:
    if not seen.texts:
        return "I can read nothing here."
    shown = ", ".join(f"'{text}'" for text in seen.texts[:6])
    rest = len(seen.texts) - 6
    more = f" and {rest} more line{'s' if rest > 1 else ''}" if rest > 0 else ""
    return f"I read {shown}{more}."


def _rotate(observation: Observation, goal: Direction, thought: str) -> Decision:
    gaze = observation.direction
    dyaw = round(yaw_difference_deg(goal.yaw_deg, gaze.yaw_deg), 1)
    dpitch = round(goal.pitch_deg - gaze.pitch_deg, 1)
    return _decision(Rotate(dyaw + 0.0, dpitch + 0.0), thought)


def _rounded(direction: Direction) -> tuple[float, float]:
    return round(direction.yaw_deg, 1) % 360.0, round(direction.pitch_deg, 1) + 0.0


def _decision(action: Rotate | Submit, thought: str, *, guess: bool = False) -> Decision:
    return Decision(action, thought=thought, raw=str(action), guess=guess)
