"""Draws signs: words, arrows and pictograms, in the one font that comes inside Pillow."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

try:
    from PIL import Image, ImageDraw, ImageFont
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "Pillow draws the signs of these rooms: the extra 'rooms' of hvs_ros, pip install -e '.[rooms]' in its folder"
    ) from error

from hvs_ros.mock.rooms.texture import Array, Color

_Pictogram = Callable[[ImageDraw.ImageDraw, float, float, float, "Style"], None]
_LINE = 96  # pixels of a line of text, blank space included
ARROWS = {"right": 0.0, "up": 90.0, "left": 180.0, "down": 270.0, "up right": 45.0, "up left": 135.0}
"""Where an arrow points, counted anticlockwise from the right."""


@dataclass(frozen=True)
class Style:
    """A sign's colours; ``border`` is a frame around it."""

    back: Color
    ink: Color
    border: Color | None = None


BLUE = Style((24, 66, 140), (250, 250, 250))
GREEN = Style((0, 118, 72), (250, 252, 250))
YELLOW = Style((250, 200, 30), (20, 20, 20))
WHITE = Style((244, 244, 240), (30, 30, 36), (120, 120, 124))
BLACK = Style((28, 28, 32), (250, 246, 230))
GREY = Style((70, 78, 88), (250, 250, 250))
RED = Style((186, 28, 36), (255, 250, 246))
WOOD = Style((104, 62, 34), (250, 236, 200), (196, 154, 90))
ORANGE = Style((226, 106, 22), (255, 252, 246))
TEAL = Style((14, 108, 116), (248, 252, 252))
DIRECTION_STYLES = (BLUE, YELLOW, GREY, BLACK, TEAL)


@lru_cache(maxsize=64)
def _font(size: int) -> ImageFont.FreeTypeFont:
    font = ImageFont.load_default(size=size)
    if not isinstance(font, ImageFont.FreeTypeFont):
        raise RuntimeError("Pillow was built without FreeType: its built-in outline font is needed to draw signs")
    return font


def text_width(text: str, size: int, weight: int) -> int:
    """Return the width [pixels] of a line of text."""
    return math.ceil(_font(size).getlength(text)) + 2 * weight


def panel(
    lines: Sequence[str],
    style: Style,
    arrow: str | None = None,
    pictogram: str | None = None,
    aspect: float | None = None,
) -> Array:
    """Draw a sign.

    Args:
        lines: its words, one line each; may be empty for a sign without words.
        style: its colours.
        arrow: a key of ``ARROWS``, drawn on the side that it points to.
        pictogram: a key of ``PICTOGRAMS``, drawn before the words.
        aspect: width by height; the sign is widened or heightened to it.

    Returns:
        (H, W, 3) RGB uint8, 96 pixels high for each line.
    """
    size, weight = int(_LINE * 0.66), 2
    height = _LINE * max(len(lines), 1)
    symbol = int(height * 0.84 if len(lines) < 2 else _LINE * 1.3)
    words = max((text_width(line, size, weight) for line in lines), default=0)
    gap = _LINE // 4
    parts = [width for width in (symbol if arrow else 0, symbol if pictogram else 0, words) if width]
    width = sum(parts) + gap * (len(parts) + 1)
    full_width, full_height = width, height
    if aspect is not None:
        full_width, full_height = max(width, round(height * aspect)), max(height, round(width / aspect))
    image = Image.new("RGB", (full_width, full_height), style.back)
    draw = ImageDraw.Draw(image)
    x, top = (full_width - width) // 2 + gap, (full_height - height) // 2
    middle = full_height // 2
    right_side = arrow is not None and "right" in arrow
    if arrow and not right_side:
        _arrow(draw, (x + symbol / 2, middle), symbol * 0.8, ARROWS[arrow], style.ink)
        x += symbol + gap
    if pictogram:
        PICTOGRAMS[pictogram](draw, x, middle - symbol / 2, symbol, style)
        x += symbol + gap
    for number, line in enumerate(lines):
        indent = (words - text_width(line, size, weight)) // 2 if arrow is None and pictogram is None else 0
        at = (x + indent + weight, top + _LINE * number + _LINE // 2)
        draw.text(at, line, style.ink, _font(size), anchor="lm", stroke_width=weight)
    if arrow and right_side:
        _arrow(draw, (x + words + (gap if words else 0) + symbol / 2, middle), symbol * 0.8, ARROWS[arrow], style.ink)
    if style.border:
        draw.rectangle((0, 0, full_width - 1, full_height - 1), outline=style.border, width=5)
    return np.asarray(image)


def board(rows: Sequence[tuple[str, ...]], style: Style, title: str | None = None) -> Array:
    """Draw a table of small print, e.g. departures: columns as wide as their widest entry."""
    size = 52
    gap = 40
    columns = [max(text_width(row[k], size, 1) for row in rows) for k in range(len(rows[0]))]
    width = sum(columns) + gap * (len(columns) + 1)
    head = 90 if title else 0
    image = Image.new("RGB", (width, head + 70 * len(rows) + 20), style.back)
    draw = ImageDraw.Draw(image)
    if title:
        draw.rectangle((0, 0, width, head), fill=style.ink)
        draw.text((gap, head // 2), title, style.back, _font(64), anchor="lm", stroke_width=1)
    for number, row in enumerate(rows):
        x = gap
        for entry, column in zip(row, columns, strict=True):
            at = (x, head + 10 + 70 * number + 35)
            draw.text(at, entry, style.ink, _font(size), anchor="lm", stroke_width=1)
            x += column + gap
    return np.asarray(image)


def _arrow(draw: ImageDraw.ImageDraw, at: tuple[float, float], size: float, angle_deg: float, ink: Color) -> None:
    outline = [(0.5, 0.0), (0.08, 0.4), (0.08, 0.13), (-0.5, 0.13), (-0.5, -0.13), (0.08, -0.13), (0.08, -0.4)]
    c, s = math.cos(math.radians(angle_deg)), math.sin(math.radians(angle_deg))
    draw.polygon([(at[0] + size * (x * c - y * s), at[1] - size * (x * s + y * c)) for x, y in outline], fill=ink)


def _strokes(
    *lines: Sequence[tuple[float, float]], width: float = 0.09, dots: Sequence[tuple[float, float, float]] = ()
) -> _Pictogram:
    """Return a pictogram of thick lines and dots (x, y, radius) on the unit square."""

    def draw_it(draw: ImageDraw.ImageDraw, x: float, y: float, size: float, style: Style) -> None:
        for line in lines:
            points = [(x + a * size, y + b * size) for a, b in line]
            draw.line(points, fill=style.ink, width=max(1, round(width * size)), joint="curve")
            for a, b in (points[0], points[-1]):
                r = width * size / 2
                draw.ellipse((a - r, b - r, a + r, b + r), fill=style.ink)
        for a, b, r in dots:
            a, b, r = x + a * size, y + b * size, r * size
            draw.ellipse((a - r, b - r, a + r, b + r), fill=style.ink)

    return draw_it


def _restroom(draw: ImageDraw.ImageDraw, x: float, y: float, size: float, style: Style) -> None:
    for left, skirt in ((0.02, False), (0.54, True)):
        a = x + left * size
        draw.ellipse((a + 0.14 * size, y + 0.02 * size, a + 0.30 * size, y + 0.18 * size), fill=style.ink)
        if skirt:
            body = [(0.15, 0.2), (0.29, 0.2), (0.44, 0.66), (0.0, 0.66)]
            draw.polygon([(a + p * size, y + q * size) for p, q in body], fill=style.ink)
        else:
            draw.rectangle((a + 0.08 * size, y + 0.2 * size, a + 0.36 * size, y + 0.6 * size), fill=style.ink)
        for leg in (0.12, 0.24):
            draw.rectangle((a + leg * size, y + 0.5 * size, a + (leg + 0.08) * size, y + 0.98 * size), fill=style.ink)
    draw.rectangle((x + 0.485 * size, y, x + 0.515 * size, y + size), fill=style.ink)


def _information(draw: ImageDraw.ImageDraw, x: float, y: float, size: float, style: Style) -> None:
    draw.ellipse((x, y, x + size, y + size), fill=style.ink)
    draw.ellipse((x + 0.42 * size, y + 0.14 * size, x + 0.58 * size, y + 0.30 * size), fill=style.back)
    draw.rectangle((x + 0.43 * size, y + 0.38 * size, x + 0.57 * size, y + 0.84 * size), fill=style.back)


def _train(draw: ImageDraw.ImageDraw, x: float, y: float, size: float, style: Style) -> None:
    def box(a: float, b: float, c: float, d: float) -> tuple[float, float, float, float]:
        return x + a * size, y + b * size, x + c * size, y + d * size

    draw.rounded_rectangle(box(0.18, 0.02, 0.82, 0.78), size * 0.14, fill=style.ink)
    draw.rectangle(box(0.27, 0.16, 0.73, 0.42), fill=style.back)
    for a in (0.3, 0.58):
        draw.ellipse(box(a, 0.54, a + 0.12, 0.66), fill=style.back)
    draw.line((x + 0.3 * size, y + 0.8 * size, x + 0.14 * size, y + size), fill=style.ink, width=round(0.07 * size))
    draw.line((x + 0.7 * size, y + 0.8 * size, x + 0.86 * size, y + size), fill=style.ink, width=round(0.07 * size))


def _lift(draw: ImageDraw.ImageDraw, x: float, y: float, size: float, style: Style) -> None:
    draw.rectangle((x, y, x + size, y + size), outline=style.ink, width=round(0.07 * size))
    for left, up in ((0.14, True), (0.54, False)):
        tip, foot = (0.2, 0.8) if up else (0.8, 0.2)
        corners = [(left, foot), (left + 0.16, tip), (left + 0.32, foot)]
        draw.polygon([(x + a * size, y + b * size) for a, b in corners], fill=style.ink)


def _prohibited(draw: ImageDraw.ImageDraw, x: float, y: float, size: float, style: Style) -> None:
    red = (200, 20, 30)
    draw.rectangle((x + 0.2 * size, y + 0.46 * size, x + 0.8 * size, y + 0.56 * size), fill=style.ink)
    draw.ellipse((x, y, x + size, y + size), outline=red, width=round(0.11 * size))
    draw.line((x + 0.17 * size, y + 0.17 * size, x + 0.83 * size, y + 0.83 * size), fill=red, width=round(0.1 * size))


PICTOGRAMS: dict[str, _Pictogram] = {
    "restroom": _restroom,
    "information": _information,
    "train": _train,
    "lift": _lift,
    "no smoking": _prohibited,
    "stairs": _strokes(
        [(0.05, 0.9), (0.3, 0.9), (0.3, 0.65), (0.55, 0.65), (0.55, 0.4), (0.8, 0.4), (0.8, 0.15), (0.97, 0.15)]
    ),
    "running man": _strokes(
        [(0.56, 0.3), (0.44, 0.58), (0.62, 0.74), (0.56, 0.97)],
        [(0.44, 0.58), (0.3, 0.78), (0.06, 0.78)],
        [(0.56, 0.32), (0.76, 0.5), (0.92, 0.44)],
        [(0.54, 0.32), (0.34, 0.34), (0.24, 0.54)],
        dots=[(0.66, 0.12, 0.1)],
    ),
    "cup": _strokes(
        [(0.16, 0.36), (0.2, 0.84), (0.62, 0.84), (0.66, 0.36), (0.16, 0.36)],
        [(0.66, 0.46), (0.86, 0.5), (0.84, 0.66), (0.65, 0.7)],
        [(0.32, 0.08), (0.32, 0.22)],
        [(0.5, 0.08), (0.5, 0.22)],
    ),
    "key": _strokes([(0.4, 0.5), (0.95, 0.5), (0.95, 0.7)], [(0.76, 0.5), (0.76, 0.66)], dots=[(0.24, 0.5, 0.2)]),
    "flame": _strokes(
        [
            (0.5, 0.1),
            (0.62, 0.34),
            (0.78, 0.5),
            (0.76, 0.76),
            (0.6, 0.9),
            (0.4, 0.9),
            (0.24, 0.74),
            (0.28, 0.5),
            (0.4, 0.4),
            (0.5, 0.1),
        ],
        [(0.5, 0.56), (0.5, 0.8)],
        width=0.12,
    ),
    "telephone": _strokes(
        [(0.2, 0.2), (0.26, 0.5), (0.5, 0.74), (0.8, 0.8)], width=0.16, dots=[(0.2, 0.2, 0.14), (0.8, 0.8, 0.14)]
    ),
}
"""Drawings of symbols on the square (x, y, size)."""


def stack(panels: Sequence[Array], style: Style) -> Array:
    """Put signs of one height one above the other, all as wide as the widest."""
    wide = max(panel.shape[1] for panel in panels)
    rows = []
    for panel in panels:
        row = np.empty((panel.shape[0], wide, 3), np.uint8)
        row[:] = style.back
        # What points to the right stands at the right.
        at = wide - panel.shape[1] if (panel[:, :40] == panel[0, 0]).all() else 0
        row[:, at : at + panel.shape[1]] = panel
        row[-3:, 20:-20] = style.ink
        rows.append(row)
    rows[-1][-3:] = style.back
    return np.concatenate(rows)
