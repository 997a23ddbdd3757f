"""Writes drawn rooms in the layout of the published data set: one folder a scene, or one of them in each split.

Scenes have nothing to do with each other, so they are drawn in several processes where there are cores for it; each
comes out the same in whichever it is drawn.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal

import cv2

from hvs_ros.mock.rooms.scene import KINDS, Sample, draw_scene
from hvs_ros.mock.rooms.tasks import Starts

SPLITS = {"hos_bench": True, "hps_bench": False}
"""The published splits, and whether their tasks have a pitch: object search has, path search has not."""


@dataclass(frozen=True)
class Order:
    """What is to be drawn.

    Attributes:
        seed: which rooms.
        scenes: how many, the kinds of room in turn.
        width: of the pictures [pixels], twice their height.
        tasks: at most so many in a room.
        starts: of each task, as for ``annotate``.
        format: of the pictures.
        quality: of JPEG files, 1 to 100.
        splits: objects and ways in folders of their own, as in ``SPLITS``; a room with both is in both.
    """

    seed: int = 0
    scenes: int = len(KINDS)
    width: int = 4096
    tasks: int = 5
    starts: Starts = 1
    format: Literal["jpg", "png"] = "jpg"
    quality: int = 88
    splits: bool = False

    def scene(self, number: int) -> tuple[str, str, int]:
        """Return the name, the kind of room and the seed of a scene."""
        kind, turn = list(KINDS)[number % len(KINDS)], number // len(KINDS)
        # So many digits that names sort as they were numbered.
        digits = max(2, len(str((self.scenes - 1) // len(KINDS) + 1)))
        return kind if self.scenes <= len(KINDS) else f"{kind}_{turn + 1:0{digits}d}", kind, self.seed + turn


def write_scenes(out: Path, order: Order, jobs: int = 1) -> Iterator[Path]:
    """Draw scenes and write them, and return their folders, each when it is there.

    Args:
        out: gets the folders.
        order: what.
        jobs: so many processes; 1: this one.

    Raises:
        OSError: a file cannot be written.
    """
    out.mkdir(parents=True, exist_ok=True)
    if jobs == 1:
        for number in range(order.scenes):
            yield from _write(out, order, number)
        return
    # Spawned, as a process that has threads cannot be forked in safety, and OpenCV has.
    with ProcessPoolExecutor(jobs, get_context("spawn"), initializer=cv2.setNumThreads, initargs=(1,)) as pool:
        for folders in pool.map(_Alone(out, order), range(order.scenes), chunksize=min(4, -(-order.scenes // jobs))):
            yield from folders


@dataclass(frozen=True)
class _Alone:
    """Draws a scene in a process that has a core to itself."""

    out: Path
    order: Order

    def __call__(self, number: int) -> list[Path]:
        return _write(self.out, self.order, number, threads=1)


def _write(out: Path, order: Order, number: int, threads: int = 2) -> list[Path]:
    name, kind, seed = order.scene(number)
    sample = draw_scene(kind, seed, order.width, order.tasks, order.starts, threads)
    picture = _encoded(sample, order)
    parts = {out / name: sample.annotation}
    if order.splits:
        parts = {
            out / split / name: [item for item in sample.annotation if ("pitch" in item) == pitch]
            for split, pitch in SPLITS.items()
        }
    written = []
    for folder, items in parts.items():
        if items:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{name}.{order.format}").write_bytes(picture)
            (folder / "annotation.json").write_text(_listed(items), encoding="utf-8")
            written.append(folder)
    return written


def _encoded(sample: Sample, order: Order) -> bytes:
    options = [] if order.format == "png" else [cv2.IMWRITE_JPEG_QUALITY, order.quality, cv2.IMWRITE_JPEG_OPTIMIZE, 1]
    return bytes(cv2.imencode(f".{order.format}", sample.image, options)[1])


def _listed(items: list[dict[str, Any]]) -> str:
    lines = ",\n".join(" " + json.dumps(item, ensure_ascii=False) for item in items)
    return f"[\n{lines}\n]\n"
