"""Where a search for joint angles starts: a coarse grid over the joints' range, with the direction each point looks in.

A start next to the answer makes the search short, and several of them, far from each other, make that no answer is
missed behind a stop.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from hvs_ros.neck.kinematics import GazeKinematics

Array = NDArray[np.float64]

_PER_JOINT = {1: 181, 2: 33, 3: 13, 4: 8, 5: 5}
_PER_JOINT_OF_MORE = 4
"""Points of the grid for each joint, by how many there are."""
_ROLL, _WAY = 0.1, 0.003
"""What a squared radian of roll and of way to go weigh against one of error."""
_APART = 0.3
"""Of its range: a joint so far from where it is in an answer may lead to another one."""
_AT_STOP_RAD = 1e-6
_MOVED_ON_RAD = 0.15
"""A joint beyond those that are moved has moved so far: the grid is made anew."""


@dataclass(frozen=True)
class Starts:
    """The points of a grid, for one target.

    Attributes:
        points: (k, m) rad, joints without a stop at the turn next to where they are.
        error: (k,) rad, angle between each one's line of sight and the target.
        roll: (k,) rad, of each, times cos(pitch), not below 0.
        way: (k,) rad, from where the joints are.
        lower: (m,) rad, the joints' stops; those of a joint without any are a turn apart.
        upper: (m,) rad.
        cell: rad, the line of sight of any joint angles is no further than this from that of the nearest point.
    """

    points: Array
    error: Array
    roll: Array
    way: Array
    lower: Array
    upper: Array
    cell: float

    def best(self) -> Array:
        """Return the point that is next to an answer, (m,) rad."""
        best: Array = self.points[int(self._scores(_ROLL).argmin())]
        return best

    def nearer(self, error: float, tried: Sequence[tuple[Array, Array]]) -> Array | None:
        """Return the best point from which an error may be undercut; None: there is none.

        Args:
            error: rad.
            tried: (start, answer), (m,) rad each, that points are apart from.
        """
        # What holds an answer back is a joint at its stop, if there is one: then this joint must be elsewhere.
        stops = [(x <= self.lower + _AT_STOP_RAD) | (x >= self.upper - _AT_STOP_RAD) for _, x in tried]
        held = [(x, stop if stop.any() else ~stop) for (_, x), stop in zip(tried, stops, strict=True)]
        return self._elsewhere(self._scores(0.0), self.error < error + self.cell, self._whole(tried, 0) + held)

    def more_level(self, roll: float, tried: Sequence[tuple[Array, Array]]) -> Array | None:
        """Return the best point next to the target with less roll; None: there is none.

        Args:
            roll: rad, times cos(pitch).
            tried: (start, answer), (m,) rad each, that points are apart from.
        """
        eligible = (self.error < self.cell) & (self.roll < roll)
        return self._elsewhere(self._scores(_ROLL), eligible, self._whole(tried, 0) + self._whole(tried, 1))

    def _scores(self, roll: float) -> Array:
        scores: Array = self.error**2 + roll * self.roll**2 + _WAY * self.way**2
        return scores

    def _whole(self, tried: Sequence[tuple[Array, Array]], which: int) -> list[tuple[Array, NDArray[np.bool_]]]:
        every = np.full(len(self.lower), True)
        return [(pair[which], every) for pair in tried]

    def _elsewhere(
        self, scores: Array, eligible: NDArray[np.bool_], known: Sequence[tuple[Array, NDArray[np.bool_]]]
    ) -> Array | None:
        """Return the best point that is apart from others (m,) in at least one of some of their joints (m,)."""
        left = np.flatnonzero(eligible)
        apart = _APART * (self.upper - self.lower)
        for other, joints in known:
            way = np.abs(self.points[left] - other)
            left = left[(way > apart)[:, joints].any(axis=1)]
        if not len(left):
            return None
        best: Array = self.points[left[scores[left].argmin()]]
        return best


class GazeSeeds:
    """A grid over some joints.

    It is made once, with the other joints at their neutral angles: where they carry all that are moved (a torso below a
    neck), they turn the grid as a whole; where they do not, a move of theirs makes it anew.

    Args:
        kinematics: of the head.
        moved: indices of the joints that are moved.
    """

    def __init__(self, kinematics: GazeKinematics, moved: Sequence[int]) -> None:
        self._kinematics = kinematics
        self._moved = list(moved)
        limits = [kinematics.limits[index] for index in moved]
        self._round = np.array([limit.continuous for limit in limits])
        lower = np.array([-math.pi if limit.continuous else limit.lower for limit in limits])
        upper = np.array([math.pi if limit.continuous else limit.upper for limit in limits])
        self._lower, self._upper = lower, upper
        count = _PER_JOINT.get(len(limits), _PER_JOINT_OF_MORE)
        axes = [np.linspace(a, b, count, endpoint=not r) for a, b, r in zip(lower, upper, self._round, strict=True)]
        self._points = np.array(list(product(*axes)))
        self._cell = float(((upper - lower) / (count - 1)).sum() / 2)
        first = min(kinematics.depth[index] for index in moved)
        others = [index for index in range(len(kinematics.joints)) if index not in self._moved]
        self._below = [index for index in others if kinematics.depth[index] < first]
        self._among = [index for index in others if kinematics.depth[index] > first]
        self._grid = self._made(np.array(kinematics.neutral))

    def starts(self, q: Array, target: Array, now: Array) -> Starts:
        """Return the points for a target.

        Args:
            q: (n,) rad, where the joints are.
            target: (3,) unit vector in the base frame.
            now: (m,) rad, where the moved joints are.
        """
        grid = self._grid
        if self._among and np.abs(q - grid.at)[self._among].max() > _MOVED_ON_RAD:
            grid = self._grid = self._made(q.copy())
        level_roll = grid.roll
        if self._below:
            turn = self._rotation(q, grid.at) @ grid.rotations[0].T
            target = target @ turn
            level_roll = _crookedness(*(turn[2] @ grid.rotations[:, :, axis].T for axis in (1, 2)))
        error = np.arccos(np.clip(grid.forward @ target, -1.0, 1.0))
        way = self._points - now
        if self._round.any():
            way[:, self._round] -= 2 * math.pi * np.round(way[:, self._round] / (2 * math.pi))
        lower = np.where(self._round, now - math.pi, self._lower)
        upper = np.where(self._round, now + math.pi, self._upper)
        return Starts(now + way, error, level_roll, np.sqrt((way**2).sum(axis=1)), lower, upper, self._cell)

    def _rotation(self, q: Array, at: Array) -> Array:
        """Return how the first point's gaze frame is turned, with the joints below where they are now."""
        there = at.copy()
        there[self._below] = q[self._below]
        there[self._moved] = self._points[0]
        return self._kinematics.rotation_and_jacobian(there)[0]

    def _made(self, at: Array) -> _Grid:
        there = at.copy()
        rotations = np.empty((len(self._points), 3, 3))
        for index, point in enumerate(self._points):
            there[self._moved] = point
            rotations[index] = self._kinematics.rotation_and_jacobian(there)[0]
        roll = _crookedness(rotations[:, 2, 1], rotations[:, 2, 2])
        return _Grid(at, rotations, np.ascontiguousarray(rotations[:, :, 0]), roll)


@dataclass(frozen=True)
class _Grid:
    """Where the other joints were (n,), and of each point: the gaze frame (k, 3, 3), its x (k, 3) and its roll (k,)."""

    at: Array
    rotations: Array
    forward: Array
    roll: Array


def _crookedness(left: Array, up: Array) -> Array:
    """Return |roll| times cos(pitch) of the heights of the gaze frame's y and z."""
    crooked: Array = np.hypot(left, up) * np.abs(np.arctan2(left, up))
    return crooked
