"""The opening that an arrow beside it points at: where the wall under a sign ends and something else begins.

A sign stands on a wall. Along the horizon, the wall beside it looks like the wall below it until a door, a passage or a
window interrupts it. This compares columns of the view with those below the sign; it knows nothing of depth, so
what it finds is likely, not certain.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from hvs_ros.angles import Direction
from hvs_ros.panorama.inverse import direction_to_pixel
from hvs_ros.policy.sign_reading.looking import camera_of
from hvs_ros.policy.sign_reading.sighting import Sighting, SightingKind
from hvs_ros.search.view import Observation

REACH_DEG = 60.0
"""How far from the sign an opening is looked for."""
_STEP_DEG = 0.5
_WALL_DEG = 1.5
"""Half the width of the wall below the sign that the rest is compared with."""
_LEAST_DEG, _MOST_DEG = 5.0, 50.0
_DIFFERENT = 16.0
"""Distance in Lab colour (0..255 a channel) from which a column is no longer that wall."""


def find_opening(observation: Observation, sign: Sighting) -> Sighting | None:
    """Return the nearest opening on the side to which a sign's arrow points; None when the view shows none."""
    side = sign.side
    if side == 0:
        return None
    camera = camera_of(observation)
    top = min(sign.direction.pitch_deg - 2.0, 4.0)
    pitches = np.linspace(top - 10.0, top, 21)
    offsets = np.arange(-_WALL_DEG, REACH_DEG, _STEP_DEG) * side
    u, v = direction_to_pixel(
        camera, observation.direction, (sign.direction.yaw_deg + offsets)[None, :], pitches[:, None]
    )
    visible = np.asarray(camera.contains(u, v).all(axis=0))
    if not visible[: round(2 * _WALL_DEG / _STEP_DEG)].all():
        return None
    length = int(np.argmin(visible)) if not visible.all() else len(visible)
    # A pixel's number names its centre, which is half a pixel from its corner.
    columns, rows = (u[:, :length] - 0.5).astype(np.float32), (v[:, :length] - 0.5).astype(np.float32)
    strip = cv2.remap(observation.image, columns, rows, cv2.INTER_LINEAR)
    lab = cv2.cvtColor(strip, cv2.COLOR_BGR2LAB).astype(np.float32)
    wall = np.median(lab[:, : round(2 * _WALL_DEG / _STEP_DEG) + 1], axis=(0, 1))
    different = np.median(np.linalg.norm(lab - wall, axis=2), axis=0) > _DIFFERENT
    run = _first_run(different, round(_LEAST_DEG / _STEP_DEG), round(_MOST_DEG / _STEP_DEG))
    if run is None:
        return None
    middle = float(offsets[(run[0] + run[1]) // 2])
    direction = Direction(sign.direction.yaw_deg + middle, 0.0).normalized()
    return Sighting(
        kind=SightingKind.OPENING,
        direction=direction,
        text="opening",
        score=0.9 * sign.score,
        fits=sign.fits,
        size_deg=(run[1] - run[0]) * _STEP_DEG,
        turn=observation.turn,
    )


def _first_run(marked: NDArray[np.bool_], least: int, most: int) -> tuple[int, int] | None:
    """Return the first run of marked columns (start, end) of a length between the two; small gaps count as marked."""
    closed = cv2.morphologyEx(marked.astype(np.uint8)[None, :], cv2.MORPH_CLOSE, np.ones((1, 5), np.uint8))[0]
    edges = np.flatnonzero(np.diff(np.concatenate([[0], closed, [0]])))
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        if least <= end - start <= most:
            return int(start), int(end)
    return None
