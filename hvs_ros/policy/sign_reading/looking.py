"""Turns a view into sightings: reads it, matches what it says with the request, looks for arrows beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hvs_ros.angles import Direction
from hvs_ros.panorama.camera import Camera
from hvs_ros.panorama.inverse import pixel_to_direction
from hvs_ros.policy.sign_reading.arrows import find_arrow
from hvs_ros.policy.sign_reading.lines import Line, Quad, Reading, readings
from hvs_ros.policy.sign_reading.mark import without_cross
from hvs_ros.policy.sign_reading.matching import match
from hvs_ros.policy.sign_reading.ocr import TextReader
from hvs_ros.policy.sign_reading.request import Request
from hvs_ros.policy.sign_reading.sighting import Sighting, SightingKind
from hvs_ros.policy.sign_reading.words import arrow_in, tokens
from hvs_ros.search.view import Observation

LEAST_SCORE = 0.2
"""Matches below are not worth remembering."""
_CLOSE_WIDTH = 0.45
"""Part of the view's width that a second look enlarges."""
_CLOSE_PIXELS = 1400
_SMALL_PIXELS = 14.0
_EDGE_PIXELS = 4
_CERTAIN = 0.75
"""Confidence from which on a line says what it seems to say."""
_STEEP_DEG = 30.0
"""Looking up or down more than this, text may stand on its head."""


@dataclass(frozen=True)
class Seen:
    """What one view showed.

    Attributes:
        sightings: signs that fit, best first.
        texts: everything that was read.
        words: where that is, in the same order.
        unread: directions of writing too small to be read with certainty.
    """

    sightings: list[Sighting]
    texts: list[str]
    words: list[Direction]
    unread: list[Direction]


class Looker:
    """Reads views.

    Args:
        reader: finds and reads text.
    """

    def __init__(self, reader: TextReader) -> None:
        self._reader = reader

    def look(self, observation: Observation, request: Request) -> Seen:
        """Read a whole view."""
        steep = abs(observation.direction.pitch_deg) > _STEEP_DEG
        lines = self._reader.read(without_cross(observation.image), any_way_up=steep)
        return _seen(observation, request, lines, close=False)

    def look_closely(self, observation: Observation, request: Request, size_deg: float = 0.0) -> Seen:
        """Read the middle of a view, enlarged.

        Args:
            observation: the view.
            request: what is wanted.
            size_deg: how wide the thing in the middle is.
        """
        height, width = observation.image.shape[:2]
        part = min(1.0, max(_CLOSE_WIDTH, 1.6 * size_deg / observation.hfov_deg))
        half_w, half_h = int(width * part / 2), int(height * part / 2)
        box = (width // 2 - half_w, height // 2 - half_h, width // 2 + half_w, height // 2 + half_h)
        zoom = max(1.0, min(2.5, _CLOSE_PIXELS / (2 * half_w)))
        steep = abs(observation.direction.pitch_deg) > _STEEP_DEG
        lines = self._reader.read_part(without_cross(observation.image), box, zoom, any_way_up=steep)
        return _seen(observation, request, lines, close=True)


def camera_of(observation: Observation) -> Camera:
    """Return the pinhole camera that a view was taken with."""
    height, width = observation.image.shape[:2]
    return Camera(width, height, observation.hfov_deg)


def _seen(observation: Observation, request: Request, lines: Sequence[Line], *, close: bool) -> Seen:
    camera = camera_of(observation)
    words = [_as_seen(line, camera) for line in lines if tokens(line.text)]
    words = [line for line in words if line.confidence > 0.0]
    sightings: list[Sighting] = []
    for reading in readings(words):
        sighting = _sighting(observation, camera, request, reading, words, close)
        if sighting is not None:
            sightings.append(sighting)
    certain = [line for line in words if line.confidence >= _CERTAIN and len("".join(tokens(line.text))) > 1]
    unread = [line for line in words if _is_small_print(line, observation)]
    return Seen(
        sightings=_best_of_each(sightings),
        texts=[line.text for line in certain],
        words=[_direction(observation, camera, [line.quad]) for line in certain],
        unread=[] if close else [_direction(observation, camera, [line.quad]) for line in unread],
    )


def _as_seen(line: Line, camera: Camera) -> Line:
    """Return a line as far as it can be believed: one that the view's edge cuts may have lost letters, or digits."""
    left, right = float(line.quad[:, 0].min()), float(line.quad[:, 0].max())
    if left > _EDGE_PIXELS and right < camera.width - _EDGE_PIXELS:
        return line
    return replace(line, confidence=0.0 if any(c.isdigit() for c in line.text) else 0.6 * line.confidence)


def _is_small_print(line: Line, observation: Observation) -> bool:
    """Return whether a line looks like words that a closer look would read better."""
    height = line.height * 1280 / observation.image.shape[1]
    long_enough = line.width > 1.2 * line.height and len("".join(tokens(line.text))) > 2
    return long_enough and (height < _SMALL_PIXELS or line.confidence < _CERTAIN)


def _sighting(
    observation: Observation, camera: Camera, request: Request, reading: Reading, words: Sequence[Line], close: bool
) -> Sighting | None:
    found = match(request, reading.text)
    if found is None or found.score * _trust(reading.confidence) < LEAST_SCORE:
        return None
    touched = reading.touched(found.span)
    if len(touched) < len(reading.lines):
        return None  # a smaller reading says the same
    quads = reading.quads(found.span)
    direction = _direction(observation, camera, quads)
    points = np.concatenate(quads)
    size_deg = float(np.degrees(np.ptp(points[:, 0]) / camera.fx))
    arrow = arrow_in(reading.text) or _arrow(observation, reading, words)
    return Sighting(
        kind=SightingKind.SIGN,
        direction=direction,
        text=reading.text,
        score=found.score * _trust(reading.confidence),
        fits=found.wanted.label,
        arrow=arrow,
        size_deg=size_deg,
        turn=observation.turn,
        close=close,
    )


def _arrow(observation: Observation, reading: Reading, words: Sequence[Line]) -> str | None:
    others = [line for line in words if line not in reading.lines]
    for line in reading.lines:
        arrow = find_arrow(observation.image, line, [*others, *(item for item in reading.lines if item is not line)])
        if arrow is not None:
            return arrow.direction
    return None


def _trust(confidence: float) -> float:
    """Return what a reading is worth by the reader's confidence."""
    return min(1.0, 0.55 + 0.5 * confidence)


def _direction(observation: Observation, camera: Camera, quads: Sequence[Quad]) -> Direction:
    """Return the direction of the middle of all corners."""
    points = np.concatenate(list(quads))
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    # A pixel's number names its centre, which is half a pixel from its corner.
    yaw, pitch = pixel_to_direction(camera, observation.direction, middle[0] + 0.5, middle[1] + 0.5)
    return Direction(float(yaw), float(pitch))


def _best_of_each(sightings: list[Sighting]) -> list[Sighting]:
    """Return one sighting a place, the best; of equal ones the one with fewer words."""
    kept: list[Sighting] = []
    for item in sorted(sightings, key=lambda s: (-round(s.score, 3), len(s.text))):
        double = next((known for known in kept if _overlap(known, item)), None)
        if double is None:
            kept.append(item)
        elif double.arrow is None and item.arrow is not None and item.score > 0.8 * double.score:
            kept[kept.index(double)] = replace(double, arrow=item.arrow)
    return kept


def _overlap(a: Sighting, b: Sighting) -> bool:
    return a.direction.angle_to_deg(b.direction) < max(1.5, 0.6 * max(a.size_deg, b.size_deg))
