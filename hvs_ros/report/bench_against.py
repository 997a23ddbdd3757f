"""A run held against another one: the episodes that both have, in tables."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from hvs_ros.benchmark.compare import CompareError, Comparison, compare
from hvs_ros.benchmark.contrast import Contrast, Shift
from hvs_ros.benchmark.recorded_runs import RecordedRun
from hvs_ros.report.bench_figure import Numbers
from hvs_ros.report.bench_strips import clipped
from hvs_ros.search.scoring import ScoringMode

MOST_CHANGED = 40
"""Episodes that are listed."""


def comparison(run: RecordedRun, other: RecordedRun, mode: ScoringMode, names: Sequence[str]) -> str:
    """Return what changed from the other run to this one, as HTML.

    Args:
        run: of the report.
        other: what it is held against.
        mode: the rule that decides.
        names: of the run and of the other one.
    """
    heading = f"<h2>Against {escape(names[1])}, episode by episode</h2>"
    try:
        found = compare(other, run, mode, unlike=True)
    except CompareError as error:
        return f'{heading}<p class="note">{clipped(str(error), 400)}</p>'
    left_out = [
        (found.only_in_b, f"only {names[0]} has"),
        (found.only_in_a, f"only {names[1]} has"),
        (found.incomplete, "that one of them did not complete, or that have no answer to compare with"),
        (len(found.unlike), "that are not the same task in both"),
    ]
    words = "; ".join(f"{count} {what}" for count, what in left_out if count)
    lines = [*found.warnings, *(f"differs in {line}" for line in found.settings)]
    remarks = "".join(f"<li>{clipped(line, 300)}</li>" for line in lines)
    return (
        f"{heading}<p>{found.total.pairs} episodes are compared{f'; left out: {escape(words)}' if words else ''}. "
        "A difference above 0 means that the run of this report found more. McNemar's exact test takes episodes for "
        "independent; the permutation test swaps whole scenes and does not.</p>"
        f"{_contrasts(found, names)}{_shifts(found.shifts, names)}"
        f"{f'<ul class=remarks>{remarks}</ul>' if remarks else ''}{_changed(found, names)}"
    )


def _contrasts(found: Comparison, names: Sequence[str]) -> str:
    heads = ("success", "pairs", names[0], names[1], "difference, points", "95 % interval",
             f"only {names[0]}", f"only {names[1]}", "p, McNemar", "p, permutation")  # fmt: skip
    rows = [_contrast(one) for one in (*found.rows, *([found.total] if len(found.rows) != 1 else []))]
    return Numbers(heads, rows).html()


def _contrast(one: Contrast) -> tuple[str, ...]:
    interval = "–"
    if one.low is not None and one.high is not None:
        interval = f"{100 * one.low:+.1f} to {100 * one.high:+.1f}"
        interval = f"[{interval}]" if one.doubt else interval
    return (
        ", ".join(part for part in one.label if part),
        str(one.pairs),
        _percent(one.rate_b),
        _percent(one.rate_a),
        "–" if one.difference is None else f"{100 * one.difference:+.1f}",
        interval,
        str(one.only_b),
        str(one.only_a),
        _chance(one.mcnemar_p),
        _chance(one.permutation_p),
    )


def _shifts(shifts: Sequence[Shift], names: Sequence[str]) -> str:
    rows = [
        (
            one.name,
            _value(one.mean_b),
            _value(one.mean_a),
            "–" if one.low is None or one.high is None else f"{one.low:+.2f} to {one.high:+.2f}",
        )
        for one in shifts
    ]
    return Numbers(("mean of the pairs", names[0], names[1], "difference, 95 % interval"), rows).html()


def _changed(found: Comparison, names: Sequence[str]) -> str:
    if not found.changed:
        return "<p>Both found the same episodes.</p>"
    items = "".join(
        f"<li>{clipped(one.episode_id, 160)}: found by {escape(names[0] if one.found_by == 'B' else names[1])} alone. "
        f"<i>{clipped(one.instruction, 200)}</i></li>"
        for one in found.changed[:MOST_CHANGED]
    )
    more = len(found.changed) - MOST_CHANGED
    rest = f"<p>And {more} more: hvs bench compare lists them.</p>" if more > 0 else ""
    return (
        f"<details><summary>{len(found.changed)} episodes that one of them found and the other did not</summary>"
        f"<ul>{items}</ul>{rest}</details>"
    )


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def _value(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _chance(value: float) -> str:
    return f"{value:.3f}" if value >= 0.001 else "< 0.001"
