"""The report of a benchmark run: one HTML page that needs nothing else.

It stands alone so that it can be put beside a paper, mailed and opened years later: no script, no font, nothing from
outside. Instructions, thoughts and answers are other people's words, and a results file may be a stranger's: nothing
goes into the page unescaped, and the page itself forbids whatever might get through.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from hvs_ros.benchmark.analysis import Analysis
from hvs_ros.benchmark.recorded_runs import RecordedRun
from hvs_ros.report import bench_effort, bench_errors, bench_success
from hvs_ros.report.bench_against import comparison
from hvs_ros.report.bench_figure import HATCH, Drawn, percent, quoted
from hvs_ros.report.bench_strips import KEYS, clipped, strip
from hvs_ros.report.bench_style import BENCH_STYLE
from hvs_ros.report.bench_tables import (
    all_settings,
    counts_facts,
    deviations,
    obstacles,
    paper_table,
    run_facts,
    table_notes,
)
from hvs_ros.report.bench_views import Places
from hvs_ros.report.bench_worst import RULE, worst_episodes
from hvs_ros.report.page import write_whole
from hvs_ros.report.style import document
from hvs_ros.search.task import TaskKind

WORST = 12
"""Strips, unless another number is asked for."""


def write_bench_report(
    run: RecordedRun,
    analysis: Analysis,
    out: Path,
    *,
    dataset: Path | None,
    worst: int = WORST,
    against: tuple[RecordedRun, Analysis] | None = None,
) -> Path:
    """Write the report of a benchmark run, and return where it is.

    Args:
        run: that was read from a results file.
        analysis: of it.
        out: the HTML file; its folder is made.
        dataset: folder of the data set, for the views; None, or one that is not there: the page has no views.
        worst: how many of the worst searches are shown.
        against: another run and its analysis, drawn beside the first.

    Raises:
        OSError: the file cannot be written.
        ShareError: the published results are missing.
    """
    runs = drawn_runs(run, analysis, against)
    title = f"Benchmark of {runs[0].name}"
    parts = (
        HATCH,
        _head(run, analysis, title),
        _success(runs, run.settings),
        _figures(runs),
        comparison(run, against[0], runs[0].mode, [one.name for one in runs]) if against else "",
        _worst(run, runs[0], dataset, worst),
        _foot(run, against),
    )
    out.parent.mkdir(parents=True, exist_ok=True)
    write_whole(out, document(escape(title), "\n".join(parts), BENCH_STYLE))
    return out


def drawn_runs(run: RecordedRun, analysis: Analysis, against: tuple[RecordedRun, Analysis] | None) -> list[Drawn]:
    """Return the runs under names that tell them apart: policy and model, then the files."""
    given = [(run, analysis), *([against] if against else [])]
    names = [_name(one) for one, _ in given]
    if len(set(names)) < len(names):
        names = [one.path.stem for one, _ in given]
    if len(set(names)) < len(names):
        names = [str(one.path) for one, _ in given]
    return [Drawn(name, of_run, one.results) for name, (one, of_run) in zip(names, given, strict=True)]


def _name(run: RecordedRun) -> str:
    facts = run.settings.get("facts")
    model = facts.get("model") if isinstance(facts, dict) else None
    short = Path(str(model)).name if model else ""
    return f"{run.policy}, {short}"[:60] if short else run.policy[:60] or run.path.stem


def _head(run: RecordedRun, analysis: Analysis, title: str) -> str:
    total = analysis.total.success
    verdicts = "".join(
        f'<div class="verdict open"><b>{percent(rate)}</b><span>{name}: {rate.count} of {rate.of}</span></div>'
        for name, rate in (
            ("object search", analysis.kinds[TaskKind.OBJECT].success),
            ("path search", analysis.kinds[TaskKind.PATH].success),
        )
        if rate.of
    )
    if not total.of:
        verdicts = '<div class="verdict open"><b>No result</b><span>no search was scored</span></div>'
    return (
        f'<div class="head"><div><div class="over">H*Bench · results</div><h1>{escape(title)}</h1></div>'
        f'<div class="verdicts">{verdicts}</div></div>'
        f"{_facts(run_facts(run.settings, analysis))}{_facts(counts_facts(analysis.total.counts, run.settings))}"
        f"{deviations(run.settings)}"
    )


def _facts(facts: Sequence[tuple[str, str]]) -> str:
    return f'<ul class="facts">{"".join(f"<li>{k} <b>{clipped(v, 200)}</b></li>" for k, v in facts)}</ul>'


def _success(runs: Sequence[Drawn], settings: Mapping[str, Any]) -> str:
    notes = "".join(f"<li>{clipped(line, 400)}</li>" for line in table_notes(runs[0]))
    table = obstacles(runs[0], settings) + paper_table(runs, settings)
    return f'<h2>Beside the published results</h2>{table}<ul class="remarks">{notes}</ul>'


def _figures(runs: Sequence[Drawn]) -> str:
    if not any(run.analysis.total.counts.completed for run in runs):
        return "<p>No search was completed: there is nothing to draw.</p>"
    success = (bench_success.cumulative(runs), bench_success.levels(runs), bench_success.by_angle(runs))
    errors = (bench_errors.yaw_errors(runs), bench_errors.scatter(runs), bench_errors.mismatch(runs))
    effort = (
        bench_effort.turns(runs),
        bench_effort.travel(runs),
        bench_effort.latency(runs),
        bench_effort.tokens(runs),
    )
    parts = [
        "<h2>Success</h2>",
        _grid(success),
        "<h2>Submissions</h2>",
        _grid(errors),
        f"<p>{escape(bench_errors.mismatch_sentence(runs[0]))}</p>",
        "<h2>Answers</h2>",
        f"<p>{escape(bench_effort.answers_sentence(runs[0]))}</p>",
        bench_effort.answers(runs),
        "<h2>Effort</h2>",
        _grid(effort),
    ]
    return "".join(parts)


def _grid(figures: Sequence[object]) -> str:
    return f'<div class="figures">{"".join(figure.html() for figure in figures)}</div>'  # type: ignore[attr-defined]


def _worst(run: RecordedRun, drawn: Drawn, dataset: Path | None, most: int) -> str:
    if most < 1:
        return ""
    failed = sum(result.success(drawn.mode) is False for result in run.results)
    chosen = worst_episodes(run.results, drawn.mode, most)
    if not chosen:
        words = "Every scored search succeeded." if drawn.analysis.total.success.of else "No search was scored."
        return f"<h2>The worst searches</h2><p>{words}</p>"
    places = Places(dataset, run.settings)
    keys = "".join(f'<span><i class="key {kind}"></i>{words}</span>' for kind, words in KEYS)
    strips = "".join(strip(number, one, places, run.policy) for number, one in enumerate(chosen, start=1))
    return (
        f"<h2>The worst searches</h2><p>{len(chosen)} of {failed} failed searches "
        f"({quoted(drawn.analysis.total.success)} found). {escape(RULE)} "
        "Views are drawn again from the data set; the policy saw neither target nor marks.</p>"
        f'<figcaption class="strip-keys">{keys}</figcaption>{strips}'
    )


def _foot(run: RecordedRun, against: tuple[RecordedRun, Analysis] | None) -> str:
    other = f" · beside {escape(against[0].path.name)}" if against else ""
    ended = f" · last search ended {escape(run.ended)}" if run.ended else ""
    return f"<footer>{escape(run.path.name)}{other}{ended}{all_settings(run.settings)}</footer>"
