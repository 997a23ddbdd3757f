"""Histograms of a run: shares of its episodes, stacked by what became of them, with another run's outline over them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hvs_ros.report.bench_axes import Axis, Plot, drawing, nice_step


@dataclass(frozen=True)
class Part:
    """One layer of a histogram.

    Attributes:
        kind: class of its bars.
        name: what became of the episodes in it.
        values: of them.
    """

    kind: str
    name: str
    values: Sequence[float]


@dataclass(frozen=True)
class Histogram:
    """Bars over bins.

    Attributes:
        title: for who cannot see it.
        x: the axis of the values.
        edges: of the bins, rising; a value at an edge belongs to the bin above it, one beyond the ends to the end bin.
        unit: of the values, in words for the pointer.
        share_of: what a share is of, e.g. "submissions".
        name_bin: writes a bin; None: as ``low to high``.
    """

    title: str
    x: Axis
    edges: Sequence[float]
    unit: str
    share_of: str
    name_bin: Callable[[float, float], str] | None = None

    def draw(
        self, parts: Sequence[Part], other: Sequence[float] | None = None, zone: tuple[float, float, str] | None = None
    ) -> str:
        """Return the plot as SVG.

        Args:
            parts: stacked, the first at the bottom; shares are of all of them together.
            other: values of another run, drawn as an outline of its own shares.
            zone: (from, to, meaning) of a range that is shaded behind the bars.
        """
        counts = [self._counts(part.values) for part in parts]
        total = sum(len(part.values) for part in parts)
        sums = [sum(column) for column in zip(*counts, strict=True)]
        others = self._counts(other) if other else []
        most = max([count / max(1, total) for count in sums] + [count / len(other or [0]) for count in others])
        plot = Plot(self.x, share_axis(most, f"share of {self.share_of}"))
        drawn = [plot.zone(*zone)] if zone else []
        drawn.append(plot.frame())
        for place, (low, high) in enumerate(zip(self.edges, self.edges[1:], strict=False)):
            base = 0.0
            for part, column in zip(parts, counts, strict=True):
                if column[place]:
                    about = f"{self._bin(low, high)}, {part.name}: {column[place]} of {total}"
                    top = base + column[place] / total
                    drawn.append(plot.bar(part.kind, low, high, base, top, about))
                    base = top
        if others:
            drawn.append(plot.line("outline s2", self._outline(others, len(other or ()))))
        described = "; ".join(
            f"{self._bin(low, high)}: {count} of {total}"
            for low, high, count in zip(self.edges, self.edges[1:], sums, strict=False)
            if count
        )
        return drawing(self.title, described or "nothing to show", "".join(drawn), plot.width, plot.height)

    def _counts(self, values: Sequence[float]) -> list[int]:
        counts = [0] * (len(self.edges) - 1)
        for value in values:
            counts[min(max(bisect_right(self.edges, value) - 1, 0), len(counts) - 1)] += 1
        return counts

    def _outline(self, counts: Sequence[int], total: int) -> list[tuple[float, float]]:
        points = [(self.edges[0], 0.0)]
        for low, high, count in zip(self.edges, self.edges[1:], counts, strict=False):
            points += [(low, count / total), (high, count / total)]
        return [*points, (self.edges[-1], 0.0)]

    def _bin(self, low: float, high: float) -> str:
        return f"{low:g} to {high:g} {self.unit}" if self.name_bin is None else self.name_bin(low, high)


def share_axis(most: float, label: str) -> Axis:
    """Return an axis for shares from 0 to at least the largest one, in percent."""
    step = max(0.01, nice_step(max(most, 0.01) / 4))
    number = next(k for k in range(1, 200) if k * step >= min(most, 1.0) - 1e-9)
    return Axis(0.0, number * step, [k * step for k in range(number + 1)], label, "{:.0%}".format)


def even_edges(high: float, bins: int = 16) -> list[float]:
    """Return edges of bins of a round width from 0 to at least a value."""
    step = nice_step(max(high, 1e-6) / bins)
    number = next(k for k in range(1, 10 * bins) if k * step >= high)
    return [k * step for k in range(number + 1)]
