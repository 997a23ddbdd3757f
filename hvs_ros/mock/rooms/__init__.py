"""Draws rooms to search in: panoramas of invented interiors whose every target is known exactly.

A photograph's targets have to be measured by hand, and few photographs may be given away. So the sample scenes, and the
many scenes that tests and benchmarks want, are built as rooms of simple surfaces (``station``, ``shop``,
``corridor``, ``library``), lit (``light``) and seen from a point in their middle (``render``). The same seed gives the
same rooms. ``python -m hvs_ros.mock.rooms OUT`` writes them as scene folders; Pillow and OpenCV are needed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from hvs_ros.mock.rooms import corridor, library, shop, station
from hvs_ros.mock.rooms.geometry import Array
from hvs_ros.mock.rooms.light import bake
from hvs_ros.mock.rooms.render import Drawing, render
from hvs_ros.mock.rooms.room import EYE, Room
from hvs_ros.mock.rooms.tasks import annotate

__all__ = ["KINDS", "Drawing", "Sample", "build_room", "draw_room", "draw_scene", "write_scenes"]

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


def draw_room(room: Room, width: int) -> Drawing:
    """Light and draw a room as a panorama of ``width`` x ``width // 2`` pixels."""
    spacing, rays = (0.25, 28) if width > 2048 else (0.5, 12) if width >= 1024 else (0.9, 6)
    bake(room.shapes, room.lamps, room.blocks, room.ambient, spacing, rays)
    return render(room.shapes, EYE, width)


def draw_scene(kind: str, seed: int, width: int = 4096, tasks: int = 5, starts: int = 1) -> Sample:
    """Draw one scene.

    Args:
        kind: a name of ``KINDS``.
        seed: which of the endless number of such rooms.
        width: of the picture [pixels], twice its height.
        tasks: as many as this, if as many can be seen.
        starts: start directions of each task.
    """
    room = build_room(kind, seed)
    items = annotate(room, tasks, starts)
    return Sample(draw_room(room, width).image, items)


def write_scenes(
    out: Path,
    seed: int = 0,
    scenes: int = len(KINDS),
    width: int = 4096,
    tasks: int = 5,
    starts: int = 1,
    quality: int = 88,
) -> list[Path]:
    """Draw scenes, the kinds in turn, and write each as a scene folder; return the folders."""
    out.mkdir(parents=True, exist_ok=True)
    folders = []
    for number in range(scenes):
        kind = list(KINDS)[number % len(KINDS)]
        name = kind if scenes <= len(KINDS) else f"{kind}_{number // len(KINDS) + 1:02d}"
        sample = draw_scene(kind, seed + number // len(KINDS), width, tasks, starts)
        folder = out / name
        folder.mkdir(exist_ok=True)
        _, jpeg = cv2.imencode(".jpg", sample.image, [cv2.IMWRITE_JPEG_QUALITY, quality, cv2.IMWRITE_JPEG_OPTIMIZE, 1])
        (folder / f"{name}.jpg").write_bytes(jpeg.tobytes())
        lines = ",\n".join(" " + json.dumps(item, ensure_ascii=False) for item in sample.annotation)
        (folder / "annotation.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
        folders.append(folder)
    return folders
