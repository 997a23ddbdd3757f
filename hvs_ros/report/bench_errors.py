"""Plots of where submissions went: how far off in yaw and pitch, and how far from where the head looked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from hvs_ros.benchmark.accuracy import Mismatch
from hvs_ros.benchmark.result import EpisodeResult
from hvs_ros.report.bench_axes import Axis, Plot, drawing
from hvs_ros.report.bench_figure import KINDS, Drawn, Figure, Numbers, quoted
from hvs_ros.report.bench_histogram import Histogram, Part
from hvs_ros.search.scoring import PITCH_TOLERANCE_DEG, YAW_TOLERANCE_DEG
from hvs_ros.search.task import TaskKind

YAW_EDGES = [float(yaw) for yaw in range(-180, 181, 10)]
OFF_EDGES = (0.0, 1.0, 5.0, 10.0, 20.0, 45.0, 90.0, 180.0)
FOUND, MISSED = ("k-bar", "found"), ("k-hatch", "missed")
OTHER = "k-outline"


def yaw_errors(runs: Sequence[Drawn]) -> Figure:
    """Return histograms of the submitted yaw against the target's, one a kind."""
    panels, rows = [], []
    axis = Axis(-180.0, 180.0, range(-180, 181, 45), "submitted yaw minus the target's, degrees (right +)")
    for kind, title in KINDS.items():
        submitted = _submitted(runs[0], kind)
        if not submitted:
            continue
        parts = [
            Part(bar, name, [_yaw(result) for result in submitted if bool(result.success(runs[0].mode)) is found])
            for bar, name, found in (("column s1", "found", True), ("missed s1", "missed", False))
        ]
        other = [_yaw(result) for run in runs[1:] for result in _submitted(run, kind)]
        tolerance = YAW_TOLERANCE_DEG[kind]
        zone = (-tolerance, tolerance, f"within {tolerance:g} degrees: accepted at least")
        histogram = Histogram(f"{title}: yaw errors", axis, YAW_EDGES, "degrees", "submissions")
        panels.append((title, histogram.draw(parts, other, zone)))
        for run in runs:
            rows.append((f"{title}, {run.name}", *_error_cells(run, kind)))
    return Figure(
        "How far off submissions are in yaw",
        panels,
        "Around the middle of the target's box; bins of 10 degrees. The shaded range is accepted for every target; a "
        "wider box accepts more. An object that is missed inside of it is missed by its pitch.",
        [FOUND, MISSED, ("k-zone", "always accepted in yaw"), *_outline(runs)],
        Numbers(("task, run", "submissions", "median |off|", "95 % below", "within 10°", "30°", "90°"), rows),
    )


def scatter(runs: Sequence[Drawn]) -> Figure:
    """Return where object submissions lie around their targets."""
    mode = runs[0].mode
    points = [
        (bool(result.success(mode)), (_yaw(result), result.submitted.pitch_error_deg))
        for result in _submitted(runs[0], TaskKind.OBJECT)
        if result.submitted is not None and result.submitted.pitch_error_deg is not None
    ]
    if not points:
        return Figure("Object submissions around their targets", (), "")
    reach = max(60.0, 30.0 * math.ceil(max(abs(pitch) for _, (_, pitch) in points) / 30.0))
    x = Axis(-180.0, 180.0, range(-180, 181, 45), "yaw error, degrees (right +)")
    y = Axis(-reach, reach, [float(k) for k in range(-int(reach), int(reach) + 1, 30)], "pitch error, degrees (up +)")
    plot = Plot(x, y)
    yaw, pitch = YAW_TOLERANCE_DEG[TaskKind.OBJECT], PITCH_TOLERANCE_DEG
    (left, top), (right, bottom) = plot.at(-yaw, pitch), plot.at(yaw, -pitch)
    box = (
        f'<rect class="zone" x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{bottom - top:.1f}">'
        f"<title>within {yaw:g} and {pitch:g} degrees: accepted for every target</title></rect>"
    )
    found, missed = ([point for success, point in points if success is wanted] for wanted in (True, False))
    body = box + plot.frame() + plot.cloud("cloud miss", "cross", missed) + plot.cloud("cloud hit", "dot", found)
    described = f"{len(found)} found and {len(missed)} missed submissions of object searches of {runs[0].name}"
    return Figure(
        "Object submissions around their targets",
        [("", drawing("Errors in yaw and pitch", described, body, plot.width, plot.height))],
        f"Each mark is a submission of {runs[0].name}. The shaded box is accepted for every target.",
        [("k-dot", "found"), ("k-cross", "missed"), ("k-zone", "always accepted")],
    )


def mismatch(runs: Sequence[Drawn]) -> Figure:
    """Return how far submissions are from where the head looked, and what that does to success."""
    values = [list(_off_looking(run.results)) for run in runs]
    if not values[0]:
        return Figure("Submitted against looking", (), "")
    steps = [float(place) for place in range(len(OFF_EDGES))]
    axis = Axis(0.0, steps[-1], steps, "angle between submission and line of sight, degrees (uneven bins)", _edge)
    histogram = Histogram("Submitted against looking", axis, steps, "", "submissions", _bin)
    placed = [[_place(value) for value in of_run] for of_run in values]
    drawn = histogram.draw([Part("column s1", "submissions", placed[0])], placed[1] if len(runs) > 1 else None)
    return Figure(
        "Submitted against looking",
        [("", drawn)],
        "A submission counts by the numbers that the policy wrote, wherever its head looks. Where the two differ, the "
        "policy answered from what it remembers or computed, or got its angles wrong.",
        [("k-bar", runs[0].name), *_outline(runs)],
        Numbers(("run", *_HEADS), [(run.name, *_mismatch_cells(run.analysis.total.mismatch)) for run in runs]),
    )


def mismatch_sentence(run: Drawn) -> str:
    """Return the mismatch of a run in a sentence."""
    total = run.analysis.total
    found = total.mismatch
    return (
        f"By where the head looked instead of what was submitted, {quoted(found.looking)} would have been found. "
        f"Right as submitted while the head looks elsewhere: {found.only_submitted}; wrong as submitted while the head "
        f"looks at the target: {found.only_looking}."
    )


_HEADS = ("median", "95 % below", "over 1°", "over 10°", "right only as submitted", "right only as looked")


def _mismatch_cells(found: Mismatch) -> tuple[str, ...]:
    over = [quoted(found.over[degrees]) if degrees in found.over else "–" for degrees in (1, 10)]
    return (
        _degrees(found.angle_deg.median),
        _degrees(found.angle_deg.p95),
        *over,
        str(found.only_submitted),
        str(found.only_looking),
    )


def _error_cells(run: Drawn, kind: TaskKind) -> tuple[str, ...]:
    errors = run.analysis.kinds[kind].errors
    within = [quoted(errors.within[degrees]) if degrees in errors.within else "–" for degrees in (10, 30, 90)]
    return str(errors.off_deg.count), _degrees(errors.off_deg.median), _degrees(errors.off_deg.p95), *within


def _degrees(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}°"


def _submitted(run: Drawn, kind: TaskKind) -> list[EpisodeResult]:
    return [result for result in run.of(kind) if result.submitted is not None]


def _yaw(result: EpisodeResult) -> float:
    return math.nan if result.submitted is None else result.submitted.yaw_error_deg


def _off_looking(results: Iterable[EpisodeResult]) -> Iterable[float]:
    for result in results:
        record = result.record
        if result.completed and record.submitted is not None and record.looking is not None:
            yield record.submitted.angle_to_deg(record.looking)


def _outline(runs: Sequence[Drawn]) -> list[tuple[str, str]]:
    return [(OTHER, run.name) for run in runs[1:]]


def _place(value: float) -> float:
    """Return a value's place on the axis of uneven bins: in the middle of its bin."""
    return next(place for place, high in enumerate((*OFF_EDGES[1:-1], math.inf)) if value < high) + 0.5


def _edge(place: float) -> str:
    return f"{OFF_EDGES[int(place)]:g}"


def _bin(low: float, high: float) -> str:
    return f"{_edge(low)} to {_edge(high)} degrees"
