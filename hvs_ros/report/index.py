"""The index over the episodes of runs: tables with a small map of each episode, and links to the reports."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from urllib.parse import quote

from hvs_ros.recording.episode import EpisodeRecord
from hvs_ros.report.chart import chart
from hvs_ros.report.page import write_whole
from hvs_ros.report.style import document
from hvs_ros.report.words import judged, seconds
from hvs_ros.search.task import LEVEL_NAMES, Target

INDEX_NAME = "index.html"
"""Usual name of an index."""


@dataclass(frozen=True)
class IndexEntry:
    """One episode.

    Attributes:
        record: of it; its pictures are not needed.
        report: file of its report.
        episode_id: name in the run; empty: that of the search.
        target: the answer; None: not known.
        level: difficulty; None: not known.
    """

    record: EpisodeRecord
    report: Path
    episode_id: str = ""
    target: Target | None = None
    level: int | None = None


@dataclass(frozen=True)
class IndexRun:
    """One run in an index.

    Attributes:
        entries: in the order of the run.
        title: above them; empty: none.
        summary: below the title, in a sentence; empty: made from the entries.
    """

    entries: Sequence[IndexEntry]
    title: str = ""
    summary: str = ""


def write_index(out: Path | str, entries: Sequence[IndexEntry], *, title: str = "", summary: str = "") -> Path:
    """Write the index of one run, and return where it is; as ``write_runs`` does."""
    return write_runs(out, [IndexRun(entries, title, summary)])


def write_runs(out: Path | str, runs: Sequence[IndexRun], others: Sequence[Path] = ()) -> Path:
    """Write the index of several runs, and return where it is.

    Args:
        out: the HTML file; links are relative to its folder, so that the whole may be moved.
        runs: in the order in which they are shown.
        others: reports of which nothing more is known.

    Raises:
        OSError: the file cannot be written.
    """
    out = Path(out)
    alone = len(runs) == 1 and runs[0].title
    title = alone or "Visual searches"
    parts = ['<div class="over">Visual search</div>', f"<h1>{escape(title)}</h1>"]
    for run in runs:
        if run.title and not alone:
            parts.append(f"<h2>{escape(run.title)}</h2>")
        parts.append(f'<ul class="facts"><li>{escape(run.summary or _summary(run.entries))}</li></ul>')
        parts.append(_table(run.entries, out.parent))
    if others:
        links = "".join(
            f'<li><a href="{_address(report, out.parent)}">{escape(report.parent.name)}</a></li>' for report in others
        )
        parts.append(f"<h2>Other reports</h2><ul>{links}</ul>")
    out.parent.mkdir(parents=True, exist_ok=True)
    write_whole(out, document(escape(title), "".join(parts)))
    return out


def _table(entries: Sequence[IndexEntry], folder: Path) -> str:
    if not entries:
        return "<p>No episode.</p>"
    heads = ("", "episode", "result", "turns", "turned", "took", "task")
    rows = "".join(_row(entry, folder) for entry in entries)
    numeric = {"turns", "turned", "took"}
    header = "".join(f"<th{' class=num' if head in numeric else ''}>{head}</th>" for head in heads)
    return f'<div class="wide"><table><tr>{header}</tr>{rows}</table></div>'


def _address(report: Path, folder: Path) -> str:
    return quote(os.path.relpath(report.absolute(), folder.absolute()).replace(os.sep, "/"))


def _row(entry: IndexEntry, folder: Path) -> str:
    record, verdict = entry.record, judged(entry.record, entry.target)
    address = _address(entry.report, folder)
    levels = LEVEL_NAMES[record.task.kind]
    level = f", {levels[entry.level]}" if entry.level is not None and entry.level < len(levels) else ""
    small = chart(record, entry.target, None, None, success=verdict.success, small=True)
    return (
        f'<tr><td><a href="{address}" aria-label="report">{small}</a></td>'
        f'<td class="words"><a href="{address}"><b>{escape(record.task.instruction)}</b></a><br>'
        f'<span class="feedback">{escape(entry.episode_id or record.search_id)}</span></td>'
        f'<td><span class="badge {verdict.kind}">{escape(verdict.title)}</span><br>'
        f'<span class="feedback">{escape(verdict.detail)}</span></td>'
        f'<td class="num">{len(record.turns)}</td><td class="num">{record.travel_deg:.0f}°</td>'
        f'<td class="num">{seconds(record.duration_s)}</td><td>{record.task.kind.value}{level}</td></tr>'
    )


def _summary(entries: Sequence[IndexEntry]) -> str:
    verdicts = [judged(entry.record, entry.target).success for entry in entries]
    judged_count = sum(verdict is not None for verdict in verdicts)
    return f"{len(entries)} episodes" + (
        f", {sum(map(bool, verdicts))} of {judged_count} found" if judged_count else ""
    )
