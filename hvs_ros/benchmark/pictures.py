"""Are the pictures of a run fit for it? Asked before the first episode, not found out in the two-hundredth.

Decoding is the only full answer, and it takes a tenth of a second and more a picture. So a few pictures are decoded,
and of many only the files' structure is read, which still finds what is no picture, cut short or of another shape.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from hvs_ros.panorama import PictureError
from hvs_ros.panorama.picture import read_panorama

DECODED_BYTES = 64 * 1024 * 1024
"""Files that take no more in all are decoded."""

_CHUNK = 4 * 1024 * 1024
_MOST_THREADS = 4
"""Each may hold a panorama of half a gigabyte."""
_SKETCH = (64, 32)
_ALIKE = 1.0
"""Mean difference of two sketches, of 255, below which they are of one picture: a few times what JPEG makes of it."""


@dataclass(frozen=True)
class PictureCheck:
    """What is known of a picture.

    Attributes:
        path: of the file.
        problem: what is wrong with it, with its name; empty where nothing is.
        sketch: (32, 64) uint8, what it shows, in grey; None where it was not decoded.
    """

    path: Path
    problem: str = ""
    sketch: NDArray[np.uint8] | None = field(default=None, repr=False, compare=False)


def broken_pictures(paths: Sequence[Path], *, decode: bool | None = None) -> list[str]:
    """Return what is wrong with the pictures: a line for each broken one, with its name.

    Args:
        paths: panoramas.
        decode: look at the pixels of each; None: where that does not take long.
    """
    return [check.problem for check in check_pictures(paths, decode=decode) if check.problem]


def check_pictures(paths: Sequence[Path], *, decode: bool | None = None) -> Iterator[PictureCheck]:
    """Yield a check of each picture, in order; arguments as for ``broken_pictures``."""
    if decode is None:
        decode = sum(path.stat().st_size for path in paths if path.exists()) <= DECODED_BYTES
    with ThreadPoolExecutor(min(_MOST_THREADS, os.cpu_count() or 1)) as pool:
        yield from pool.map(_decoded if decode else _read, paths)


def same_files(paths: Iterable[Path]) -> list[list[Path]]:
    """Return groups of files that are the same, byte for byte; only files of the same size are read."""

    def size(path: Path) -> int:
        return path.stat().st_size

    groups: list[list[Path]] = []
    for _, of_a_size in groupby(sorted(paths, key=lambda path: (size(path), path)), key=size):
        group = list(of_a_size)
        if len(group) > 1:
            by_digest: dict[str, list[Path]] = {}
            for path in group:
                by_digest.setdefault(_digest(path), []).append(path)
            groups += [same for same in by_digest.values() if len(same) > 1]
    return sorted(groups)


def look_alike(checks: Sequence[PictureCheck]) -> list[tuple[Path, Path]]:
    """Return pairs of decoded pictures that show the same, each with the first of its kind."""
    seen = [check for check in checks if check.sketch is not None]
    sketches = np.array([check.sketch for check in seen], np.float32).reshape(len(seen), _SKETCH[0] * _SKETCH[1])
    pairs: list[tuple[Path, Path]] = []
    for number in range(1, len(seen)):
        difference: NDArray[Any] = np.abs(sketches[:number] - sketches[number]).mean(axis=1)
        alike = np.flatnonzero(difference < _ALIKE)
        if alike.size:
            pairs.append((seen[int(alike[0])].path, seen[number].path))
    return pairs


def _decoded(path: Path) -> PictureCheck:
    try:
        image = read_panorama(path).decode().image
    except PictureError as error:
        return PictureCheck(path, str(error))
    small = cv2.resize(np.ascontiguousarray(image), _SKETCH, interpolation=cv2.INTER_AREA)
    return PictureCheck(path, sketch=np.asarray(cv2.cvtColor(small, cv2.COLOR_BGR2GRAY), np.uint8))


def _read(path: Path) -> PictureCheck:
    try:
        read_panorama(path).check()
    except PictureError as error:
        return PictureCheck(path, str(error))
    return PictureCheck(path)


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
