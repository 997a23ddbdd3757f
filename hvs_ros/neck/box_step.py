"""The least of a quadratic in a box: one step of an optimisation whose variables have limits.

Plain Python on purpose: for the two to six joints of a neck it is several times as fast as arrays.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

_TOLERANCE = 1e-13


def least_in_box(
    hessian: Sequence[Sequence[float]], gradient: Sequence[float], low: Sequence[float], high: Sequence[float]
) -> list[float]:
    """Return the x within low and high where x^T H x / 2 - g^T x is least.

    By a primal active-set method: from inside the box, go to the least of the variables that are free, as far as the
    first of them that meets its edge, which is held there from then on; at the least, let go of the one that most wants
    to go inwards.

    Args:
        hessian: (n, n), positive definite.
        gradient: (n,).
        low: (n,), not above ``high``, nor above 0.
        high: (n,), not below 0.

    Returns:
        (n,).
    """
    count = len(gradient)
    x = [0.0] * count
    # A variable that begins at an edge and is pushed against it is held from the start.
    held = [(low[i] >= 0.0 and gradient[i] < 0.0) or (high[i] <= 0.0 and gradient[i] > 0.0) for i in range(count)]
    # Each round holds or lets go of one; more rounds than this would be going in circles by rounding.
    for _ in range(8 * count):
        slope = [gradient[i] - sum(map(float.__mul__, hessian[i], x)) for i in range(count)]
        free = [i for i in range(count) if not held[i]]
        way = _solved(hessian, slope, free)
        part, first = 1.0, -1
        for i, step in zip(free, way, strict=True):
            edge = high[i] if step > 0.0 else low[i]
            if x[i] + step > high[i] or x[i] + step < low[i]:
                reach = max(0.0, (edge - x[i]) / step)
                if reach < part:
                    part, first = reach, i
        for i, step in zip(free, way, strict=True):
            x[i] += part * step
        if first >= 0:
            x[first] = high[first] if x[first] - low[first] > high[first] - x[first] else low[first]
            held[first] = True
            continue
        freed, most = -1, _TOLERANCE
        for i in range(count):
            if held[i]:
                slope_i = gradient[i] - sum(map(float.__mul__, hessian[i], x))
                inwards = slope_i if x[i] <= low[i] else -slope_i
                if inwards > most and low[i] < high[i]:
                    freed, most = i, inwards
        if freed < 0:
            break
        held[freed] = False
    return [min(max(value, least), most) for value, least, most in zip(x, low, high, strict=True)]


def _solved(matrix: Sequence[Sequence[float]], right: Sequence[float], rows: Sequence[int]) -> list[float]:
    """Return the solution of the rows and columns of a positive definite system (Cholesky)."""
    lower: list[list[float]] = []
    y: list[float] = []
    for i, row in enumerate(rows):
        line: list[float] = []
        for j in range(i):
            other = lower[j]
            line.append((matrix[row][rows[j]] - sum(map(float.__mul__, line, other))) / other[j])
        line.append(math.sqrt(max(matrix[row][row] - sum(value * value for value in line), 1e-300)))
        lower.append(line)
        y.append((right[row] - sum(map(float.__mul__, line, y))) / line[i])
    for i in range(len(rows) - 1, -1, -1):
        y[i] = (y[i] - sum(lower[k][i] * y[k] for k in range(i + 1, len(rows)))) / lower[i][i]
    return y
