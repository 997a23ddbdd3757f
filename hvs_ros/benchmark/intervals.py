"""How far a success rate can be trusted: 95 % intervals by the bootstrap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

LEAST_SCENES = 5
"""With fewer an interval says little: there is hardly anything to draw from."""


@dataclass(frozen=True)
class Interval:
    """A 95 % interval of a rate, 0 to 1.

    Attributes:
        low: lower end, with whole scenes drawn.
        high: upper end.
        by_episode: the same with single episodes drawn, as if those of a scene had nothing in common.
        scenes: how many scenes were drawn from.
        doubt: why it is not to be relied on; empty: it is.
    """

    low: float
    high: float
    by_episode: tuple[float, float]
    scenes: int
    doubt: str = ""

    @property
    def reliable(self) -> bool:
        """It may be quoted."""
        return not self.doubt

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "low": round(self.low, 6),
            "high": round(self.high, 6),
            "by_episode": [round(value, 6) for value in self.by_episode],
            "scenes": self.scenes,
            "doubt": self.doubt,
        }


@dataclass(frozen=True)
class Rate:
    """How many of how many.

    Attributes:
        count: for how many it is so.
        of: how many there are; 0: there is no rate.
        interval: of the rate; None where none was asked for, or there is no rate.
    """

    count: int
    of: int
    interval: Interval | None = None

    @property
    def value(self) -> float | None:
        """The rate, 0 to 1; None of an empty group."""
        return self.count / self.of if self.of else None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        value = self.value
        return {
            "count": self.count,
            "of": self.of,
            "rate": None if value is None else round(value, 6),
            "interval": None if self.interval is None else self.interval.to_json(),
        }
