"""The report of one episode.

Every word in it may come from a model or a stranger's file: nothing goes into the page unescaped, and the page itself
forbids scripts and anything from outside.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Sequence
from html import escape
from pathlib import Path

from hvs_ros.angles import Direction
from hvs_ros.panorama import PictureError, Tilt
from hvs_ros.recording.episode import EpisodeRecord, RecordedTurn
from hvs_ros.report import pictures
from hvs_ros.report.chart import chart
from hvs_ros.report.command import command
from hvs_ros.report.style import document
from hvs_ros.report.words import Judged, degrees, judged, seconds
from hvs_ros.search.decision import ParseStatus
from hvs_ros.search.task import LEVEL_NAMES, EpisodeSpec, Target

REPORT_NAME = "report.html"
"""Usual name of a report, beside its bag."""
SIDE_LENGTH = 60
"""Letters of a verdict that fit beside the title."""
_ANSWER_MARK, _PICTURE_MARK = "<li>target <b>", "<image href="
"""What only a page with the right answer has, and only one with the panorama."""
_log = logging.getLogger(__name__)


def write_report(
    record: EpisodeRecord,
    out: Path | str,
    *,
    panorama: Path | None = None,
    tilt: Tilt | None = None,
    spec: EpisodeSpec | None = None,
    target: Target | None = None,
    start: Direction | None = None,
    level: int | None = None,
    links: Sequence[tuple[str, str]] = (),
) -> Path:
    """Write the report of an episode, and return where it is.

    Args:
        record: of the episode.
        out: the HTML file; its folder is made.
        panorama: the picture around the head; None, or one that cannot be read: the map is a plain grid.
        tilt: of the camera that took it.
        spec: of the episode, instead of the next three.
        target: the answer; None: not known, nothing is judged.
        start: where the head looked first.
        level: difficulty.
        links: (text, address) to put at the top.

    Raises:
        OSError: the file cannot be written.
    """
    if spec is not None:
        target, start, level = spec.target, spec.start, spec.level
    verdict = judged(record, target)
    body = "\n".join(
        (
            _head(record, verdict, target, level, links),
            _map(record, verdict, target, start, _picture(panorama, tilt)),
            "<h2>View by view</h2>",
            *(_turn(turn) for turn in record.turns),
            "" if record.turns else '<p class="feedback">There was no turn.</p>',
            _table(record),
            _foot(record),
        )
    )
    out = Path(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    write_whole(out, document(escape(f"{verdict.title}: {record.task.instruction}"), body))
    return out


def knows_more(report: Path, *, answer: bool, picture: bool) -> bool:
    """Return whether a report that is there holds what a new one would not: the right answer, or the panorama.

    Args:
        report: an HTML file, or where none is.
        answer: the new one has the answer.
        picture: the new one has the panorama.
    """
    try:
        text = report.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return (not answer and _ANSWER_MARK in text) or (not picture and _PICTURE_MARK in text)


def write_whole(out: Path, text: str) -> None:
    """Write a file that is never seen half written."""
    partial = out.with_name(f".{out.name}.{os.getpid()}.part")
    try:
        partial.write_text(text, encoding="utf-8", errors="replace")
        partial.replace(out)
    finally:
        partial.unlink(missing_ok=True)


def _picture(panorama: Path | None, tilt: Tilt | None) -> pictures.Inline | None:
    if panorama is None:
        return None
    try:
        return pictures.panorama(panorama, tilt)
    except PictureError as error:
        _log.warning("the report shows no panorama: %s", error)
        return None


def _head(
    record: EpisodeRecord, verdict: Judged, target: Target | None, level: int | None, links: Sequence[tuple[str, str]]
) -> str:
    kind = record.task.kind
    known = LEVEL_NAMES[kind]
    facts = [
        ("task", f"{kind.value} search" + (f", {known[level]}" if level is not None and level < len(known) else "")),
        ("scene", record.scene),
        ("policy", record.policy),
        ("turns", f"{len(record.turns)} of {record.task.max_turns}"),
        ("turned", f"{record.travel_deg:.0f}°"),
        ("took", seconds(record.duration_s) if record.duration_s else ""),
        ("submitted", degrees(record.submitted) if record.submitted else ""),
        ("target", _box(target) if target else ""),
        ("head", record.head.kind),
        ("when", time.strftime("%Y-%m-%d %H:%M", time.localtime(record.started_ns / 1e9)) if _dated(record) else ""),
    ]
    items = "".join(f"<li>{name} <b>{escape(value)}</b></li>" for name, value in facts if value)
    anchors = " · ".join(f'<a href="{escape(href, quote=True)}">{escape(text)}</a>' for text, href in links)
    # A reason may be long; an answer's verdict is a few words and stands at the side.
    wide = " wide" if len(verdict.detail) > SIDE_LENGTH else ""
    problem = f'<p class="note">{escape(record.problem)}</p>' if record.problem else ""
    return (
        f'<div class="head"><div><div class="over">Visual search{" · " + anchors if anchors else ""}</div>'
        f"<h1>{escape(record.task.instruction)}</h1></div>"
        f'<div class="verdict {verdict.kind}{wide}"><b>{escape(verdict.title)}</b>'
        f"<span>{escape(verdict.detail)}</span></div></div>"
        f'<ul class="facts">{items}</ul>{problem}'
    )


def _map(
    record: EpisodeRecord,
    verdict: Judged,
    target: Target | None,
    start: Direction | None,
    picture: pictures.Inline | None,
) -> str:
    if picture is None and not record.turns:
        return ""  # a grid with nothing in it
    keys = [("k-start", "first view"), ("k-gaze", "gaze path")]
    if record.head.hfov_deg:
        keys.append(("k-view", "border of a view"))
    if target is not None:
        keys += [("k-target", "target"), ("k-accepted", "accepted")]
    if record.submitted is not None:
        keys.append((f"k-answer {verdict.kind}", "submitted"))
    caption = "".join(f'<span><i class="key {key}"></i>{text}</span>' for key, text in keys)
    drawn = chart(record, target, start, picture, success=verdict.success)
    return f"<figure>{drawn}<figcaption>{caption}</figcaption></figure>"


def _turn(turn: RecordedTurn) -> str:
    decision = turn.decision
    thought = f'<p class="thought">{escape(decision.thought)}</p>' if decision.thought.strip() else ""
    raw = decision.raw.strip()
    more = ""
    if raw and raw != decision.thought.strip():
        more = f"<details><summary>Answer as it came</summary><pre>{escape(raw)}</pre></details>"
    feedback = f'<p class="feedback">{escape(turn.feedback)}</p>' if turn.feedback else ""
    return (
        f'<section class="turn"><div>{_view(turn)}</div><div><header><span class="n">{turn.number}</span>'
        f'<span class="at">{degrees(turn.direction)}</span>{_badges(turn)}</header>'
        f'{thought}<div class="command">{escape(command(turn))}</div>{feedback}{_times(turn)}{more}</div></section>'
    )


def _view(turn: RecordedTurn) -> str:
    if turn.view is None:
        return '<div class="none">The recording does not hold this view.</div>'
    seen = pictures.view(turn.view)
    if seen is None:
        return '<div class="none">This view cannot be decoded.</div>'
    # The policy's cross is not in the camera's picture, and too thin to survive the shrinking where it is.
    cross = '<i class="cross"></i>' if "cross" in turn.picture else ""
    return (
        f'<div class="shot"><img src="{seen.address}" width="{seen.width}" height="{seen.height}" '
        f'alt="View of turn {turn.number}" title="{escape(turn.picture, quote=True)}">{cross}</div>'
    )


def _badges(turn: RecordedTurn) -> str:
    badges = []
    if turn.decision.status is not ParseStatus.OK:
        badges.append(("bad", turn.decision.status.value))
    if turn.decision.guess:
        badges.append(("open", "a guess"))
    if turn.move is not None:
        badges.append(("" if turn.move.arrived else "bad", turn.move.value))
    return "".join(f'<span class="badge {kind}">{escape(text)}</span>' for kind, text in badges)


def _times(turn: RecordedTurn) -> str:
    times = turn.times
    parts = (("look", times.look_s), ("think", times.think_s), ("move", times.move_s))
    total = sum(value for _, value in parts)
    bar = "".join(f'<i class="{name}" style="width:{100 * value / total:.1f}%"></i>' for name, value in parts if total)
    words = "".join(f'<span><i class="{name}"></i>{name} {seconds(value)}</span>' for name, value in parts)
    tokens = tokens_of(turn)
    if tokens:
        words += f"<span>{tokens}</span>"
    return f'<div class="bar">{bar}</div><div class="times">{words}</div>'


def tokens_of(turn: RecordedTurn) -> str:
    """Return the token counts of a turn; empty where none are known."""
    usage = turn.decision.usage
    known = (("in", usage.prompt_tokens), ("out", usage.completion_tokens), ("of the image", usage.image_tokens))
    counts = ", ".join(f"{count} {name}" for name, count in known if count is not None)
    return f"tokens {counts}" if counts else ""


def _table(record: EpisodeRecord) -> str:
    if not record.turns:
        return ""
    with_tokens = any(tokens_of(turn) for turn in record.turns)
    heads = ["turn", "looked at", "command", "looks at then", "look", "think", "move"]
    numeric = {0, 4, 5, 6}
    rows = []
    for turn in record.turns:
        times = turn.times
        cells = [
            str(turn.number),
            degrees(turn.direction),
            command(turn),
            degrees(turn.after),
            seconds(times.look_s),
            seconds(times.think_s),
            seconds(times.move_s),
        ]
        if with_tokens:
            cells.append(tokens_of(turn).removeprefix("tokens "))
        rows.append(
            "<tr>"
            + "".join(f"<td{' class=num' if i in numeric else ''}>{escape(cell)}</td>" for i, cell in enumerate(cells))
            + "</tr>"
        )
    if with_tokens:
        heads.append("tokens")
    header = "".join(f"<th{' class=num' if i in numeric else ''}>{head}</th>" for i, head in enumerate(heads))
    return f'<h2>In numbers</h2><div class="wide"><table><tr>{header}</tr>{"".join(rows)}</table></div>'


def _foot(record: EpisodeRecord) -> str:
    parts = [f"search {escape(record.search_id)}"] if record.search_id else []
    if record.path is not None:
        parts.append(f"bag {escape(record.path.name)}")
    if record.head.view:
        parts.append(f"views {escape(record.head.view)}")
    parts += [
        f"reachable {axis} {limits[0]:.0f}° to {limits[1]:.0f}°"
        for axis, limits in (("yaw", record.head.yaw_deg), ("pitch", record.head.pitch_deg))
        if limits is not None and limits != (-90.0, 90.0)
    ]
    if record.outcome is not None:
        parts.append(f"outcome {escape(record.outcome.value)}{': ' + escape(record.message) if record.message else ''}")
    known = {"policy": dict(record.parameters), **{k: v for k, v in record.info.items() if k in ("nodes", "versions")}}
    settings = escape(json.dumps(known, indent=2, ensure_ascii=False, default=str))
    details = f"<details><summary>Settings and versions</summary><pre>{settings}</pre></details>"
    return f"<footer>{' · '.join(parts)}{details}</footer>"


def _box(target: Target) -> str:
    left, right = target.yaw_deg
    words = f"yaw {left:g}° to {right:g}°"
    if target.pitch_deg is not None:
        words += f", pitch {target.pitch_deg[0]:g}° to {target.pitch_deg[1]:g}°"
    return words


def _dated(record: EpisodeRecord) -> bool:
    # Simulated clocks begin at zero; their dates say nothing.
    return record.started_ns > 1_000_000_000 * 1_000_000_000
