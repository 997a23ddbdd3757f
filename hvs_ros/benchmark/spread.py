"""How values are spread: what a table says of many numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Spread:
    """Mean and quantiles of some values, in their own unit; all None where there is no value.

    Attributes:
        count: how many values.
        mean: their mean.
        low: the least.
        p5: 5 % are below, as the following say for theirs (linear between neighbours).
        p25: lower quartile.
        median: middle.
        p75: upper quartile.
        p95: 5 % are above.
        high: the greatest.
    """

    count: int = 0
    mean: float | None = None
    low: float | None = None
    p5: float | None = None
    p25: float | None = None
    median: float | None = None
    p75: float | None = None
    p95: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        """Return the spread of finite values."""
        array = np.asarray(list(values), dtype=np.float64)
        if not array.size:
            return cls()
        low, p5, p25, median, p75, p95, high = np.percentile(array, (0, 5, 25, 50, 75, 95, 100)).tolist()
        return cls(int(array.size), float(array.mean()), low, p5, p25, median, p75, p95, high)
