"""Draws a summary with rich, for terminals and logs alike; it fits into 80 columns."""

from __future__ import annotations

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from hvs_ros.benchmark.summary import Row, Summary

_COLUMNS = ("runs", "found", "looking", "guesses", "turns", "travel", "a turn")


def results_table(summary: Summary, title: str) -> RenderableType:
    """Return the table of a run, with what else must be known about it below."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("task", no_wrap=True)
    for name in _COLUMNS:
        table.add_column(name, justify="right", no_wrap=True)
    for row in summary.rows:
        whole = row.label[1] == "all"
        table.add_row(_label(row), *_cells(row), style="bold" if whole else None, end_section=whole)
    if len(summary.rows) != 1:
        table.add_section()
        table.add_row(_label(summary.total), *_cells(summary.total), style="bold")
    return Group(Text(title, style="bold"), Text(), table, Text(), Text("\n".join(notes(summary))))


def notes(summary: Summary) -> list[str]:
    """Return the lines below the table: the rule, the answers, what did not complete."""
    lines = [
        f"found: the submitted direction is right, by the {summary.mode.value} rule",
        "looking: the direction in which the head really looked is; travel: of the head; a turn: its duration",
    ]
    if summary.answers:
        lines.append("Answers: " + _counts(summary.answers))
    if summary.exhausted:
        lines.append(f"Without a submission in time: {summary.exhausted}")
    if summary.failures:
        lines.append("Not scored, the machinery failed: " + _counts(summary.failures))
    return lines


def _label(row: Row) -> str:
    return ", ".join(part for part in row.label if part)


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())


def _cells(row: Row) -> list[str]:
    return [
        str(row.episodes),
        _rate(row.success, row.scored),
        f"{100 * row.looking / row.scored:.0f} %" if row.scored else "-",
        str(row.guesses),
        "-" if row.turns is None else f"{row.turns:.1f}",
        "-" if row.travel_deg is None else f"{row.travel_deg:.0f}°",
        "-" if row.turn_s is None else _seconds(row.turn_s),
    ]


def _rate(count: int, of: int) -> str:
    return f"{100 * count / of:.0f} % ({count}/{of})" if of else "-"


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{1000 * seconds:.0f} ms"
