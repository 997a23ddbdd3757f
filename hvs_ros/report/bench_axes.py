"""Axes of a plot and the marks on them, as SVG.

The few marks that the plots of a benchmark need, so that a page needs no plotting package and no script: the result is
text that scales, prints and follows the reader's light or dark setting by its classes (``bench_style``). A plot has a
title and a description for who cannot see it, and nothing is told by colour alone: series differ in dash, mark or
hatching too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape

Point = tuple[float, float]


@dataclass(frozen=True)
class Axis:
    """One axis in the units of the data.

    Attributes:
        low: where it begins.
        high: where it ends.
        ticks: where it has marks.
        label: what it shows, with the unit.
        form: writes a tick.
    """

    low: float
    high: float
    ticks: Sequence[float]
    label: str
    form: Callable[[float], str] = "{:g}".format

    def part(self, value: float) -> float:
        """Return where along the axis a value lies, 0 to 1; outside of it beyond."""
        return (value - self.low) / (self.high - self.low)


@dataclass(frozen=True)
class Plot:
    """A rectangle between two axes, in the pixels of its SVG.

    Attributes:
        x: to the right.
        y: upwards.
        width: of the SVG.
        height: of the SVG.
        left: margin for the ticks of y.
        top: margin.
        right: margin.
        bottom: margin for the ticks of x.
    """

    x: Axis
    y: Axis
    width: float = 460.0
    height: float = 280.0
    left: float = 52.0
    top: float = 14.0
    right: float = 14.0
    bottom: float = 44.0

    def at(self, x: float, y: float) -> Point:
        """Return the place of a value in the SVG."""
        across = self.left + self.x.part(x) * (self.width - self.left - self.right)
        down = self.height - self.bottom - self.y.part(y) * (self.height - self.top - self.bottom)
        return across, down

    def frame(self, *, rows: bool = True) -> str:
        """Return axes, grid, ticks and labels.

        Args:
            rows: draw the lines and ticks of y.
        """
        left, bottom = self.at(self.x.low, self.y.low)
        right, top = self.at(self.x.high, self.y.high)
        parts = []
        for value in self.y.ticks if rows else ():
            _, down = self.at(self.x.low, value)
            parts.append(f'<path class="rule" d="M{left:.1f},{down:.1f}H{right:.1f}"/>')
            parts.append(text(left - 7, down + 4, self.y.form(value), "end"))
        for value in self.x.ticks:
            across, _ = self.at(value, self.y.low)
            parts.append(f'<path class="axis" d="M{across:.1f},{bottom:.1f}v5"/>')
            parts.append(text(across, bottom + 18, self.x.form(value), "middle"))
        parts.append(f'<path class="axis" d="M{left:.1f},{top:.1f}V{bottom:.1f}H{right:.1f}"/>')
        parts.append(text((left + right) / 2, self.height - 7, self.x.label, "middle", "label"))
        if self.y.label:
            middle = (top + bottom) / 2
            parts.append(
                f'<text class="label" text-anchor="middle" transform="translate(12,{middle:.1f}) rotate(-90)">'
                f"{escape(self.y.label)}</text>"
            )
        return "".join(parts)

    def zone(self, low: float, high: float, about: str) -> str:
        """Return a shaded range of x over the whole height."""
        (left, bottom), (right, top) = self.at(low, self.y.low), self.at(high, self.y.high)
        return (
            f'<rect class="zone" x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{bottom - top:.1f}">'
            f"<title>{escape(about)}</title></rect>"
        )

    def bar(self, kind: str, low: float, high: float, base: float, top: float, about: str, gap: float = 1.0) -> str:
        """Return an upright bar from base to top over a range of x, with words for the pointer."""
        (left, down), (right, up) = self.at(low, base), self.at(high, top)
        width = max(0.5, right - left - gap)
        return (
            f'<rect class="{kind}" x="{left + gap / 2:.1f}" y="{up:.1f}" width="{width:.1f}" '
            f'height="{down - up:.2f}"><title>{escape(about)}</title></rect>'
        )

    def line(self, kind: str, points: Iterable[Point]) -> str:
        """Return a line through values."""
        return f'<path class="{kind}" d="{_joined(self.at(*point) for point in points)}"/>'

    def band(self, kind: str, low: Sequence[Point], high: Sequence[Point]) -> str:
        """Return the area between two lines."""
        border = [self.at(*point) for point in (*low, *reversed(high))]
        return f'<path class="{kind}" d="{_joined(border)}Z"/>' if border else ""

    def marks(self, kind: str, shape: str, points: Iterable[tuple[Point, str]]) -> str:
        """Return marks at values, each with words for the pointer; shapes are those of ``SHAPES``."""
        return "".join(
            f'<path class="{kind}" d="M{x:.1f},{y:.1f}{SHAPES[shape]}"><title>{escape(about)}</title></path>'
            for (x, y), about in ((self.at(*point), about) for point, about in points)
        )

    def cloud(self, kind: str, shape: str, points: Iterable[Point]) -> str:
        """Return many marks at once, without words: some bytes each."""
        drawn = "".join(f"M{x:.1f},{y:.1f}{SHAPES[shape]}" for x, y in (self.at(*point) for point in points))
        return f'<path class="{kind}" d="{drawn}"/>' if drawn else ""


SHAPES = {
    "disc": "m-3.4,0a3.4,3.4 0 1 0 6.8,0a3.4,3.4 0 1 0 -6.8,0z",
    "diamond": "m0,-4.6l4.6,4.6l-4.6,4.6l-4.6,-4.6z",
    "cross": "m-2.6,-2.6l5.2,5.2m0,-5.2l-5.2,5.2",
    "dot": "m-2,0a2,2 0 1 0 4,0a2,2 0 1 0 -4,0z",
}
"""What marks look like around their place."""


def text(x: float, y: float, words: str, anchor: str = "start", kind: str = "") -> str:
    """Return words in a plot."""
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def drawing(title: str, description: str, body: str, width: float, height: float) -> str:
    """Return a plot as an SVG with a title and a description for who cannot see it."""
    return (
        f'<svg class="plot" viewBox="0 0 {width:g} {height:g}" role="img"><title>{escape(title)}</title>'
        f"<desc>{escape(description)}</desc>{body}</svg>"
    )


def nice_step(rough: float) -> float:
    """Return 1, 2 or 5 times a power of ten, not below the given positive step."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * factor for factor in (1.0, 2.0, 5.0, 10.0) if power * factor >= rough * (1 - 1e-9))


def _joined(points: Iterable[Point]) -> str:
    return "".join(f"{'L' if number else 'M'}{x:.1f},{y:.1f}" for number, (x, y) in enumerate(points))
