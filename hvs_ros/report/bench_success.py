"""Plots of success: by the turn of the submission, by difficulty, by how far away the target was."""

from __future__ import annotations

from collections.abc import Sequence

from hvs_ros.benchmark.accuracy import Bin
from hvs_ros.benchmark.analysis import Column
from hvs_ros.benchmark.intervals import Rate
from hvs_ros.report.bench_axes import Axis, Plot, drawing, text
from hvs_ros.report.bench_figure import KINDS, SHARE, Drawn, Figure, Numbers, names_of, quoted

BAND = "95 % intervals, whole scenes drawn again and again"
ROW = 34.0
"""Height of a level in its plot."""
MARKS = ("disc", "diamond")
"""Of the run and of the other one."""


def cumulative(runs: Sequence[Drawn]) -> Figure:
    """Return success within k turns, one panel a kind: the paper's step-cumulative success."""
    panels, rows = [], []
    shown = [run.analysis.kinds[kind] for run in runs for kind in KINDS]
    share = _scale([rate for group in shown for rate in group.cumulative])
    for kind, title in KINDS.items():
        curves = [(run, run.analysis.kinds[kind].cumulative) for run in runs if run.analysis.kinds[kind].success.of]
        if not curves:
            continue
        panels.append((title, _curves(title, curves, share)))
        for run, rates in curves:
            rows += [(f"{title}, {run.name}, turn {turn}", quoted(rate)) for turn, rate in enumerate(rates, start=1)]
    return Figure(
        "Success within k turns",
        panels,
        "Share of all scored searches that had submitted a right direction in turn k or before. Searches that never "
        "submit count as failures, so the last value is the success rate.",
        [*run_keys(runs), ("k-band", BAND)] if panels else (),
        Numbers(("search, run, turn", "success (95 % interval)"), rows),
    )


def levels(runs: Sequence[Drawn]) -> Figure:
    """Return success by kind and difficulty with its intervals."""
    run = runs[0]
    columns = [column for column in run.analysis.columns if column.success.of]
    if not columns:
        return Figure("Success by difficulty", (), "")
    height = 58.0 + ROW * len(columns)
    share = Axis(0.0, 1.0, SHARE.ticks, "success", SHARE.form)
    plot = Plot(share, Axis(0.0, len(columns), (), ""), 460.0, height, left=108.0, top=8.0, right=96.0)
    parts = [plot.frame(rows=False)]
    for place, column in enumerate(columns):
        parts.append(_level(plot, runs, column, len(columns) - place - 0.5))
    described = "; ".join(f"{_named(column)}: {quoted(column.success)}" for column in columns)
    return Figure(
        "Success by difficulty",
        [("", drawing(f"Success by difficulty of {names_of(runs)}", described, "".join(parts), 460.0, height))],
        _doubts([column.success for column in columns])
        + "Bars are 95 % intervals, with whole scenes drawn again and again.",
        run_keys(runs),
        Numbers(
            ("level", *(run.name for run in runs)),
            [
                (_named(column), *(quoted(other.analysis.column(column.kind, column.level).success) for other in runs))
                for column in columns
            ],
        ),
    )


def by_angle(runs: Sequence[Drawn]) -> Figure:
    """Return success by the angle from the start to the target."""
    bins = runs[0].analysis.total.by_angle
    if not any(one.success.of for one in bins):
        return Figure("Success by the way to the target", (), "")
    ticks = [bins[0].low_deg, *(one.high_deg for one in bins)]
    axis = Axis(ticks[0], ticks[-1], ticks, "from the start to the target's middle, degrees")
    plot = Plot(axis, SHARE, top=24.0)
    parts = [plot.frame()]
    for one in bins:
        across, down = plot.at((one.low_deg + one.high_deg) / 2, 1.0)
        parts.append(text(across, down - 6, f"n = {one.success.of}", "middle"))
    for number, run in enumerate(runs):
        parts += [_angle(plot, number, run, one) for one in run.analysis.total.by_angle if one.success.of]
    described = "; ".join(f"{_range(one)}: {quoted(one.success)}" for one in bins)
    return Figure(
        "Success by the way to the target",
        [("", drawing(f"Success by angle of {names_of(runs)}", described, "".join(parts), plot.width, plot.height))],
        _doubts([one.success for one in bins])
        + "Angle from the first line of sight to the middle of the target, in bins of 30 degrees; below half of the "
        "camera's field of view the target can be seen at once.",
        run_keys(runs),
        Numbers(
            ("angle", *(run.name for run in runs)),
            [
                (_range(one), *(quoted(run.analysis.total.by_angle[place].success) for run in runs))
                for place, one in enumerate(bins)
            ],
        ),
    )


def run_keys(runs: Sequence[Drawn]) -> list[tuple[str, str]]:
    """Return what the marks of the runs mean."""
    return [(f"k-run{number + 1}", run.name) for number, run in enumerate(runs)]


def _scale(rates: Sequence[Rate]) -> Axis:
    """Return an axis for rates that all panels share, so that they can be compared; low rates are drawn larger."""
    most = max((rate.interval.high if rate.interval else rate.value or 0.0 for rate in rates), default=1.0)
    top = next(top for top in (0.2, 0.4, 1.0) if most <= top or top == 1.0)
    return Axis(0.0, top, [top * part / 4 for part in range(5)], SHARE.label, SHARE.form)


def _curves(title: str, curves: Sequence[tuple[Drawn, Sequence[Rate]]], share: Axis) -> str:
    last = max(len(rates) for _, rates in curves)
    step = 1 if last <= 12 else 5
    turns = Axis(0.7, last + 0.3, [k for k in range(1, last + 1) if k % step == 0 or k == 1], "turn k")
    plot = Plot(turns, share)
    parts = [plot.frame()]
    for number, (_, rates) in enumerate(curves, start=1):
        ends = [(k, r.interval) for k, r in enumerate(rates, start=1) if r.interval is not None]
        band = plot.band(f"band s{number}", [(k, i.low) for k, i in ends], [(k, i.high) for k, i in ends])
        parts.append(band)
    for number, (run, rates) in enumerate(curves, start=1):
        points = [((float(k), r.value), f"{run.name}, turn {k}: {quoted(r)}") for k, r in enumerate(rates, start=1)
                  if r.value is not None]  # fmt: skip
        parts.append(plot.line(f"curve s{number}", [point for point, _ in points]))
        parts.append(plot.marks(f"point s{number}", MARKS[number - 1], points))
    described = "; ".join(
        f"{run.name}: " + ", ".join(f"turn {k} {100 * (r.value or 0):.1f} %" for k, r in enumerate(rates, start=1))
        for run, rates in curves
    )
    return drawing(f"{title}: success within k turns", described, "".join(parts), plot.width, plot.height)


def _level(plot: Plot, runs: Sequence[Drawn], column: Column, y: float) -> str:
    _, middle = plot.at(0.0, y)
    right, _ = plot.at(1.0, y)
    kind = "" if column.level is not None else "strong"
    parts = [text(plot.left - 8, middle + 4, _named(column), "end", kind)]
    if column.level is None:
        _, line = plot.at(0.0, y + 0.5)
        parts.append(f'<path class="rule" d="M8,{line:.1f}H{plot.width - 8:.1f}"/>')
    parts.append(text(right + 8, middle + 4, f"n = {column.success.of}"))
    for number, run in enumerate(runs):
        rate = run.analysis.column(column.kind, column.level).success
        if rate.value is not None:
            shift = 0.0 if len(runs) == 1 else 0.17 - 0.34 * number
            parts.append(_whisker(plot, number, run, rate, y + shift, f"{run.name}, {_named(column)}"))
    return "".join(parts)


def _whisker(plot: Plot, number: int, run: Drawn, rate: Rate, y: float, about: str) -> str:
    value = rate.value or 0.0
    bar = ""
    if rate.interval is not None:
        doubtful = "" if rate.interval.reliable else " doubtful"
        (left, down), (right, _) = plot.at(rate.interval.low, y), plot.at(rate.interval.high, y)
        bar = (
            f'<path class="whisker s{number + 1}{doubtful}" d="M{left:.1f},{down - 4:.1f}v8m0,-4H{right:.1f}m0,-4v8"/>'
        )
    return bar + plot.marks(f"point s{number + 1}", MARKS[number], [((value, y), f"{about}: {quoted(rate)}")])


def _angle(plot: Plot, number: int, run: Drawn, one: Bin) -> str:
    value = one.success.value or 0.0
    middle = (one.low_deg + one.high_deg) / 2
    about = f"{run.name}, {_range(one)}: {quoted(one.success)}"
    x = middle + (6.0 if number else 0.0)
    interval, whisker = one.success.interval, ""
    if interval is not None:
        (across, low), (_, high) = plot.at(x, interval.low), plot.at(x, interval.high)
        doubtful = "" if interval.reliable else " doubtful"
        whisker = f'<path class="whisker over s{number + 1}{doubtful}" d="M{across:.1f},{low:.1f}V{high:.1f}"/>'
    if number:
        return whisker + plot.marks("point s2", MARKS[1], [((x, value), about)])
    return plot.bar("column s1", one.low_deg, one.high_deg, 0.0, value, about, gap=10.0) + whisker


def _named(column: Column) -> str:
    return f"{column.kind.value} {'all' if column.level is None else column.name}"


def _range(one: Bin) -> str:
    return f"{one.low_deg:g}° to {one.high_deg:g}°"


def _doubts(rates: Sequence[Rate]) -> str:
    doubts = {rate.interval.doubt for rate in rates if rate.interval is not None and rate.interval.doubt}
    return f"Dashed intervals are not to be relied on: {'; '.join(sorted(doubts))}. " if doubts else ""
