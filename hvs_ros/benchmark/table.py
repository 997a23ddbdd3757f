"""Draws a summary with rich, for terminals and logs alike."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from hvs_ros.benchmark.summary import Row, Summary

_COLUMNS = ("episodes", "success", "looking at it", "guesses", "turns", "head travel", "time per turn")


def results_table(summary: Summary, title: str) -> RenderableType:
    """Return the table of a run, with what else must be known about it below."""
    table = Table(title=title, title_justify="left", title_style="bold", show_edge=False, pad_edge=False)
    table.add_column("task")
    table.add_column("difficulty")
    for name in _COLUMNS:
        table.add_column(name, justify="right")
    for row in summary.rows:
        whole = row.label[1] == "all"
        table.add_row(*row.label, *_cells(row), style="bold" if whole else None, end_section=whole)
    if len(summary.rows) != 1:
        table.add_section()
        table.add_row(*summary.total.label, *_cells(summary.total), style="bold")
    return Group(table, Text("\n".join(notes(summary))))


def notes(summary: Summary) -> list[str]:
    """Return the lines below the table: the rule, the answers, what did not complete."""
    lines = [
        f"Success: the submitted direction, by the {summary.mode.value} rule; looking at it: the head's own direction."
    ]
    if summary.answers:
        lines.append("Answers: " + _counts(summary.answers))
    if summary.exhausted:
        lines.append(f"Without a submission in time: {summary.exhausted}")
    if summary.failures:
        lines.append("Not scored, the machinery failed: " + _counts(summary.failures))
    return lines


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())


def _cells(row: Row) -> list[str]:
    return [
        str(row.episodes),
        _rate(row.success, row.scored),
        _rate(row.looking, row.scored),
        str(row.guesses),
        "-" if row.turns is None else f"{row.turns:.1f}",
        "-" if row.travel_deg is None else f"{row.travel_deg:.0f}°",
        "-" if row.turn_s is None else _seconds(row.turn_s),
    ]


def _rate(count: int, of: int) -> str:
    return f"{100 * count / of:.0f} % ({count}/{of})" if of else "-"


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{1000 * seconds:.0f} ms"
