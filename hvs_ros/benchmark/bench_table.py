"""Draws a run as the paper's Table 1, with the published rows beside it; for terminals and logs of 80 columns and more.

A number beside a published one looks as if the two could be compared. So whatever speaks against it (another protocol,
other episodes) stands where the published rows begin, and below the table in full.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Group as Lines
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from hvs_ros.benchmark.analysis import Analysis, Column, Rate
from hvs_ros.benchmark.bench_notes import NONE, incomparable, notes, percent
from hvs_ros.benchmark.fitting import Fitting
from hvs_ros.benchmark.paper_results import PublishedTable, published_table
from hvs_ros.search.task import TaskKind

HEADINGS = {TaskKind.OBJECT: "Object search (HOS)", TaskKind.PATH: "Path search (HPS)"}
_DOUBT = "?"
_UNLIKE = "*"


def bench_table(
    analysis: Analysis,
    settings: Mapping[str, Any],
    *,
    total: int | None = None,
    part: str = "",
    name: str = "",
    published: bool = True,
) -> RenderableType:
    """Return the table of a run, with what must be known about it below.

    Args:
        analysis: of the run.
        settings: of the run, as in the first line of its results file.
        total: how many episodes the data set has; the title says so where fewer were completed. None: as noted in the
            settings, if it is.
        part: which part of them was asked for, in words ("shard 2 of 4"); empty: as noted in the settings.
        name: of the run's row; empty: the policy's.
        published: with the published rows.
    """
    paper = published_table()
    against = incomparable(analysis, settings, paper) if published else []
    row = name or _name(settings)
    blocks: list[RenderableType] = []
    for kind in TaskKind:
        columns = [column for column in analysis.columns if column.kind is kind]
        if columns[0].success.of:
            rows = paper if published else None
            wide, narrow = (_block(kind, columns, row, rows, bool(against), narrow=narrow) for narrow in (False, True))
            blocks += [Fitting(wide, narrow), Text()]
        else:
            blocks += [Text(f"{HEADINGS[kind]}: no episode was scored"), Text()]
    shown = published and any(column.success.of for column in analysis.columns)
    below = _marks(analysis, paper if shown else None) + notes(analysis, settings)
    if against:
        below.append("Not comparable with the published rows:")
        below += [f"  - {reason}" for reason in against]
    if published:
        below.append(f"Published: {paper.source}; {paper.notes}")
    noted = settings.get("notes") or {}
    total = noted.get("episodes") if total is None else total
    heading = Text(_title(analysis, settings, total, part or _in_words(noted.get("part"))), style="bold")
    return Lines(heading, Text(), *blocks, Text("\n".join(below)))


def _title(analysis: Analysis, settings: Mapping[str, Any], total: int | None, part: str) -> str:
    protocol = settings.get("protocol") or "none"
    done = analysis.total.counts.completed
    pieces = [f"H*Bench, protocol '{protocol}', {analysis.mode.value} rule"]
    if settings.get("deviations"):
        pieces.append("with deviations")
    if done < total if total is not None else part:
        pieces.append(f"PART of the data: {done}{'' if total is None else f' of {total}'} episodes")
        pieces += [part] if part else []
    else:
        pieces.append(f"{done} episodes")
    return ", ".join(pieces)


def _in_words(part: object) -> str:
    """Return the part that a run was asked for; merged ones are a list of those of their shards."""
    return ", ".join(map(str, part)) if isinstance(part, list) else str(part or "")


def _name(settings: Mapping[str, Any]) -> str:
    facts = settings.get("facts") or {}
    model = str(facts.get("model", "")).rstrip("/").rpartition("/")[2]
    return model or f"policy '{settings.get('policy', '')}'"


def _block(
    kind: TaskKind,
    columns: Sequence[Column],
    name: str,
    paper: PublishedTable | None,
    incomparable: bool,
    *,
    narrow: bool,
) -> Table:
    """Return the table of a kind; narrow: as much in 80 columns, the ends of an interval below each other."""
    padding = (0, 0, 0, 1) if narrow else (0, 1)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=padding, header_style="bold")
    least, most = (
        (26, 26) if narrow else (34, 44 if kind is TaskKind.OBJECT else 34)
    )  # a path's column more: 110 in all
    table.add_column(HEADINGS[kind], no_wrap=True, min_width=least, max_width=most)
    for column in columns:
        table.add_column(column.name, justify="right", no_wrap=True, min_width=8 if narrow else 11)
    rates = [percent(column.success) for column in columns]
    table.add_row(
        Text(name), *(["none" if rate == NONE else rate for rate in rates] if narrow else rates), style="bold"
    )
    if any(column.success.interval is not None for column in columns):
        if narrow:
            table.add_row("  95 % interval, from", *(_interval(column.success).partition("–")[0] for column in columns))
            table.add_row("                 to", *(_interval(column.success).rpartition("–")[2] for column in columns))
        else:
            table.add_row("  95 % interval", *(_interval(column.success) for column in columns))
    table.add_row("  of episodes", *(str(column.success.of) for column in columns), end_section=True)
    if paper is None:
        return table
    against = ", NOT comparable" + ("" if narrow else " (below)")
    sizes = [f"({size})" for size in (paper.episodes(kind), *paper.sizes[kind])]
    table.add_row(f"published{against if incomparable else ''}:", *sizes, style="dim italic")
    for row in paper.rows:
        mark = f" {_UNLIKE}" if kind in row.unlike else ""
        rates = [f"{rate:.2f}" for rate in row.rates[kind]]
        table.add_row(Text(f"  {row.model}{mark}"), *rates, style="dim" if incomparable else None)
    return table


def _interval(rate: Rate) -> str:
    interval = rate.interval
    if interval is None:
        return "-"
    mark = "" if interval.reliable else _DOUBT
    return f"{100 * interval.low:.1f}–{100 * interval.high:.1f}{mark}"


def _marks(analysis: Analysis, paper: PublishedTable | None) -> list[str]:
    """Explain the signs that the table holds."""
    lines = []
    doubts = {c.success.interval.doubt for c in analysis.columns if c.success.interval and c.success.interval.doubt}
    if doubts:
        lines.append(f"{_DOUBT}: not to be relied on ({', '.join(sorted(doubts))})")
    if paper is not None:
        lines.append("(n): episodes, estimated from the published rates, which are whole numbers of them")
        lines.append(f"{_UNLIKE}: rates that do not come from so many episodes; why is not published")
    return lines
