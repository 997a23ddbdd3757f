"""Plots of what searches took: turns, way of the head, time; and what the answers were."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from hvs_ros.benchmark.result import EpisodeResult
from hvs_ros.benchmark.spread import Spread
from hvs_ros.report.bench_axes import Axis
from hvs_ros.report.bench_errors import FOUND, MISSED, OTHER
from hvs_ros.report.bench_figure import Drawn, Figure, Numbers, quoted
from hvs_ros.report.bench_histogram import Histogram, Part, even_edges
from hvs_ros.report.words import seconds
from hvs_ros.search.decision import ParseStatus

PER_DECADE = 5
"""Bins of a logarithmic axis."""
LEAST_S = 1e-4
"""To which times in results are rounded."""


def turns(runs: Sequence[Drawn]) -> Figure:
    """Return how many turns the searches had."""
    results = _scored(runs[0])
    if not results:
        return Figure("Turns", (), "")
    last = max(len(result.record.turns) for run in runs for result in _scored(run))
    step = 1 if last <= 12 else 5
    axis = Axis(0.5, max(last, 1) + 0.5, [k for k in range(1, max(last, 1) + 1) if k % step == 0 or k == 1], "turns")
    edges = [0.5 + k for k in range(max(last, 1) + 1)]
    groups = (
        ("column s1", "found", [r for r in results if r.success(runs[0].mode)]),
        ("missed s1", "wrong direction", [r for r in results if not r.success(runs[0].mode) and _answered(r)]),
        ("none s1", "no submission", [r for r in results if not _answered(r)]),
    )
    parts = [Part(kind, name, [float(len(r.record.turns)) for r in group]) for kind, name, group in groups]
    histogram = Histogram("Turns of the searches", axis, edges, "", "searches", lambda low, _: f"{low + 0.5:g} turns")
    other = [float(len(result.record.turns)) for run in runs[1:] for result in _scored(run)]
    return Figure(
        "Turns",
        [("", histogram.draw(parts, other))],
        "Turns of each search, the one of the submission included.",
        [FOUND, ("k-hatch", "wrong direction"), ("k-none", "no submission"), *_others(runs)],
        _spreads("turns", "{:.1f}", [(run.name, run.analysis.total.turns) for run in runs]),
    )


def travel(runs: Sequence[Drawn]) -> Figure:
    """Return how far the head turned."""
    results = _scored(runs[0])
    if not results:
        return Figure("Way of the head", (), "")
    edges = even_edges(max(result.record.travel_deg for run in runs for result in _scored(run)))
    every = max(1, math.ceil((len(edges) - 1) / 6))
    histogram = Histogram(
        "Way of the head",
        Axis(edges[0], edges[-1], edges[::every], "turned in all, degrees"),
        edges,
        "degrees",
        "searches",
    )
    parts = [
        Part(kind, name, [r.record.travel_deg for r in results if bool(r.success(runs[0].mode)) is found])
        for kind, name, found in (("column s1", "found", True), ("missed s1", "missed", False))
    ]
    other = [result.record.travel_deg for run in runs[1:] for result in _scored(run)]
    spreads = [(f"{run.name}, degrees", run.analysis.total.travel_deg) for run in runs]
    spreads += [(f"{run.name}, times the shortest way", run.analysis.total.detour) for run in runs]
    spreads += [(f"{run.name}, the same where found", run.analysis.total.detour_found) for run in runs]
    return Figure(
        "Way of the head",
        [("", histogram.draw(parts, other))],
        "Angles between the lines of sight of a search, added up.",
        [FOUND, MISSED, *_others(runs)],
        _spreads("way of the head", "{:.1f}", spreads),
    )


def latency(runs: Sequence[Drawn]) -> Figure:
    """Return how long decisions took, on a logarithmic axis."""
    values = [[max(LEAST_S, turn.times.think_s) for r in _completed(run) for turn in r.record.turns] for run in runs]
    if not values[0]:
        return Figure("Time to decide", (), "")
    low = math.floor(math.log10(min(min(of_run) for of_run in values if of_run)))
    high = max(low + 1, math.ceil(math.log10(max(max(of_run) for of_run in values if of_run)) + 1e-9))
    # Drawn over exponents: bins are then even, and so are their widths.
    places = [low + k / PER_DECADE for k in range((high - low) * PER_DECADE + 1)]
    axis = Axis(float(low), float(high), [float(k) for k in range(low, high + 1)], "a decision (logarithmic)", _time)
    histogram = Histogram(
        "Time to decide", axis, places, "", "turns", lambda a, b: f"{seconds(10**a)} to {seconds(10**b)}"
    )
    logs = [[math.log10(value) for value in of_run] for of_run in values]
    spreads = []
    for run in runs:
        of_run = run.analysis.total.latency
        parts = ("a view", of_run.look_s), ("a decision", of_run.think_s), ("a move", of_run.move_s)
        spreads += [(f"{run.name}, {name}", spread) for name, spread in (*parts, ("an episode", of_run.episode_s))]
    return Figure(
        "Time to decide",
        [("", histogram.draw([Part("column s1", "turns", logs[0])], logs[1] if len(runs) > 1 else None))],
        "Seconds from the view to the decision, a turn. Searches that run at the same time wait for each other; an "
        "episode's time includes that.",
        [("k-bar", runs[0].name), *_others(runs)],
        _spreads("seconds", "{:.3f}", spreads),
    )


def answers(runs: Sequence[Drawn]) -> str:
    """Return the table of what the answers were, with bars, as HTML; empty without an answer."""
    total = sum(runs[0].analysis.total.answers.statuses.values())
    if not total:
        return ""
    rows = []
    for status in ParseStatus:
        counts = [run.analysis.total.answers.statuses.get(status.value, 0) for run in runs]
        if not any(counts):
            continue
        cells = "".join(
            _bar_cell(count, run, number) for number, (count, run) in enumerate(zip(counts, runs, strict=True))
        )
        rows.append(f'<tr><th scope="row">{status.value}</th>{cells}</tr>')
    heads = "".join(f'<th scope="col">{escape(run.name)}</th>' for run in runs)
    return (
        '<div class="wide"><table class="bars"><thead><tr><th scope="col">answer</th>'
        f"{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def answers_sentence(run: Drawn) -> str:
    """Return how many answers were valid, in a sentence."""
    found = run.analysis.total.answers
    words = f"{quoted(found.valid)} of the turns had a valid action"
    if found.well_formed.of:
        words += f"; {quoted(found.well_formed)} had the published format"
    return words + ". Any other answer is a turn in which the head stays where it is."


def tokens(runs: Sequence[Drawn]) -> Figure:
    """Return the token counts; an empty figure where no policy counts them."""
    rows = []
    for run in runs:
        of_run = run.analysis.total.tokens
        for name, spread, total in (
            ("prompt", of_run.prompt, f"{of_run.prompt_total:,}"),
            ("answer", of_run.completion, f"{of_run.completion_total:,}"),
            ("picture", of_run.image, ""),
        ):
            if spread.count:
                rows.append((f"{run.name}, {name}", *_cells(spread, "{:.0f}"), total))
    shown = [("", Numbers(("tokens", *_QUANTILES, "in all"), rows).html())] if rows else []
    return Figure("Tokens a turn", shown, "As the model or its server counted them; a dash: not counted.")


_QUANTILES = ("mean", "5 %", "median", "95 %", "most")


def _bar_cell(count: int, run: Drawn, number: int) -> str:
    share = count / max(1, sum(run.analysis.total.answers.statuses.values()))
    return (
        f'<td><div class="amount s{number + 1}" style="--part:{100 * share:.2f}%"><i></i>'
        f"<span>{100 * share:.1f} % ({count})</span></div></td>"
    )


def _spreads(what: str, form: str, spreads: Sequence[tuple[str, Spread]]) -> Numbers:
    return Numbers((what, *_QUANTILES), [(name, *_cells(spread, form)) for name, spread in spreads])


def _cells(spread: Spread, form: str) -> tuple[str, ...]:
    values = (spread.mean, spread.p5, spread.median, spread.p95, spread.high)
    return tuple("–" if value is None else form.format(value) for value in values)


def _time(exponent: float) -> str:
    value = 10.0**exponent
    return f"{value * 1000:g} ms" if value < 0.999 else f"{value:g} s"


def _completed(run: Drawn) -> list[EpisodeResult]:
    return [result for result in run.results if result.completed]


def _scored(run: Drawn) -> list[EpisodeResult]:
    return [result for result in run.results if result.scored]


def _answered(result: EpisodeResult) -> bool:
    return result.record.submitted is not None


def _others(runs: Sequence[Drawn]) -> list[tuple[str, str]]:
    return [(OTHER, run.name) for run in runs[1:]]
