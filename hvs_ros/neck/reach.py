"""How far a head can look: the one range of yaws and the one of pitches that its capabilities state."""

from __future__ import annotations

import math
from collections.abc import Callable

from hvs_ros.neck.joints import Joints
from hvs_ros.neck.limits import TURN, GazeLimits
from hvs_ros.neck.solver import GazeSolver, Solution

_STEP_RAD = 0.1
_FINE_RAD = 1e-4
_SAME_TURN_RAD = 0.1
"""An answer whose yaw is further from the wanted one than this is another turn of it."""

_Line = Callable[[float], tuple[float, float]]
"""Returns (yaw, pitch) after so many radians along a line."""


def reachable(solver: GazeSolver, now: Joints) -> GazeLimits:
    """Return the directions that can be reached.

    Those of a neck are no rectangle, so this is what a person means by them: the yaws to both sides at level pitch (or
    as near to level as it gets straight ahead), and the pitches up and down straight ahead, each as far as they go
    without a gap from where the head looks with its joints at neutral. Away from these two lines a direction within
    the ranges may be out of reach, and one beyond them in reach; ``GazeSolver.solve`` says so of each.

    Args:
        solver: of the head; what it may move counts.
        now: rad, where the joints are that it does not move.
    """
    neutral = solver.kinematics.neutral
    start = tuple(neutral[index] if index in solver.moved else value for index, value in enumerate(now))
    ahead = solver.solve(solver.kinematics.gaze(start).yaw, 0.0, start)

    def aside(angle: float) -> tuple[float, float]:
        return ahead.yaw + angle, ahead.pitch

    def upright(angle: float) -> tuple[float, float]:
        return ahead.yaw, ahead.pitch + angle

    right, left = (_last(solver, ahead, aside, end).yaw for end in (-TURN, TURN))
    if left - right >= TURN:
        right, left = ahead.yaw - math.pi, ahead.yaw + math.pi
    ends = (-math.pi / 2 - ahead.pitch, math.pi / 2 - ahead.pitch)
    top, bottom = (_last(solver, ahead, upright, end).pitch for end in ends)
    return GazeLimits(right, left, top, bottom)


def _last(solver: GazeSolver, start: Solution, line: _Line, end: float) -> Solution:
    """Return the last answer along a line before the first gap: in steps, and in halves of the one that failed.

    Args:
        solver: of the head.
        start: the answer at 0.
        line: which directions.
        end: rad, how far at most.
    """
    best, reached, step = start, 0.0, math.copysign(_STEP_RAD, end)
    while abs(step) > _FINE_RAD and reached != end:
        angle = reached + step if abs(reached + step) < abs(end) else end
        yaw, pitch = line(angle)
        solution = solver.solve(yaw, pitch, best.joints)
        vertical = abs(pitch) > math.pi / 2 - _SAME_TURN_RAD
        if solution.reached and (vertical or abs(solution.yaw - yaw) < _SAME_TURN_RAD):
            best, reached = solution, angle
        else:
            step /= 2
    return best
