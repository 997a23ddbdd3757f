"""Joint angles that look in a direction: the neck's, and the torso's where the neck is not enough and it is allowed.

Beyond what can be reached, the nearest direction that can be is taken. Limited joints stay between their stops,
whatever the way; those without a stop go the short way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hvs_ros.neck.gaze_descent import Found, GazeDescent, Weights
from hvs_ros.neck.gaze_seeds import GazeSeeds, Starts
from hvs_ros.neck.joints import Joints
from hvs_ros.neck.kinematics import GazeKinematics

Array = NDArray[np.float64]

REACHED_RAD = 1e-3
"""An error so small (0.06 degrees) is none: less than any neck's joints repeat."""

_NECK_ROLL, _NECK_WAY = 1e-5, 1e-10
_TORSO_ROLL, _TORSO_WAY = 3e-6, 1e-5
"""Weights (see Weights). A torso moves as little as it can, even if the picture is crooked: pictures are levelled."""
_TORSO_LEVEL = 1e-3
"""Weight of the roll where the torso would bend the head to its side without it."""
_LEVEL_RAD, _CROOKED_RAD = 0.02, 0.5
"""Answers are not told apart by less roll than the one; with more than the other, every start is tried for a better."""
MOST_TORSO_ROLL_RAD = 0.5
"""A torso bends a head to its side no further than this."""
_HALVINGS = 7
"""Of the way that a torso helps, until its end is known to a degree or so."""
_FEW_STARTS, _MOST_STARTS = 4, 12
"""Descents until an answer is taken for the best there is: one with a little roll, and one crooked or out of reach."""


@dataclass(frozen=True)
class Solution:
    """Where to put the joints.

    Attributes:
        joints: rad, all of the kinematics' joints; those that are not moved stay as they were.
        yaw: rad, where the head looks then.
        pitch: rad.
        roll: rad.
        error: rad, angle between the wanted line of sight and this one.
        reached: the error is none to speak of.
    """

    joints: Joints
    yaw: float
    pitch: float
    roll: float
    error: float
    reached: bool


class GazeSolver:
    """Finds joint angles: in half a millisecond, or a few where it takes a torso or the direction is out of reach.

    Thread-safe.

    Args:
        kinematics: of the head.
        torso: its torso joints may move as well.

    Attributes:
        kinematics: the same.
        moved: indices of the joints that may move.
    """

    def __init__(self, kinematics: GazeKinematics, *, torso: bool = False) -> None:
        self.kinematics = kinematics
        self.moved = kinematics.neck
        way = [_NECK_WAY] * len(kinematics.neck)
        self._neck = _Search(kinematics, self.moved, Weights(_NECK_ROLL, np.array(way)))
        self._whole: _Search | None = None
        self._level: _Search | None = None
        if torso and kinematics.torso:
            self.moved += kinematics.torso
            way += [_TORSO_WAY] * len(kinematics.torso)
            self._whole = _Search(kinematics, self.moved, Weights(_TORSO_ROLL, np.array(way)))
            self._level = _Search(kinematics, self.moved, Weights(_TORSO_LEVEL, np.array(way)))

    def solve(self, yaw: float, pitch: float, now: Joints) -> Solution:
        """Return the joint angles that look in a direction, or as near to it as they can.

        Args:
            yaw: rad, any turn of it.
            pitch: rad.
            now: rad, where the joints are: one value for each of the kinematics' joints.
        """
        target = np.array([math.cos(yaw) * math.cos(pitch), math.sin(yaw) * math.cos(pitch), -math.sin(pitch)])
        q = np.array(now, dtype=float)
        there, error = self._neck.run(q, target)
        if error > REACHED_RAD and self._whole is not None and self._level is not None:
            helped, with_torso = self._whole.run(q, target, first=there)
            if abs(self._roll(helped)) > MOST_TORSO_ROLL_RAD:
                helped, with_torso = self._level.run(q, target)
            if abs(self._roll(helped)) > MOST_TORSO_ROLL_RAD:
                helped, with_torso = self._upright(self._level, q, target, there)
            if with_torso < error - REACHED_RAD:
                there, error = helped, with_torso
        joints = tuple(there.tolist())
        state = self.kinematics.gaze(joints)
        return Solution(joints, state.yaw, state.pitch, state.roll, error, error <= REACHED_RAD)

    def _roll(self, q: Array) -> float:
        return self.kinematics.gaze(tuple(q.tolist())).roll

    def _sight(self, q: Array) -> Array:
        sight: Array = self.kinematics.rotation_and_jacobian(q)[0][:, 0]
        return sight

    def _upright(self, search: _Search, q: Array, target: Array, neck: Array) -> tuple[Array, float]:
        """Return how far a torso helps without bending the head to its side.

        Nobody wants a robot that lies on its side to look over its shoulder; such a direction counts as out of reach.
        The end is looked for on two ways to it, from the neck's own answer and from straight ahead.
        """
        ahead = q.copy()
        ahead[list(self.moved)] = [self.kinematics.neutral[index] for index in self.moved]
        ends = [self._last_upright(search, q, target, start) for start in (neck, ahead)]
        errors = [float(np.arccos(np.clip(self._sight(end) @ target, -1.0, 1.0))) for end in ends]
        best = int(np.argmin(errors))
        return ends[best], errors[best]

    def _last_upright(self, search: _Search, q: Array, target: Array, start: Array) -> Array:
        sight = self._sight(start)
        best, low, high = start, 0.0, 1.0
        for _ in range(_HALVINGS):
            part = (low + high) / 2
            helped, error = search.run(q, _between(sight, target, part), first=best)
            if error <= REACHED_RAD and abs(self._roll(helped)) <= MOST_TORSO_ROLL_RAD:
                best, low = helped, part
            else:
                high = part
        return best


class _Search:
    """Answers by some of the joints."""

    def __init__(self, kinematics: GazeKinematics, moved: Sequence[int], weights: Weights) -> None:
        self._moved = list(moved)
        limits = [kinematics.limits[index] for index in moved]
        self._lower = np.array([limit.lower for limit in limits])
        self._upper = np.array([limit.upper for limit in limits])
        self._round = np.array([limit.continuous for limit in limits])
        self._descent = GazeDescent(kinematics, moved, weights)
        self._seeds = GazeSeeds(kinematics, moved)

    def run(self, q: Array, target: Array, first: Array | None = None) -> tuple[Array, float]:
        """Return every joint's angle, and the error [rad].

        Args:
            q: (n,) rad, where the joints are.
            target: (3,) unit vector in the base frame.
            first: (n,) rad, where to start; None: wherever is best. Then an answer is not given up for its roll.
        """
        now = np.clip(q[self._moved], self._lower, self._upper)
        starts = self._seeds.starts(q, target, now)
        start = starts.best() if first is None else first[self._moved]
        best = self._descent.run(q, start, target, now)
        tried = [(start, best.moved)]
        while (more := self._further(starts, best, tried, level=first is None)) is not None:
            other = self._descent.run(q, more, target, now)
            tried.append((more, other.moved))
            best = min(best, other, key=lambda answer: _rank(answer, now))
        there = q.copy()
        # Sums of what lies within limits may be beyond them by a rounding.
        there[self._moved] = np.clip(best.moved, self._lower, self._upper)
        if self._round.any():
            turns = np.round((best.moved - now) / (2 * math.pi))
            there[self._moved] -= np.where(self._round, 2 * math.pi * turns, 0.0)
        return there, best.error

    def _further(
        self, starts: Starts, best: Found, tried: Sequence[tuple[Array, Array]], *, level: bool
    ) -> Array | None:
        """Return where else to start, (m,) rad; None: the best answer so far will do."""
        if best.error > REACHED_RAD:
            return starts.nearer(best.error, tried) if len(tried) < _MOST_STARTS else None
        most = _FEW_STARTS if best.roll < _CROOKED_RAD else _MOST_STARTS
        if level and best.roll > _LEVEL_RAD and len(tried) < most:
            return starts.more_level(best.roll - _LEVEL_RAD, tried)
        return None


def _between(start: Array, end: Array, part: float) -> Array:
    """Return the direction so far along the shortest way from one to another, both (3,) unit vectors."""
    angle = float(np.arccos(np.clip(start @ end, -1.0, 1.0)))
    if angle < 1e-9 or math.pi - angle < 1e-6:
        return end if part > 0.5 else start
    way: Array = (math.sin((1 - part) * angle) * start + math.sin(part * angle) * end) / math.sin(angle)
    return way


def _rank(found: Found, now: Array) -> tuple[float, float, float]:
    """Return what is smaller for the better of two answers: error, then roll, then way to go."""
    error = 0.0 if found.error <= REACHED_RAD else round(found.error, 4)
    return error, round(found.roll / _LEVEL_RAD), float(np.abs(found.moved - now).sum())
