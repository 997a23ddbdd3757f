"""The index over the episodes of a run: a table with a small map of each, and links to the reports."""

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


def write_index(out: Path | str, entries: Sequence[IndexEntry], *, title: str = "", summary: str = "") -> Path:
    """Write the index, and return where it is.

    Args:
        out: the HTML file; links are relative to its folder, so that the whole may be moved.
        entries: in the order of the run.
        title: at the top.
        summary: below it, in a sentence.

    Raises:
        OSError: the file cannot be written.
    """
    out = Path(out)
    title = title or "Visual searches"
    heads = ("", "episode", "result", "turns", "turned", "took", "task")
    rows = "".join(_row(entry, out.parent) for entry in entries)
    numeric = {"turns", "turned", "took"}
    header = "".join(f"<th{' class=num' if head in numeric else ''}>{head}</th>" for head in heads)
    table = f'<div class="wide"><table><tr>{header}</tr>{rows}</table></div>' if entries else "<p>No episode.</p>"
    body = (
        f'<div class="over">Visual search</div><h1>{escape(title)}</h1>'
        f'<ul class="facts"><li>{escape(summary or _summary(entries))}</li></ul>{table}'
    )
    out.parent.mkdir(parents=True, exist_ok=True)
    write_whole(out, document(escape(title), body))
    return out


def _row(entry: IndexEntry, folder: Path) -> str:
    record, verdict = entry.record, judged(entry.record, entry.target)
    address = quote(os.path.relpath(entry.report.absolute(), folder.absolute()).replace(os.sep, "/"))
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
