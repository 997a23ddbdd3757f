"""The worst searches of a benchmark, view by view.

What the policy saw is drawn again with what it could not see: the target's box, and what would have been accepted. All
words are a model's or a stranger's and go through ``clipped``, which escapes them and bounds their length.
"""

from __future__ import annotations

from dataclasses import replace
from html import escape

from hvs_ros.angles import Direction, yaw_difference_deg
from hvs_ros.benchmark.record import TurnRecord
from hvs_ros.benchmark.reports import record_of
from hvs_ros.benchmark.result import EpisodeResult
from hvs_ros.panorama import Camera, visible_fraction
from hvs_ros.recording.episode import RecordedHead, RecordedTurn
from hvs_ros.report.bench_views import NoViewsError, Place, Places, submitted_mark, target_lines
from hvs_ros.report.bench_worst import Worst
from hvs_ros.report.chart import chart
from hvs_ros.report.command import command
from hvs_ros.report.words import degrees
from hvs_ros.search.decision import ParseStatus
from hvs_ros.search.task import LEVEL_NAMES, Target

STRIP_BYTES = 330_000
"""For the pictures of one search, as JPEG; a third more in the page."""
MAP_BYTES = 70_000
VIEW_BYTES = 40_000
MOST_LETTERS = 1200
"""Of a text in a strip."""
KEYS = (
    ("k-target", "target"),
    ("k-accepted", "accepted"),
    ("k-answer bad", "submitted"),
    ("k-cross green", "middle of the view, as marked for the policy (drawn larger)"),
    ("k-gaze", "way of the gaze"),
)


def strip(number: int, worst: Worst, places: Places, policy: str) -> str:
    """Return one search as HTML.

    Args:
        number: its rank, from 1.
        worst: the search.
        places: where its scene is found.
        policy: name of the policy.
    """
    result = worst.result
    problem, place = "", None
    try:
        place = places.open(result)
    except NoViewsError as error:
        problem = f'<p class="note">No views: {clipped(str(error), 300)}.</p>'
    record = record_of(result, policy)
    turns = "".join(
        _turn(result, turn, recorded, place, places.camera)
        for turn, recorded in zip(result.record.turns, record.turns, strict=True)
    )
    return (
        f'<section class="strip"><div class="strip-head"><div><header><span class="n">{number}</span>'
        f'<span class="badge bad">{escape(_verdict(worst))}</span></header><h3>{clipped(result.instruction, 400)}</h3>'
        f"{_facts(result)}{problem}</div>{_map(result, policy, place, places.camera)}</div>"
        f'<div class="shots">{turns or "<p>There was no turn.</p>"}</div></section>'
    )


def clipped(text: str, most: int = MOST_LETTERS) -> str:
    """Return a text escaped for HTML, cut where it is long."""
    text = text.strip()
    if len(text) <= most:
        return escape(text)
    return f'{escape(text[:most])}<span class="cut"> … {len(text) - most:,} more letters</span>'


def whereabouts(camera: Camera, direction: Direction, target: Target) -> str:
    """Return in words where a target is for who looks in a direction."""
    visible = visible_fraction(camera, direction, target.yaw_deg, target.pitch_deg)
    if visible >= 0.5:
        return "target in view"
    if visible > 0.0:
        return "target partly in view"
    away = yaw_difference_deg(target.center.yaw_deg, direction.yaw_deg)
    words = f"target {abs(away):.0f}° {'right' if away >= 0 else 'left'}"
    up = target.center.pitch_deg - direction.pitch_deg
    if target.pitch_deg is not None and abs(up) >= 20.0:
        words += f", {abs(up):.0f}° {'up' if up > 0 else 'down'}"
    return words


def _verdict(worst: Worst) -> str:
    off = f"{worst.off_deg:.1f}°"
    if worst.answered:
        return f"wrong direction, {off} outside of what is accepted"
    return "no submission" + ("" if worst.off_deg != worst.off_deg else f", looked {off} outside at the end")


def _facts(result: EpisodeResult) -> str:
    level = f", {LEVEL_NAMES[result.kind][result.level]}" if result.level is not None else ""
    record = result.record
    facts = [
        ("episode", result.episode_id),
        ("task", f"{result.kind.value} search{level}"),
        ("began at", degrees(result.start)),
        ("target", _box(result.target) if result.target else ""),
        ("submitted", degrees(record.submitted) if record.submitted else "nothing"),
        ("looked at", degrees(record.looking) if record.looking else ""),
        ("turns", f"{len(record.turns)} of {result.max_turns}"),
        ("turned", f"{record.travel_deg:.0f}°"),
    ]
    return f'<ul class="facts">{"".join(f"<li>{k} <b>{clipped(v, 200)}</b></li>" for k, v in facts if v)}</ul>'


def _box(target: Target) -> str:
    words = f"yaw {target.yaw_deg[0]:g}° to {target.yaw_deg[1]:g}°"
    return words + (f", pitch {target.pitch_deg[0]:g}° to {target.pitch_deg[1]:g}°" if target.pitch_deg else "")


def _map(result: EpisodeResult, policy: str, place: Place | None, camera: Camera | None) -> str:
    record = record_of(result, policy)
    if camera is not None:
        head = RecordedHead(width=camera.width, height=camera.height, hfov_deg=camera.hfov_deg)
        record = replace(record, head=head)
    picture = None if place is None else place.map(MAP_BYTES)
    return f'<div class="strip-map">{chart(record, result.target, result.start, picture, success=False)}</div>'


def _turn(
    result: EpisodeResult, turn: TurnRecord, recorded: RecordedTurn, place: Place | None, camera: Camera | None
) -> str:
    direction = turn.direction
    where = "" if camera is None or result.target is None else whereabouts(camera, direction, result.target)
    submitted = result.record.submitted
    if submitted is not None and turn is result.record.turns[-1]:
        where += f"; submitted {submitted.angle_to_deg(direction):.0f}° from where it looked"
    status = turn.status.value if turn.status is not ParseStatus.OK else ""
    badges = f'<span class="badge bad">{escape(status)}</span>' if status else ""
    badges += '<span class="badge open">a guess</span>' if turn.guess else ""
    thought = f'<p class="thought">{clipped(turn.thought)}</p>' if turn.thought.strip() else ""
    raw = turn.raw.strip()
    if raw and raw != turn.thought.strip():
        opened = "" if turn.action is not None else " open"  # what was no action is what one wants to read
        raw = f"<details{opened}><summary>Answer as it came</summary><pre>{clipped(raw)}</pre></details>"
    else:
        raw = ""
    return (
        f'<article class="shot-card">{_view(result, turn, place)}<header><span class="n">{turn.number}</span>'
        f'<span class="at">{degrees(direction)}</span>{badges}</header><p class="where">{where}</p>'
        f'<div class="command">{escape(command(recorded))}</div>{thought}{raw}</article>'
    )


def _view(result: EpisodeResult, turn: TurnRecord, place: Place | None) -> str:
    if place is None:
        return ""
    camera, target = place.camera, result.target
    limit = min(VIEW_BYTES, (STRIP_BYTES - MAP_BYTES) // max(1, len(result.record.turns)))
    picture = place.view(turn.direction, limit)
    overlay = "" if target is None else target_lines(camera, turn.direction, target)
    x, y = camera.width / 2, camera.height / 2
    overlay += "".join(
        f'<path class="v-cross{halo}" d="M{x - 7:.1f},{y:.1f}h14M{x:.1f},{y - 7:.1f}v14"/>' for halo in (" halo", "")
    )
    record = result.record
    if turn is record.turns[-1] and record.submitted is not None:
        overlay += submitted_mark(camera, turn.direction, record.submitted)
    label = escape(f"View of turn {turn.number}, {degrees(turn.direction)}", quote=True)
    return (
        f'<svg class="shot-view" viewBox="0 0 {camera.width} {camera.height}" role="img" aria-label="{label}">'
        f'<image href="{picture.address}" width="{camera.width}" height="{camera.height}" preserveAspectRatio="none"/>'
        f"{overlay}</svg>"
    )
