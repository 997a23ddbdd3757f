"""From a start to the nearest joint angles that look in a direction, by Newton steps inside the limits.

What is minimised is the error of the direction first, the roll far behind it, and the way to go far behind that: where
the head has joints to spare, they level the picture, and where they are spare even then, they stay where they are.
Where the direction cannot be reached, the same steps end at the least error: that is why the error's second derivative
is the exact one, and not that of Gauss and Newton, which holds where the error is none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hvs_ros.neck.box_step import least_in_box
from hvs_ros.neck.kinematics import GazeKinematics

Array = NDArray[np.float64]

_STEP_RAD = 0.6
"""Longest step of a joint: the quadratic model holds no further."""
_SHORTEST_RAD = 1e-4
"""A step that must be this short to be any good is the last one."""
_STEPS = 80
_AT_REST_RAD = 1e-7
_DAMPING = 1e-12
_CONVEX = 1e-3
"""Least curvature of the model, where the error is not convex."""
_OFF_SADDLE_RAD = 0.1
_NEAR_RAD = 0.02
"""Nearer than this the target is taken to be in reach: the error may grow on the way to a level picture, and Gauss and
Newton's second derivative is good enough."""
_PATIENCE = 12
"""Steps after which that is given up, if the error has never been that of an answer: from then on it must fall."""
_ANSWER_RAD = 1e-3
_VERTICAL = 1e-9
"""cos(pitch) below which there is no roll."""
_EXACT_RAD = 1e-10
"""So small an error needs no polish."""
_POLISHES = 3


@dataclass(frozen=True)
class Found:
    """Where a descent ended.

    Attributes:
        moved: (m,) rad.
        error: rad, angle between the wanted line of sight and this one.
        roll: rad, times cos(pitch): how crooked the picture is, not below 0.
    """

    moved: Array
    error: float
    roll: float


@dataclass(frozen=True)
class Weights:
    """Of a squared radian, where one of error weighs 1.

    Attributes:
        roll: of roll.
        way: (m,) of each joint's way.
    """

    roll: float
    way: Array


class GazeDescent:
    """Moves some of the joints.

    Args:
        kinematics: of the head.
        moved: indices of the joints that are moved.
        weights: what counts beside the direction.
    """

    def __init__(self, kinematics: GazeKinematics, moved: Sequence[int], weights: Weights) -> None:
        self._kinematics = kinematics
        self._moved = list(moved)
        self._weights = weights
        self._way = np.diag(weights.way + _DAMPING)
        limits = [kinematics.limits[index] for index in moved]
        self._lower = np.array([limit.lower for limit in limits])
        self._upper = np.array([limit.upper for limit in limits])
        depth = np.array([kinematics.depth[index] for index in moved])
        self._carries = depth[:, None] <= depth[None, :]

    def run(self, q: Array, start: Array, target: Array, now: Array) -> Found:
        """Return where the steps from a start end.

        Args:
            q: (n,) rad, every joint; those that are not moved stay there.
            start: (m,) rad, inside the limits.
            target: (3,) unit vector in the base frame.
            now: (m,) rad, where the moved joints are.
        """
        q = q.copy()
        x, best, error = start, start, math.inf
        radius, near, least, escaped = _STEP_RAD, _NEAR_RAD, math.inf, False
        for count in range(_STEPS):
            q[self._moved] = x
            rotation, jacobian = self._kinematics.rotation_and_jacobian(q)
            sight = _Sight.of(target, rotation)
            least = min(least, sight.error)
            if count == _PATIENCE and least > _ANSWER_RAD:
                near = 0.0
            if sight.error > max(error, near):
                radius /= 4
                if radius < _SHORTEST_RAD:
                    break
                x = best + np.clip(x - best, -radius, radius)
                continue
            best, error, radius = x, sight.error, min(2 * radius, _STEP_RAD)
            step = self._step(rotation, jacobian[:, self._moved], sight, x, now, radius, near)
            if np.abs(step).max() < _AT_REST_RAD:
                aside = None if error < _ANSWER_RAD or escaped else self._off_saddle(jacobian, sight, x, now)
                if aside is None:
                    break
                escaped, step = True, aside
            x = np.clip(x + step, self._lower, self._upper)
        return self._polished(q, best, target)

    def _step(
        self, rotation: Array, jacobian: Array, sight: _Sight, x: Array, now: Array, radius: float, near: float
    ) -> Array:
        across = jacobian[1:]
        gradient = across[0] * sight.turn_y + across[1] * sight.turn_z
        hessian = across.T @ across
        if sight.error > near:
            hessian = self._curvature(jacobian, sight)
            least = float(np.linalg.eigvalsh(hessian)[0])
            if least < _CONVEX:
                hessian[np.diag_indices(len(hessian))] += _CONVEX - least
        hessian += self._way
        gradient += self._weights.way * (now - x)
        # d(roll cos(pitch)), the cosine held: zero where the line of sight is vertical, and smooth there.
        down, left, up = rotation[2].tolist()
        level = math.hypot(left, up)
        if level > _VERTICAL:
            rolling = level * jacobian[0] - down / level * (up * across[1] + left * across[0])
            hessian += self._weights.roll * np.outer(rolling, rolling)
            gradient -= self._weights.roll * level * math.atan2(left, up) * rolling
        low = np.maximum(self._lower - x, -radius)
        high = np.minimum(self._upper - x, radius)
        return _least(hessian, gradient, low, high)

    def _curvature(self, jacobian: Array, sight: _Sight) -> Array:
        """Return the second derivative of error^2 / 2, which may not be convex.

        With the line of sight d, the target t and joint axes w, the error is acos(t.d), and the second derivative of d
        by a joint i and a joint j that it carries is w_i x (w_j x d).
        """
        ahead, left, up = sight.ahead, sight.left, sight.up
        pulled = np.outer(jacobian[0], left * jacobian[1] + up * jacobian[2])
        second = ahead * (jacobian[1:].T @ jacobian[1:]) - np.where(self._carries, pulled, pulled.T)
        aside = max(math.hypot(left, up), 1e-6)
        slope = left * jacobian[2] - up * jacobian[1]
        factor = (1.0 - sight.error * ahead / aside) / aside**2
        hessian: Array = sight.error / aside * second + factor * np.outer(slope, slope)
        return hessian

    def _off_saddle(self, jacobian: Array, sight: _Sight, x: Array, now: Array) -> Array | None:
        """Return a step down from where the error is level, but not at its least; None: it is."""
        free = np.flatnonzero((x > self._lower) & (x < self._upper))
        if not len(free):
            return None
        curvature = self._curvature(jacobian[:, self._moved], sight)[np.ix_(free, free)]
        values, vectors = np.linalg.eigh(curvature)
        if values[0] > -_CONVEX:
            return None
        step = np.zeros(len(x))
        step[free] = _OFF_SADDLE_RAD * vectors[:, 0]
        return -step if step @ (now - x) < 0.0 else step

    def _polished(self, q: Array, x: Array, target: Array) -> Found:
        """Return it with what roll and way pulled off the direction put right, where there is room."""
        q[self._moved] = x
        rotation, jacobian = self._kinematics.rotation_and_jacobian(q)
        sight = _Sight.of(target, rotation)
        for _ in range(_POLISHES):
            if not _EXACT_RAD < sight.error < _NEAR_RAD:
                break
            across = jacobian[1:, self._moved]
            gradient = across[0] * sight.turn_y + across[1] * sight.turn_z
            hessian = across.T @ across + _DAMPING * np.eye(len(x))
            closer = x + _least(hessian, gradient, self._lower - x, self._upper - x)
            q[self._moved] = closer
            turned, jacobian = self._kinematics.rotation_and_jacobian(q)
            seen = _Sight.of(target, turned)
            if seen.error >= sight.error:
                break
            x, rotation, sight = closer, turned, seen
        left, up = rotation[2, 1:].tolist()
        return Found(x, sight.error, math.hypot(left, up) * abs(math.atan2(left, up)))


def _least(hessian: Array, gradient: Array, low: Array, high: Array) -> Array:
    return np.array(least_in_box(hessian.tolist(), gradient.tolist(), low.tolist(), high.tolist()))


@dataclass(frozen=True)
class _Sight:
    """The target as seen in the gaze frame, and the turn about its y and z that brings x there [rad]."""

    ahead: float
    left: float
    up: float
    error: float
    turn_y: float
    turn_z: float

    @classmethod
    def of(cls, target: Array, rotation: Array) -> _Sight:
        ahead, left, up = (target @ rotation).tolist()
        aside = math.hypot(left, up)
        error = math.atan2(aside, ahead)
        if aside < 1e-300:
            return cls(ahead, left, up, error, 0.0, error)
        return cls(ahead, left, up, error, -up * error / aside, left * error / aside)
