"""The map of an episode: the panorama, where the head looked one after the other, the answer and what was submitted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from hvs_ros.angles import Direction
from hvs_ros.recording.episode import EpisodeRecord
from hvs_ros.report.geometry import Point, centered, outline, path, point, visible_turns
from hvs_ros.report.pictures import Inline
from hvs_ros.search.scoring import accepted_pitch_deg, accepted_yaw_deg
from hvs_ros.search.task import Target

NEAR_DEG = 3.0
"""Views closer to each other than this share a mark."""
DEFAULT_ASPECT = 16 / 9


def chart(
    record: EpisodeRecord,
    target: Target | None,
    start: Direction | None,
    picture: Inline | None,
    *,
    success: bool | None,
    small: bool = False,
) -> str:
    """Return the map as SVG.

    Args:
        record: of the episode.
        target: the answer; None: not known.
        start: where the head looked first; None: where the first view looks.
        picture: the panorama, level; None: a plain grid.
        success: the verdict; None: there is none.
        small: for a table: no words, no views' borders, and only the middle pitches.
    """
    parts = [_ground(picture)]
    if target is not None:
        parts.append(_target(target))
    if not small:
        parts += [_border(record, turn.direction) for turn in record.turns]
    parts.append(_gaze(record, start, small=small))
    if record.submitted is not None:
        parts.append(_submitted(record.submitted, success, small=small))
    top, height = (30, 120) if small else (0, 180)
    label = escape(f"Gaze path of {len(record.turns)} turns", quote=True)
    name = "map small" if small else "map"
    return (
        f'<svg class="{name}" viewBox="-180 {top} 360 {height}" role="img" aria-label="{label}" '
        f'preserveAspectRatio="xMidYMid slice">{"".join(parts)}</svg>'
    )


def _ground(picture: Inline | None) -> str:
    if picture is not None:
        image = (
            f'<image href="{picture.address}" x="-180" y="0" width="360" height="180" preserveAspectRatio="none"/>'
            '<rect class="veil" x="-180" y="0" width="360" height="180"/>'
        )
    else:
        image = '<rect class="empty" x="-180" y="0" width="360" height="180"/>'
    lines = "".join(f'<line class="grid" x1="{x}" y1="0" x2="{x}" y2="180"/>' for x in range(-150, 180, 30))
    lines += "".join(f'<line class="grid" x1="-180" y1="{y}" x2="180" y2="{y}"/>' for y in (30, 60, 90, 120, 150))
    texts = "".join(
        f'<text class="tick" x="{x}" y="178" text-anchor="middle">{x % 360}°</text>' for x in range(-150, 180, 30)
    )
    texts += "".join(
        f'<text class="tick" x="-178" y="{90 - pitch + 1.2:g}">{pitch:+d}°</text>' for pitch in (60, 30, -30, -60)
    )
    return image + lines + texts


def _target(target: Target) -> str:
    left, right = accepted_yaw_deg(target)
    low, high = accepted_pitch_deg(target)
    box_low, box_high = target.pitch_deg or (-90.0, 90.0)
    return _box("accepted", left, right, low, high) + _box("target", *target.yaw_deg, box_low, box_high)


def _box(name: str, left: float, right: float, low: float, high: float) -> str:
    """Return a box on the sphere; one that crosses the edge of the map comes out on both sides."""
    width = right - left if right >= left else right - left + 360.0
    x = centered(left)
    return "".join(
        f'<rect class="{name}" x="{x + turn:.2f}" y="{90 - high:.2f}" width="{width:.2f}" height="{high - low:.2f}"/>'
        for turn in visible_turns([(x, 0.0), (x + width, 0.0)])
    )


def _border(record: EpisodeRecord, direction: Direction) -> str:
    head = record.head
    if not head.hfov_deg:
        return ""
    aspect = head.width / head.height if head.width and head.height else DEFAULT_ASPECT
    return _line("view", outline(direction, head.hfov_deg, aspect))


def _line(name: str, points: Sequence[Point]) -> str:
    text = " ".join(f"{x:.2f},{y:.2f}" for x, y in points)
    return "".join(
        f'<polyline class="{name}" points="{text}"' + (f' transform="translate({turn:g})"/>' if turn else "/>")
        for turn in visible_turns(points)
    )


def _gaze(record: EpisodeRecord, start: Direction | None, *, small: bool) -> str:
    seen = [turn.direction for turn in record.turns]
    if not seen:
        return _circle("stop", point(start), "", small=small) if start is not None else ""
    last = record.turns[-1].after
    way = path([*seen, last] if last.angle_to_deg(seen[-1]) > 0.05 else seen)
    arrows = "".join(_arrow(way[i], way[i + 1]) for i in range(len(way) - 1))
    marks = []
    for direction, numbers in _places(seen):
        kind = "start" if 1 in numbers else "stop"
        marks.append(_circle(kind, point(direction), "" if small else "·".join(map(str, numbers)), small=small))
    return _line("gaze halo", way) + _line("gaze", way) + arrows + "".join(marks)


def _places(seen: Sequence[Direction]) -> list[tuple[Direction, list[int]]]:
    """Return the places that were looked at, each with the numbers of its turns."""
    places: list[tuple[Direction, list[int]]] = []
    for number, direction in enumerate(seen, start=1):
        for place, numbers in places:
            if place.angle_to_deg(direction) < NEAR_DEG:
                numbers.append(number)
                break
        else:
            places.append((direction, [number]))
    return places


def _arrow(begin: Point, end: Point) -> str:
    """Return an arrow head in the middle of a line, turned along it."""
    dx, dy = end[0] - begin[0], end[1] - begin[1]
    if math.hypot(dx, dy) < 2 * NEAR_DEG:
        return ""
    x, y = begin[0] + 0.55 * dx, begin[1] + 0.55 * dy
    angle = math.degrees(math.atan2(dy, dx))
    return "".join(
        f'<path class="arrow" d="M-2,-1.7 L2,0 L-2,1.7 Z" '
        f'transform="translate({x + turn:.2f},{y:.2f}) rotate({angle:.1f})"/>'
        for turn in visible_turns([(x, y)])
    )


def _circle(kind: str, at: Point, text: str, *, small: bool) -> str:
    radius = 2.6 if len(text) < 2 else 2.6 + 0.9 * (len(text) - 1)
    scale = 1.8 if small else 1.0
    # On the edge it would be cut in half.
    room = 180 - (radius + 0.4) * scale
    x = max(-room, min(room, at[0]))
    words = f'<text class="number" y="1.15" text-anchor="middle">{text}</text>' if text else ""
    shape = f'<rect x="{-radius:.1f}" y="-2.6" width="{2 * radius:.1f}" height="5.2" rx="2.6"/>'
    return f'<g class="{kind}" transform="translate({x:.2f},{at[1]:.2f}) scale({scale:g})">{shape}{words}</g>'


def _submitted(direction: Direction, success: bool | None, *, small: bool) -> str:
    x, y = point(direction)
    verdict = {True: "good", False: "bad", None: "open"}[success]
    return (
        f'<g class="answer {verdict}" transform="translate({x:.2f},{y:.2f}) scale({2 if small else 1})">'
        '<circle class="ring halo" r="4.6"/><circle class="ring" r="4.6"/>'
        '<path class="hair halo" d="M0,-7.5 V-2.8 M0,2.8 V7.5 M-7.5,0 H-2.8 M2.8,0 H7.5"/>'
        '<path class="hair" d="M0,-7.5 V-2.8 M0,2.8 V7.5 M-7.5,0 H-2.8 M2.8,0 H7.5"/></g>'
    )
