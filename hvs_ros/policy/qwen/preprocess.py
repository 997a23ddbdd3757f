"""From a picture to the numbers that Qwen2.5-VL's vision tower is given.

They are those of the Hugging Face image processor (its Pillow version), which servers use as well: sides rounded to
multiples of 28 within a number of pixels, Pillow's bicubic filter with antialiasing on 8-bit values, normalisation,
patches. Pillow decodes and resizes here too, since nothing else rounds as it does. What makes it faster: bytes are
put in order before they become floats, by a table; and strips of the picture are done at the same time: rows where it
is resized across, columns where it is resized down, which Pillow does one after the other anyway.
"""

from __future__ import annotations

import importlib
import io
import math
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError
from hvs_ros.policy.conversation import Shown

RGB = NDArray[np.uint8]
"""Shape (height, width, 3)."""

BICUBIC = 3
"""As preprocessor_config.json numbers Pillow's filters."""
LONGEST_RATIO = 200
"""Of a picture's sides."""
MOST_THREADS = 8
"""For one picture; more only wait for the memory."""


@dataclass(frozen=True)
class PictureFormat:
    """How pictures become pixels.

    Attributes:
        min_pixels: smaller pictures are enlarged.
        max_pixels: larger pictures are shrunk.
        patch: pixels on a patch's side.
        merge: patches on the side of the square that becomes one token.
        temporal_patch: how often a picture is repeated in a patch.
        mean: subtracted from red, green and blue in 0..1.
        deviation: then divided by.
        scale: from a byte to 0..1.
    """

    min_pixels: int
    max_pixels: int
    patch: int
    merge: int
    temporal_patch: int
    mean: tuple[float, float, float]
    deviation: tuple[float, float, float]
    scale: float = 1 / 255

    @property
    def unit(self) -> int:
        """Pixels on the side of the square that becomes one token."""
        return self.patch * self.merge


@dataclass(frozen=True)
class PictureSize:
    """What becomes of a picture.

    Attributes:
        sent: width, height in pixels as sent.
        seen: width, height in pixels as the vision tower sees it.
        rows: of patches.
        columns: of patches.
        tokens: how many tokens of a prompt it fills.
    """

    sent: tuple[int, int]
    seen: tuple[int, int]
    rows: int
    columns: int
    tokens: int

    def __str__(self) -> str:
        return f"{self.sent[0]}x{self.sent[1]} seen as {self.seen[0]}x{self.seen[1]}, {self.tokens} image tokens"


@dataclass(frozen=True)
class Pixels:
    """A picture for the vision tower.

    Attributes:
        values: float32, shape (rows * columns, 3 * temporal_patch * patch * patch). Patches come square by square
            (those of one token together), squares in reading order; within a patch: colour, time, row, column.
        size: of the picture.
    """

    values: NDArray[np.float32]
    size: PictureSize


def picture_format(config: Mapping[str, Any], patch: int, merge: int, temporal_patch: int) -> PictureFormat:
    """Read a preprocessor_config.json.

    Args:
        config: its content.
        patch: as the vision tower has it.
        merge: as the vision tower has it.
        temporal_patch: as the vision tower has it.

    Raises:
        ValueError: it asks for something that is not done here; the message names it.
    """
    for name, expected in (
        ("do_resize", True),
        ("do_rescale", True),
        ("do_normalize", True),
        ("resample", BICUBIC),
        ("patch_size", patch),
        ("merge_size", merge),
        ("temporal_patch_size", temporal_patch),
    ):
        if config.get(name, expected) != expected:
            raise ValueError(f"preprocessor_config.json: {name} is {config[name]!r}, only {expected!r} is supported")
    size = config.get("size") or {}
    low, high = (
        config.get(name) if config.get(name) is not None else size.get(edge)
        for name, edge in (("min_pixels", "shortest_edge"), ("max_pixels", "longest_edge"))
    )
    if low is None or high is None or not 0 < int(low) <= int(high):
        raise ValueError(f"preprocessor_config.json: min_pixels is {low}, max_pixels {high}; 0 < min <= max is needed")
    mean, deviation = (tuple(float(value) for value in config[name]) for name in ("image_mean", "image_std"))
    if len(mean) != 3 or len(deviation) != 3:
        raise ValueError("preprocessor_config.json: image_mean and image_std need three values each")
    scale = float(config.get("rescale_factor", 1 / 255))
    return PictureFormat(int(low), int(high), patch, merge, temporal_patch, mean, deviation, scale)


def picture_size(width: int, height: int, form: PictureFormat) -> PictureSize:
    """Return what becomes of a picture of that size ("smart resize").

    Raises:
        PolicyError: it is far too long for its width, or has no pixels.
    """
    if min(width, height) < 1 or max(width, height) > LONGEST_RATIO * min(width, height):
        raise PolicyError(f"a picture of {width}x{height} pixels cannot be shown to Qwen2.5-VL: at most 200:1")
    unit = form.unit
    # Python rounds halves to even, as the processor does.
    seen = [round(side / unit) * unit for side in (width, height)]
    if math.prod(seen) > form.max_pixels:
        factor = math.sqrt(width * height / form.max_pixels)
        seen = [max(unit, math.floor(side / factor / unit) * unit) for side in (width, height)]
    elif math.prod(seen) < form.min_pixels:
        factor = math.sqrt(form.min_pixels / (width * height))
        seen = [math.ceil(side * factor / unit) * unit for side in (width, height)]
    columns, rows = (side // form.patch for side in seen)
    return PictureSize((width, height), (seen[0], seen[1]), rows, columns, rows * columns // form.merge**2)


def decode_picture(picture: Shown) -> RGB:
    """Return the pixels of a picture as it was sent.

    Raises:
        PolicyError: it cannot be decoded.
        PolicyUnavailableError: Pillow is not installed.
    """
    image = _pillow()
    try:
        with image.open(io.BytesIO(picture.data)) as opened:
            return np.asarray(opened.convert("RGB"))
    except Exception as error:  # Pillow raises many kinds
        raise PolicyError(f"a picture ({picture.media_type}) cannot be decoded: {error}") from error


def preprocess(rgb: RGB, form: PictureFormat) -> Pixels:
    """Return the vision tower's input for a picture, RGB uint8 of shape (height, width, 3).

    Raises:
        PolicyError: its sides cannot be.
        PolicyUnavailableError: Pillow is not installed.
    """
    pillow = _pillow()
    size = picture_size(rgb.shape[1], rgb.shape[0], form)
    if not all(seen >= sent for seen, sent in zip(size.seen, size.sent, strict=True)):
        # Which direction Pillow resizes in first, and rounds after, is known only where the picture is enlarged.
        rgb = np.asarray(pillow.fromarray(rgb).resize(size.seen, pillow.Resampling.BICUBIC))
    height, width = rgb.shape[:2]
    m, p, repeats = form.merge, form.patch, form.temporal_patch
    values = np.empty((size.rows // m, size.columns // m, m * m, 3, repeats, p * p), np.float32)
    tables = [_table(form, colour) for colour in range(3)]

    def across(rows: slice) -> None:
        strip = pillow.fromarray(np.ascontiguousarray(rgb[rows]))
        wide[rows] = np.asarray(strip.resize((size.seen[0], strip.height), pillow.Resampling.BICUBIC))

    def down(squares: slice) -> None:
        strip = wide[:, squares.start * form.unit : squares.stop * form.unit]
        _fill(values[:, squares], _stretch(pillow, strip, size.seen[1]), tables)

    # Pillow, OpenCV and numpy's copies let other threads run meanwhile.
    with ThreadPoolExecutor(_cores(), "pixels") as threads:
        if size.seen[0] == width:
            wide = rgb
        else:
            wide = np.empty((height, size.seen[0], 3), np.uint8)
            list(threads.map(across, _shares(height)))
        list(threads.map(down, _shares(size.columns // m)))
    return Pixels(values.reshape(size.rows * size.columns, -1), size)


def _cores() -> int:
    return min(MOST_THREADS, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def _shares(count: int) -> list[slice]:
    """Return 0..count in equal shares, one a thread."""
    ends = np.linspace(0, count, min(count, _cores()) + 1).astype(int).tolist()
    return [slice(first, end) for first, end in pairwise(ends)]


def _stretch(pillow: Any, strip: RGB, height: int) -> RGB:
    """Return a picture resized in height only."""
    if height == len(strip):
        return strip
    lines = np.ascontiguousarray(strip).reshape(len(strip), -1)
    # Neighbours in a line do not matter here, and Pillow is fastest with four bytes that belong together.
    mode, together = ("CMYK", 4) if lines.shape[1] % 4 == 0 else ("L", 1)
    across = lines.shape[1] // together
    image = pillow.frombuffer(mode, (across, len(lines)), lines, "raw", mode, 0, 1)
    resized: RGB = np.asarray(image.resize((across, height), pillow.Resampling.BICUBIC))
    return resized.reshape(height, -1, 3)


def _table(form: PictureFormat, colour: int) -> NDArray[np.float32]:
    """Return what each byte of a colour becomes, float32, shape (256,)."""
    bare = np.arange(256, dtype=np.float32) * np.float32(form.scale)
    table: NDArray[np.float32] = (bare - np.float32(form.mean[colour])) / np.float32(form.deviation[colour])
    return table


def _fill(values: NDArray[np.float32], strip: RGB, tables: Sequence[NDArray[np.float32]]) -> None:
    """Write a strip's patches.

    Args:
        values: to write to, shape (rows of squares, columns of squares, patches of a square, 3, repeats, pixels).
        strip: uint8, shape (height, width, 3).
        tables: of the colours.
    """
    rows, columns, patches, _, _, pixels = values.shape
    m, p = math.isqrt(patches), math.isqrt(pixels)
    lines = strip.reshape(rows, m, p, columns, m, p, 3)
    for row in range(rows):  # of squares: what comes in between stays in the processor's cache
        for colour, table in enumerate(tables):
            # (patch row, pixel row, column of squares, patch column, pixel column), to
            # (column of squares, patch row, patch column, pixel row, pixel column)
            ordered = lines[row, ..., colour].transpose(2, 0, 3, 1, 4)
            normal = cv2.LUT(ordered.reshape(-1, pixels), table)
            values[row, :, :, colour] = normal.reshape(columns, patches, 1, pixels)


def _pillow() -> Any:
    try:
        return importlib.import_module("PIL.Image")
    except ImportError as error:
        raise PolicyUnavailableError(
            f"showing pictures to a model in process needs Pillow ({error}): pip install -e '.[torch]' or '.[onnx]'"
        ) from error
