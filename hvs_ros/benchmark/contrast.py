"""Pairs of results of the same episodes: the difference in success, and in what searches took."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from hvs_ros.benchmark.as_json import as_json, as_json_object
from hvs_ros.benchmark.intervals import Bootstrap, doubt
from hvs_ros.benchmark.result import EpisodeResult
from hvs_ros.benchmark.significance import mcnemar_p, permutation_p
from hvs_ros.search.scoring import ScoringMode

Pair = tuple[EpisodeResult, EpisodeResult]
"""An episode in run A and in run B."""


@dataclass(frozen=True)
class Contrast:
    """Success of the pairs of a group.

    Attributes:
        label: kind and level, ("all", "") for everything.
        both: pairs that both runs found.
        only_a: that only A found.
        only_b: that only B found.
        neither: that neither found.
        low: lower end of the 95 % interval of the difference, by the bootstrap over scenes; None without a pair.
        high: its upper end.
        scenes: of the pairs.
        doubt: why the interval is not to be relied on; empty: it is.
        mcnemar_p: exact, two-sided; takes episodes for independent.
        permutation_p: two-sided, of swaps by scene.
    """

    label: tuple[str, str]
    both: int
    only_a: int
    only_b: int
    neither: int
    low: float | None
    high: float | None
    scenes: int
    doubt: str
    mcnemar_p: float
    permutation_p: float

    @property
    def pairs(self) -> int:
        """How many."""
        return self.both + self.only_a + self.only_b + self.neither

    @property
    def rate_a(self) -> float | None:
        """Success of A, 0 to 1; None without a pair, as the following."""
        return (self.both + self.only_a) / self.pairs if self.pairs else None

    @property
    def rate_b(self) -> float | None:
        """Success of B."""
        return (self.both + self.only_b) / self.pairs if self.pairs else None

    @property
    def difference(self) -> float | None:
        """Success of B minus that of A, -1 to 1."""
        return (self.only_b - self.only_a) / self.pairs if self.pairs else None

    @classmethod
    def of(
        cls, label: tuple[str, str], pairs: Sequence[Pair], mode: ScoringMode, *, seed: int, resamples: int
    ) -> Contrast:
        """Return the contrast of pairs that are both scored."""
        of_a = np.array([bool(a.success(mode)) for a, _ in pairs], dtype=np.bool_)
        of_b = np.array([bool(b.success(mode)) for _, b in pairs], dtype=np.bool_)
        only_a, only_b = int((of_a & ~of_b).sum()), int((of_b & ~of_a).sum())
        steps = of_b.astype(np.float64) - of_a.astype(np.float64)
        bootstrap = Bootstrap([a.scene for a, _ in pairs], seed=seed, resamples=resamples)
        low, high = bootstrap.mean_ends(steps) or (None, None)
        return cls(
            label=label,
            both=int((of_a & of_b).sum()),
            only_a=only_a,
            only_b=only_b,
            neither=int((~of_a & ~of_b).sum()),
            low=low,
            high=high,
            scenes=bootstrap.scenes,
            doubt=doubt(bootstrap.scenes, alike="" if only_a or only_b else "no episode differs"),
            mcnemar_p=mcnemar_p(only_a, only_b),
            permutation_p=permutation_p(bootstrap.per_scene(steps), seed=seed),
        )

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        derived = {name: getattr(self, name) for name in ("pairs", "rate_a", "rate_b", "difference")}
        return {**as_json_object(self), **as_json(derived)}


@dataclass(frozen=True)
class Shift:
    """How a quantity of the pairs changed.

    Attributes:
        name: of it, with its unit.
        mean_a: mean over the pairs; None without one, as the following.
        mean_b: the same of B.
        low: lower end of the 95 % interval of the mean difference, by the bootstrap over scenes.
        high: its upper end.
    """

    name: str
    mean_a: float | None
    mean_b: float | None
    low: float | None
    high: float | None


_QUANTITIES: tuple[tuple[str, Callable[[EpisodeResult], float]], ...] = (
    ("turns", lambda result: float(len(result.record.turns))),
    ("travel [°]", lambda result: result.record.travel_deg),
    ("to decide [s a turn]", lambda result: fmean([turn.times.think_s for turn in result.record.turns] or [0.0])),
    ("to see [s a turn]", lambda result: fmean([turn.times.look_s for turn in result.record.turns] or [0.0])),
    ("episode [s]", lambda result: result.seconds),
)


def shifts(pairs: Sequence[Pair], *, seed: int, resamples: int) -> tuple[Shift, ...]:
    """Return how quantities changed from A to B."""
    bootstrap = Bootstrap([a.scene for a, _ in pairs], seed=seed, resamples=resamples)
    found = []
    for name, value in _QUANTITIES:
        of_a = np.array([value(a) for a, _ in pairs])
        of_b = np.array([value(b) for _, b in pairs])
        low, high = bootstrap.mean_ends(of_b - of_a) or (None, None)
        mean_a, mean_b = (float(of_a.mean()), float(of_b.mean())) if pairs else (None, None)
        found.append(Shift(name, mean_a, mean_b, low, high))
    return tuple(found)
