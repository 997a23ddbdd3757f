"""Draws a comparison of two runs, for terminals and logs of 80 columns and more."""

from __future__ import annotations

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from hvs_ros.benchmark.compare import Changed, Comparison
from hvs_ros.benchmark.contrast import Contrast, Shift
from hvs_ros.benchmark.fitting import Fitting

MOST_CHANGED = 10
_DOUBT = "?"


def comparison_table(comparison: Comparison, *, most: int | None = MOST_CHANGED) -> RenderableType:
    """Return what changed from A to B.

    Args:
        comparison: of two runs.
        most: at most so many of the episodes that changed; None: all.
    """
    parts: list[RenderableType] = [
        Text("\n".join(_heading(comparison)), style="bold"),
        Text(),
        Fitting(_success(comparison, narrow=False), _success(comparison, narrow=True)),
        Text(),
        Text("\n".join(_verdict(comparison))),
        Text(),
        _shifts(comparison),
    ]
    for lines in (_changed(comparison, most), _settings(comparison)):
        parts += [Text(), Text("\n".join(lines))]
    return Group(*parts)


def _heading(comparison: Comparison) -> list[str]:
    return [f"A: {comparison.a}", f"B: {comparison.b}"]


def _success(comparison: Comparison, *, narrow: bool) -> Table:
    padding = (0, 0) if narrow else (0, 1)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=padding, header_style="bold")
    table.add_column("success in %", no_wrap=True, min_width=13 if narrow else 16)
    for name in ("pairs", "A", "B", "B - A", "95 % interval", "only A", "only B", "p", "p by scene"):
        heading = name.replace("only ", "only\n").replace("by ", "by\n") if narrow else name
        table.add_column(heading, justify="right", no_wrap=True)
    for row in comparison.rows:
        whole = row.label[1] == "all"
        table.add_row(*_cells(row), style="bold" if whole else None, end_section=whole)
    table.add_row(*_cells(comparison.total), style="bold")
    return table


def _cells(row: Contrast) -> list[str]:
    return [
        " ".join(part for part in row.label if part),
        str(row.pairs),
        _percent(row.rate_a),
        _percent(row.rate_b),
        _percent(row.difference, "+"),
        _interval(row),
        str(row.only_a),
        str(row.only_b),
        _p(row.mcnemar_p),
        _p(row.permutation_p),
    ]


def _verdict(comparison: Comparison) -> list[str]:
    total = comparison.total
    lines = [
        f"{total.pairs} pairs in {total.scenes} scenes that both runs completed, by the {comparison.mode.value} rule:",
        f"found by both {total.both}, only by A {total.only_a}, only by B {total.only_b}, by neither {total.neither}",
        "p: McNemar's exact test, two-sided, which takes episodes for independent; p by scene: the two runs swapped "
        "scene by scene, which does not; neither is corrected for the number of rows. Intervals: scenes drawn again",
    ]
    doubts = {row.doubt for row in (*comparison.rows, total) if row.doubt}
    if doubts:
        lines.append(f"{_DOUBT}: not to be relied on ({', '.join(sorted(doubts))})")
    left_out = {
        "only in A": comparison.only_in_a,
        "only in B": comparison.only_in_b,
        "not completed or not scored in one of them": comparison.incomplete,
        "not the same task in both": len(comparison.unlike),
    }
    if any(left_out.values()):
        lines.append("LEFT OUT: " + ", ".join(f"{count} {what}" for what, count in left_out.items() if count))
    return lines + [f"WARNING: {warning}" for warning in comparison.warnings]


def _shifts(comparison: Comparison) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    table.add_column("mean of the pairs", no_wrap=True, min_width=22)
    for name in ("A", "B", "B - A", "95 % interval"):
        table.add_column(name, justify="right", no_wrap=True, min_width=9)
    for shift in comparison.shifts:
        table.add_row(Text(shift.name), *_shift_cells(shift))
    return table


def _shift_cells(shift: Shift) -> list[str]:
    if shift.mean_a is None or shift.mean_b is None:
        return ["-", "-", "-", "-"]
    ends = "-" if shift.low is None or shift.high is None else f"{shift.low:+.3g} to {shift.high:+.3g}"
    return [f"{shift.mean_a:.4g}", f"{shift.mean_b:.4g}", f"{shift.mean_b - shift.mean_a:+.3g}", ends]


def _changed(comparison: Comparison, most: int | None) -> list[str]:
    if not comparison.changed:
        return ["No episode changed sides"]
    lines = []
    for found_by in ("A", "B"):
        changed = [episode for episode in comparison.changed if episode.found_by == found_by]
        if not changed:
            continue
        lines.append(f"Found only by {found_by}: {len(changed)}")
        lines += [_line(episode) for episode in changed[:most]]
        if most is not None and len(changed) > most:
            lines.append(f"  ... and {len(changed) - most} more (--all)")
    return lines


def _line(episode: Changed) -> str:
    instruction = " ".join(episode.instruction.split())
    return f"  {episode.episode_id}: A {_end(episode.outcome_a)}, B {_end(episode.outcome_b)}; {instruction:.60}"


def _end(outcome: tuple[str, int]) -> str:
    return f"{outcome[0]} in turn {outcome[1]}"


def _settings(comparison: Comparison) -> list[str]:
    if not comparison.settings:
        return ["The settings that can change a result are the same"]
    return ["Settings, A first:", *(f"  {line}" for line in comparison.settings)]


def _percent(value: float | None, sign: str = "") -> str:
    return "-" if value is None else f"{100 * value:{sign}.2f}"


def _interval(row: Contrast) -> str:
    if row.low is None or row.high is None:
        return "-"
    return f"{100 * row.low:+.1f} to {100 * row.high:+.1f}{_DOUBT if row.doubt else ''}"


def _p(value: float) -> str:
    return f"{value:.3f}" if value >= 0.001 else f"{value:.0e}"
