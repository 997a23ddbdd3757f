"""The paper's table with a run beside the published rows, and what the run was done with."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import PurePath
from typing import Any

from hvs_ros.benchmark.analysis import Analysis, Counts
from hvs_ros.benchmark.bench_notes import incomparable
from hvs_ros.benchmark.bench_notes import percent as as_published
from hvs_ros.benchmark.paper_results import PublishedTable, published_table
from hvs_ros.benchmark.protocol import PROTOCOLS
from hvs_ros.panorama.view import view_name
from hvs_ros.report.bench_figure import KINDS, Drawn, between
from hvs_ros.report.bench_strips import clipped
from hvs_ros.search.task import LEVEL_NAMES, TaskKind

_HEADINGS = {TaskKind.OBJECT: "Object search (HOS)", TaskKind.PATH: "Path search (HPS)"}


def paper_table(runs: Sequence[Drawn], settings: Mapping[str, Any]) -> str:
    """Return the paper's Table 1 with the runs below it, as HTML; settings are those of the first run."""
    published = published_table()
    against = incomparable(runs[0].analysis, settings, published)
    kinds = "".join(
        f'<th scope="colgroup" colspan="{1 + len(LEVEL_NAMES[kind])}" class="group">{heading}</th>'
        for kind, heading in _HEADINGS.items()
    )
    names = "".join(
        f'<th scope="col" class="num{" first" if name == "overall" else ""}">{name}</th>'
        for kind in KINDS
        for name in ("overall", *LEVEL_NAMES[kind])
    )
    rows = "".join(_run_row(run, number) for number, run in enumerate(runs, start=1))
    return (
        '<div class="wide"><table class="paper"><thead>'
        f'<tr><th scope="col" rowspan="2">success, %</th>{kinds}</tr><tr>{names}</tr></thead>'
        f"<tbody{' class=apart' if against else ''}>{_published_rows(published, bool(against))}</tbody>"
        f"<tbody>{rows}</tbody></table></div>"
    )


def obstacles(run: Drawn, settings: Mapping[str, Any]) -> str:
    """Return what speaks against comparing a run, made with the settings, with the published rows, as HTML."""
    found = incomparable(run.analysis, settings, published_table())
    if not found:
        return ""
    items = "".join(f"<li>{clipped(reason, 300)}</li>" for reason in found)
    return f'<div class="note open"><b>Not comparable with the published rows:</b><ul>{items}</ul></div>'


def table_notes(run: Drawn) -> list[str]:
    """Return what must be known to read the table."""
    published = published_table()
    analysis = run.analysis
    lines = [
        f"Published rows: {published.source}, by the {published.rule.value} rule; {published.notes}. "
        f"This run: by the {run.mode.value} rule.",
        "Small numbers below a rate of this run: its 95 % interval, whole scenes drawn again and again, and counts.",
    ]
    if any(row.unlike for row in published.rows):
        lines.append(
            "*: published rates that do not come from as many episodes as the other rows'; why is not published."
        )
    doubts = {c.success.interval.doubt for c in analysis.columns if c.success.interval is not None}
    lines += [f"Intervals in brackets are not to be relied on: {doubt}." for doubt in sorted(doubts - {""})]
    return lines


def counts_facts(counts: Counts, settings: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what became of the episodes; settings are those of the run."""
    total = _mapping(settings, "notes").get("episodes")
    of = f" of {total} of the data set" if isinstance(total, int) and total > counts.episodes else ""
    failed = ", ".join(f"{number} {outcome}" for outcome, number in counts.failed.items())
    facts = [
        ("episodes", f"{counts.episodes}{of}"),
        ("scenes", str(counts.scenes)),
        ("scored", str(counts.scored)),
        ("submitted", str(counts.submitted)),
        ("out of turns", str(counts.exhausted)),
        ("called a guess", str(counts.guesses) if counts.guesses else ""),
        ("run again after a failure", str(counts.retried) if counts.retried else ""),
        ("not completed, not scored", failed),
    ]
    return [(name, value) for name, value in facts if value]


def run_facts(settings: Mapping[str, Any], analysis: Analysis) -> list[tuple[str, str]]:
    """Return what a run was done with; what is missing in its settings is left out."""
    camera, view = _mapping(settings, "camera"), _mapping(settings, "view")
    notes = _mapping(settings, "notes")
    facts, policy = _mapping(settings, "facts"), _mapping(settings, "policy_settings")
    made = view_name(str(view.get("sampling")), _whole(view.get("supersample"))) if view else ""
    known = {**policy, **facts}
    listed = [
        ("data set", PurePath(str(notes["dataset"])).name if notes.get("dataset") else ""),
        ("policy", settings.get("policy")),
        ("model", known.get("model")),
        ("protocol", settings.get("protocol")),
        ("scoring", f"{analysis.mode.value} rule"),
        ("views", _size(camera) if camera else ""),
        ("sampling", made),
        ("turns at most", settings.get("max_turns")),
        ("runtime", facts.get("runtime")),
        ("prompts", known.get("prompts")),
        ("prompt hash", _digest(facts)),
        ("parser", known.get("parser")),
        ("window", known.get("window")),
        ("temperature", known.get("temperature")),
        ("decoding", facts.get("sampling")),
        ("JPEG quality", known.get("jpeg_quality")),
        ("order", f"seed {settings['seed']}" if settings.get("seed") is not None else ""),
        ("run", "through ROS 2" if settings.get("run") == "graph" else settings.get("run")),
        ("intervals", f"bootstrap, {analysis.resamples} resamples, seed {analysis.seed}"),
        ("hvs_ros", _mapping(settings, "versions").get("hvs_ros")),
    ]
    return [(name, str(value)) for name, value in listed if value not in (None, "")]


def deviations(settings: Mapping[str, Any]) -> str:
    """Return what a run does otherwise than its protocol, as HTML; of runs without a protocol, that they have none."""
    protocol = PROTOCOLS.get(str(settings.get("protocol", "")))
    if protocol is None:
        return '<p class="note open">This run was made under no protocol of the benchmark (hvs sim).</p>'
    found = settings.get("deviations")
    lines = [str(line) for line in found] if isinstance(found, list) else []
    notes = "".join(f"<li>{escape(note)}</li>" for note in protocol.notes)
    about = f"<details><summary>Notes on this protocol</summary><ul>{notes}</ul></details>" if notes else ""
    if not lines:
        return f"<p>Protocol {escape(protocol.name)} ({escape(protocol.about)}), without a deviation.</p>{about}"
    items = "".join(f"<li>{clipped(line, 300)}</li>" for line in lines)
    return (
        f'<div class="note"><b>Deviates from protocol {escape(protocol.name)}</b> ({escape(protocol.about)}):'
        f"<ul>{items}</ul></div>{about}"
    )


def all_settings(settings: Mapping[str, Any]) -> str:
    """Return the whole first line of a results file, as HTML."""
    text = json.dumps(settings, indent=2, ensure_ascii=False, default=str)
    return f"<details><summary>All settings and versions</summary><pre>{clipped(text, 20_000)}</pre></details>"


def _published_rows(published: PublishedTable, apart: bool) -> str:
    sizes = "".join(
        f'<td class="num{" first" if place == 0 else ""}">({size})</td>'
        for kind in KINDS
        for place, size in enumerate((published.episodes(kind), *published.sizes[kind]))
    )
    title = "published, not comparable (below)" if apart else "published"
    rows = [f'<tr class="sizes"><th scope="row">{title}; episodes, estimated</th>{sizes}</tr>']
    for row in published.rows:
        cells = "".join(
            f'<td class="num{" first" if place == 0 else ""}">{rate:.2f}</td>'
            for kind in KINDS
            for place, rate in enumerate(row.rates[kind])
        )
        mark = "*" if row.unlike else ""
        rows.append(f'<tr><th scope="row">{escape(row.model)}{mark}</th>{cells}</tr>')
    return "".join(rows)


def _run_row(run: Drawn, number: int) -> str:
    cells = []
    for column in run.analysis.columns:
        rate, first = column.success, " first" if column.level is None else ""
        interval = between(rate)
        if interval and rate.interval is not None and not rate.interval.reliable:
            interval = f"[{interval}]"
        below = f"<small>{interval}</small><small>{rate.count}/{rate.of}</small>" if rate.of else ""
        cells.append(f'<td class="num{first}">{as_published(rate) if rate.of else "–"}{below}</td>')
    return f'<tr class="own s{number}"><th scope="row">{escape(run.name)}</th>{"".join(cells)}</tr>'


def _mapping(settings: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = settings.get(key)
    return value if isinstance(value, Mapping) else {}


def _size(camera: Mapping[str, Any]) -> str:
    hfov = camera.get("hfov_deg")
    degrees = f"{hfov:g}" if isinstance(hfov, (int, float)) else str(hfov)
    return f"{camera.get('width')}x{camera.get('height')}, {degrees}°"


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 1


def _digest(facts: Mapping[str, Any]) -> str:
    found = next((str(value) for key, value in facts.items() if "sha256" in key or "digest" in key), "")
    return found[:16]
