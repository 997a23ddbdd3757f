"""A figure of a benchmark's report: plots, what their marks mean, a sentence, and the numbers behind them.

What is drawn can be read off as text as well, so that a figure can be quoted, copied and heard.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from hvs_ros.benchmark.analysis import Analysis
from hvs_ros.benchmark.intervals import Rate
from hvs_ros.benchmark.result import EpisodeResult
from hvs_ros.report.bench_axes import Axis
from hvs_ros.search.scoring import ScoringMode
from hvs_ros.search.task import TaskKind

HATCH = (
    '<svg class="defs" width="0" height="0" aria-hidden="true"><defs><pattern id="hatch" width="6" height="6" '
    'patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<path class="hatch" d="M0,0V6"/></pattern></defs></svg>'
)
"""Stands once in a page; what is missed is hatched with it."""
SHARE = Axis(0.0, 1.0, (0.0, 0.25, 0.5, 0.75, 1.0), "success", "{:.0%}".format)
KINDS = {TaskKind.OBJECT: "Object search", TaskKind.PATH: "Path search"}


@dataclass(frozen=True)
class Drawn:
    """A run that is drawn.

    Attributes:
        name: of it, for a person.
        analysis: of it.
        results: of it.
    """

    name: str
    analysis: Analysis
    results: Sequence[EpisodeResult]

    @property
    def mode(self) -> ScoringMode:
        """The rule that counts."""
        return self.analysis.mode

    def of(self, kind: TaskKind) -> list[EpisodeResult]:
        """Return the completed results of a kind that have an answer to compare with."""
        return [result for result in self.results if result.scored and result.kind is kind]


@dataclass(frozen=True)
class Numbers:
    """A table.

    Attributes:
        heads: of the columns; the first names the rows.
        rows: as text.
    """

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]

    def html(self) -> str:
        """Return the table."""
        head = "".join(
            f'<th scope="col"{" class=num" if place else ""}>{escape(name)}</th>'
            for place, name in enumerate(self.heads)
        )
        body = "".join(
            "<tr>"
            + "".join(
                f'<th scope="row">{escape(cell)}</th>' if not place else f"<td class=num>{escape(cell)}</td>"
                for place, cell in enumerate(row)
            )
            + "</tr>"
            for row in self.rows
        )
        table = f'<table class="numbers"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
        return f'<div class="wide">{table}</div>'


@dataclass(frozen=True)
class Figure:
    """One figure.

    Attributes:
        title: what it shows.
        panels: (heading, SVG or table) side by side; a heading may be empty.
        caption: what must be known to read it.
        keys: (class of the mark, what it means).
        numbers: what is drawn, as a table; None: all of it is written in the plot.
    """

    title: str
    panels: Sequence[tuple[str, str]]
    caption: str
    keys: Sequence[tuple[str, str]] = ()
    numbers: Numbers | None = None

    def html(self) -> str:
        """Return the figure; empty without a panel."""
        if not self.panels:
            return ""
        panels = "".join(
            f"<div>{f'<h4>{escape(heading)}</h4>' if heading else ''}{svg}</div>" for heading, svg in self.panels
        )
        keys = "".join(f'<span><i class="mark {kind}"></i>{escape(words)}</span>' for kind, words in self.keys)
        legend = f'<div class="legend">{keys}</div>' if keys else ""
        numbers = f"<details><summary>In numbers</summary>{self.numbers.html()}</details>" if self.numbers else ""
        name = "plots wide-figure" if len(self.panels) > 1 else "plots"
        return (
            f'<figure class="{name}"><h3>{escape(self.title)}</h3><div class="panels">{panels}</div>{legend}'
            f"<p>{escape(self.caption)}</p>{numbers}</figure>"
        )


def percent(rate: Rate, digits: int = 1) -> str:
    """Return a rate as e.g. ``47.4 %``; a dash for an empty group."""
    return "–" if rate.value is None else f"{100 * rate.value:.{digits}f} %"


def between(rate: Rate, digits: int = 1) -> str:
    """Return the 95 % interval of a rate in percent, e.g. ``43.1–51.6``; empty where there is none."""
    interval = rate.interval
    return "" if interval is None else f"{100 * interval.low:.{digits}f}–{100 * interval.high:.{digits}f}"


def quoted(rate: Rate) -> str:
    """Return a rate with its counts and its interval, e.g. ``47.4 % (285/601), 43.1–51.6``."""
    if rate.value is None:
        return "–"
    interval = between(rate)
    return f"{percent(rate)} ({rate.count}/{rate.of}){f', {interval}' if interval else ''}"


def names_of(runs: Sequence[Drawn]) -> str:
    """Return the names of the runs for a description."""
    return " and ".join(run.name for run in runs)
