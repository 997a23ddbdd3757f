"""One scene: a room of some kind, built, lit and drawn, with what may be searched for in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hvs_ros.mock.rooms import corridor, library, shop, station
from hvs_ros.mock.rooms.geometry import Array
from hvs_ros.mock.rooms.light import bake
from hvs_ros.mock.rooms.render import Drawing, render
from hvs_ros.mock.rooms.room import EYE, Room
from hvs_ros.mock.rooms.tasks import Starts, annotate

KINDS: dict[str, Callable[[Room], None]] = {
    "station_hall": station.build,
    "shop": shop.build,
    "corridor_junction": corridor.build,
    "library": library.build,
}
"""Rooms by name."""


@dataclass(frozen=True)
class Sample:
    """A drawn scene.

    Attributes:
        image: (H, W, 3) BGR uint8, equirectangular.
        annotation: the items of its ``annotation.json``.
    """

    image: Array
    annotation: list[dict[str, Any]]


def build_room(kind: str, seed: int) -> Room:
    """Return a room of a kind of ``KINDS``, not yet drawn; unlike for every seed."""
    room = Room(np.random.default_rng([seed, list(KINDS).index(kind)]))
    KINDS[kind](room)
    return room


def draw_room(room: Room, width: int, threads: int = 2) -> Drawing:
    """Light and draw a room as a panorama of ``width`` x ``width // 2`` pixels, the same with however many threads."""
    spacing, rays = (0.25, 28) if width > 2048 else (0.5, 12) if width >= 1024 else (1.5, 4)
    # The small ones are drawn by the dozen, for tests; what they need is to be told apart.
    supersample = 2 if width >= 1024 else 1
    bake(room.shapes, room.lamps, room.blocks, room.ambient, spacing, rays, threads)
    return render(room.shapes, EYE, width, supersample, threads)


def draw_scene(kind: str, seed: int, width: int = 4096, tasks: int = 5, starts: Starts = 1, threads: int = 2) -> Sample:
    """Draw one scene.

    Args:
        kind: a name of ``KINDS``.
        seed: which of the endless number of such rooms.
        width: of the picture [pixels], twice its height.
        tasks: as many as this, if as many can be seen.
        starts: of each task, as for ``annotate``.
        threads: that draw.
    """
    room = build_room(kind, seed)
    items = annotate(room, tasks, starts)
    return Sample(draw_room(room, width, threads).image, items)
