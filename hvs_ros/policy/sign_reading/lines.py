"""Lines of text in a picture, and how they belong together on signs.

A reader returns short lines; a sign may spread its words over several of them ("Platform" beside "3", "George Peabody"
over "LIBRARY"). ``readings`` offers each line, the lines of a row joined, and rows one below the other joined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Quad = NDArray[np.float64]
"""Corners (4, 2) in pixels (x, y): top left, top right, bottom right, bottom left as the text reads."""

_MAX_ROWS = 4


@dataclass(frozen=True, eq=False)
class Line:
    """One line of text.

    Attributes:
        text: as read.
        confidence: the reader's, 0 to 1.
        quad: where.
    """

    text: str
    confidence: float
    quad: Quad

    @cached_property
    def height(self) -> float:
        """Height of the letters with their margin, in pixels."""
        q = self.quad
        return float(np.linalg.norm(q[3] - q[0]) + np.linalg.norm(q[2] - q[1])) / 2

    @cached_property
    def width(self) -> float:
        """Length of the line, in pixels."""
        q = self.quad
        return float(np.linalg.norm(q[1] - q[0]) + np.linalg.norm(q[2] - q[3])) / 2

    @cached_property
    def center(self) -> tuple[float, float]:
        """Middle of the line in pixels (x, y)."""
        x, y = self.quad.mean(axis=0)
        return float(x), float(y)

    @cached_property
    def along(self) -> NDArray[np.float64]:
        """Unit vector in which the text runs."""
        direction: NDArray[np.float64] = (self.quad[1] - self.quad[0] + self.quad[2] - self.quad[3]) / 2
        return direction / max(float(np.linalg.norm(direction)), 1e-9)

    def part(self, start: float, end: float) -> Quad:
        """Return the quad of a part of the line, from one fraction of its length to another."""
        q = self.quad
        top, bottom = q[1] - q[0], q[2] - q[3]
        return np.array([q[0] + start * top, q[0] + end * top, q[3] + end * bottom, q[3] + start * bottom])


@dataclass(frozen=True, eq=False)
class Reading:
    """Lines read as one text, joined by spaces.

    Attributes:
        lines: in reading order.
    """

    lines: tuple[Line, ...]

    @cached_property
    def text(self) -> str:
        """The joined text."""
        return " ".join(line.text for line in self.lines)

    @property
    def confidence(self) -> float:
        """The least certain line's."""
        return min(line.confidence for line in self.lines)

    def quads(self, span: tuple[int, int]) -> list[Quad]:
        """Return where a part of the text (start, end) is: one quad for each line that it touches."""
        found, offset = [], 0
        for line in self.lines:
            length = max(len(line.text), 1)
            start, end = max(span[0] - offset, 0), min(span[1] - offset, length)
            if start < end:
                found.append(line.part(start / length, end / length))
            offset += len(line.text) + 1
        return found

    def touched(self, span: tuple[int, int]) -> list[Line]:
        """Return the lines that a part of the text lies in."""
        found, offset = [], 0
        for line in self.lines:
            if span[0] < offset + len(line.text) and span[1] > offset:
                found.append(line)
            offset += len(line.text) + 1
        return found


def readings(lines: Sequence[Line]) -> list[Reading]:
    """Return every way to read the lines as signs, single lines first."""
    rows = _rows(lines)
    found = [Reading((line,)) for line in lines]
    found += [Reading(tuple(row)) for row in rows if len(row) > 1]
    for top in range(len(rows)):
        stack = [rows[top]]
        while len(stack) < _MAX_ROWS:
            below = next((row for row in rows if row not in stack and _stacked(stack[-1], row)), None)
            if below is None:
                break
            stack.append(below)
            found.append(Reading(tuple(line for row in stack for line in row)))
    return found


def _offsets(a: Line, b: Line) -> tuple[float, float]:
    """Return how far b's centre lies from a's along a's text and across it (downwards), in pixels."""
    delta = np.subtract(b.center, a.center)
    across = np.array([-a.along[1], a.along[0]])
    return float(delta @ a.along), float(delta @ across)


def _alike(a: Line, b: Line, ratio: float) -> bool:
    return max(a.height, b.height) <= ratio * min(a.height, b.height) and float(a.along @ b.along) > 0.9


def _rows(lines: Sequence[Line]) -> list[list[Line]]:
    """Return the lines grouped into rows: same height, one beside the other."""
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda item: item.center[0]):
        for row in rows:
            last = row[-1]
            along, across = _offsets(last, line)
            gap = along - (last.width + line.width) / 2
            height = min(last.height, line.height)
            if _alike(last, line, 2.0) and abs(across) < 0.6 * height and -height < gap < 2.5 * height:
                row.append(line)
                break
        else:
            rows.append([line])
    return sorted(rows, key=lambda row: min(item.center[1] for item in row))


def _stacked(above: list[Line], below: list[Line]) -> bool:
    """Return whether the second row is the next one of the same sign."""
    for a in above:
        for b in below:
            along, across = _offsets(a, b)
            height = (a.height + b.height) / 2
            overlaps = abs(along) < (a.width + b.width) / 2
            if _alike(a, b, 2.2) and overlaps and 0.4 * height < across < 2.0 * height:
                return True
    return False
