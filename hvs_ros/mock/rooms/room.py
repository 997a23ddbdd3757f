"""A room under construction: its surfaces, its lamps, and what may be searched for in it.

Directions in the room are yaws [degrees]: a wall is named by the yaw at which one looks straight at it, and places on
it by metres to the right of the point straight ahead. Whatever is added returns the numbers of its surfaces, so that
a task can say which of them are its target; the target's box then follows from the geometry alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from hvs_ros.mock.rooms.geometry import Array, Ball, Cylinder, Quad, Shape, Vector, bounds_rad
from hvs_ros.mock.rooms.light import Block, Lamp
from hvs_ros.mock.rooms.texture import Color, Texture

EYE: Vector = (0.0, 0.0, 1.6)
Pieces = list[int]


@dataclass(frozen=True)
class Goal:
    """A task and its answer: the surfaces to look at, or the left and right end of the opening to walk through."""

    instruction: str
    pieces: tuple[int, ...] = ()
    opening: tuple[Vector, Vector] | None = None
    by_sign: bool = True

    def box_deg(self, shapes: Sequence[Shape]) -> tuple[float, float, float, float]:
        """Return (left, right, low, high) in search degrees, left in [0, 360); right may be above 360."""
        if self.opening is not None:
            points = np.asarray(self.opening)
        else:
            points = np.concatenate([shapes[piece].outline() for piece in self.pieces])
        left, right, low, high = np.degrees(bounds_rad(points, EYE))
        return left % 360.0, left % 360.0 + (right - left), low, high


@dataclass
class Room:
    """Everything that is to be drawn, and the tasks."""

    rng: np.random.Generator
    shapes: list[Shape] = field(default_factory=list)
    lamps: list[Lamp] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    goals: list[Goal] = field(default_factory=list)
    ambient: tuple[float, float, float] = (0.26, 0.26, 0.28)

    def add(self, *shapes: Shape) -> Pieces:
        """Add surfaces; quads that turn their back to the eye, and to its mirror image, are left out."""
        first = len(self.shapes)
        self.shapes += [shape for shape in shapes if not isinstance(shape, Quad) or _faces_eye(shape)]
        return list(range(first, len(self.shapes)))

    def find(self, instruction: str, pieces: Sequence[int], by_sign: bool = True) -> None:
        """Add a task to look at these surfaces; ``by_sign`` where words in the room name them."""
        self.goals.append(Goal(instruction, tuple(pieces), by_sign=by_sign))

    def walk(self, instruction: str, left: Vector, right: Vector, by_sign: bool = True) -> None:
        """Add a task to walk through the opening between two points."""
        self.goals.append(Goal(instruction, opening=(left, right), by_sign=by_sign))

    def floor(self, low: tuple[float, float], high: tuple[float, float], texture: Texture, gloss: float) -> None:
        """Add the floor between two corners."""
        size = high[0] - low[0], high[1] - low[1]
        self.add(Quad((low[0], high[1], 0.0), (1, 0, 0), (0, -1, 0), *size, texture, gloss=gloss))
        self.blocks.append(Block((*low, -1.0), (*high, -0.005)))

    def ceiling(self, low: tuple[float, float], high: tuple[float, float], z: float, texture: Texture) -> None:
        """Add a ceiling between two corners."""
        size = high[0] - low[0], high[1] - low[1]
        self.add(Quad((low[0], low[1], z), (1, 0, 0), (0, 1, 0), *size, texture))
        self.blocks.append(Block((*low, z + 0.005), (*high, z + 0.3)))

    def box(
        self,
        low: Vector,
        high: Vector,
        texture: Texture,
        top: Texture | None = None,
        faces: dict[int, Texture] | None = None,
        shadow: bool = True,
        glow: float = 0.0,
    ) -> Pieces:
        """Add a box along the axes; ``faces`` gives textures for the sides seen when looking at 0, 90, 180, 270."""
        (x0, y0, z0), (x1, y1, z1) = low, high
        sides = faces or {}
        if shadow:
            self.blocks.append(Block(low, high))
        wide, deep, tall = x1 - x0, y1 - y0, z1 - z0
        down = (0.0, 0.0, -1.0)
        return self.add(
            Quad((x0, y0, z1), (1, 0, 0), down, wide, tall, sides.get(0, texture), glow),
            Quad((x0, y1, z1), (0, -1, 0), down, deep, tall, sides.get(90, texture), glow),
            Quad((x1, y1, z1), (-1, 0, 0), down, wide, tall, sides.get(180, texture), glow),
            Quad((x1, y0, z1), (0, 1, 0), down, deep, tall, sides.get(270, texture), glow),
            Quad((x0, y1, z1), (1, 0, 0), (0, -1, 0), wide, deep, top or texture, glow),
            Quad((x0, y0, z0), (1, 0, 0), (0, 1, 0), wide, deep, texture, glow),
        )

    def cylinder(
        self,
        center: tuple[float, float],
        radius: float,
        low: float,
        high: float,
        texture: Texture,
        lid: Color | None = None,
    ) -> Pieces:
        """Add an upright cylinder, with a lid where a colour is given."""
        pieces = self.add(Cylinder(center, radius, low, high, texture))
        if lid is not None:
            pieces += self.disc((*center, high), radius, lid)
        reach = radius * 0.8
        if radius > 0.04:
            x, y = center
            self.blocks.append(Block((x - reach, y - reach, low), (x + reach, y + reach, high)))
        return pieces

    def disc(self, center: Vector, radius: float, color: Color) -> Pieces:
        """Add a round plate that lies flat."""
        x, y, z = center
        image = round_picture(np.full((128, 128, 3), color, np.uint8))
        texture = Texture.fitted(image, 2 * radius, 2 * radius)
        return self.add(Quad((x - radius, y + radius, z), (1, 0, 0), (0, -1, 0), 2 * radius, 2 * radius, texture))

    def ball(self, center: Vector, radius: float, texture: Texture, glow: float = 0.0) -> Pieces:
        """Add a sphere."""
        reach = radius * 0.7
        self.blocks.append(Block(_moved(center, -reach), _moved(center, reach)))
        return self.add(Ball(center, radius, texture, glow))

    def panel(self, look: float, center: Vector, image: Array, height: float, glow: float = 0.0) -> Pieces:
        """Add a picture as a thin board that is seen when looking at yaw ``look``, as wide as it must be."""
        width = height * image.shape[1] / image.shape[0]
        right, ahead = axes(look)
        corner = tuple(c - r * width / 2 for c, r in zip(center, right, strict=True))
        corner = (corner[0], corner[1], center[2] + height / 2)
        down = (0.0, 0.0, -1.0)
        front = Quad(corner, right, down, width, height, Texture.fitted(image, width, height), glow)
        thick, edge = 0.05, Texture.plain((90, 92, 96))
        far_side = (right[0] * width, right[1] * width, 0.0)
        end = tuple(a + b for a, b in zip(corner, far_side, strict=True))
        back = tuple(a + thick * b for a, b in zip(end, ahead, strict=True))
        left_back = tuple(a + thick * b for a, b in zip(corner, ahead, strict=True))
        low = (corner[0], corner[1], corner[2] - height)
        turned = (-ahead[0], -ahead[1], 0.0)
        pieces = self.add(front)
        self.add(
            Quad(end, ahead, down, thick, height, edge),
            Quad(left_back, turned, down, thick, height, edge),
            Quad(back, (-right[0], -right[1], 0.0), down, width, height, edge),
            Quad(low, right, ahead, width, thick, edge),
        )
        return pieces

    def hang(
        self, look: float, center: Vector, image: Array, height: float, ceiling: float, glow: float = 0.3
    ) -> Pieces:
        """Add a board that hangs from the ceiling on two rods."""
        pieces = self.panel(look, center, image, height, glow)
        right, _ = axes(look)
        reach = height * image.shape[1] / image.shape[0] * 0.4
        for side in (-reach, reach):
            at = (center[0] + side * right[0], center[1] + side * right[1])
            self.add(Cylinder(at, 0.015, center[2] + height / 2, ceiling, Texture.plain((70, 70, 74))))
        return pieces

    def lamp(self, center: Vector, size: tuple[float, float], power: float, color: Color = (255, 248, 236)) -> None:
        """Add a bright panel just under the ceiling that lights the room."""
        x, y, z = center
        wide, deep = size
        tint = (color[0] / 255, color[1] / 255, color[2] / 255)
        self.add(
            Quad((x - wide / 2, y - deep / 2, z - 0.02), (1, 0, 0), (0, 1, 0), wide, deep, Texture.plain(color), 4.0)
        )
        spread = [(0.0, 0.0)] if max(size) < 1.5 else [(-wide / 4, -deep / 4), (wide / 4, deep / 4)]
        self.lamps += [Lamp((x + a, y + b, z - 0.1), tint, power / len(spread)) for a, b in spread]


def axes(look: float) -> tuple[Vector, Vector]:
    """Return the unit vectors to the right and straight ahead for one who looks at that yaw [degrees]."""
    s, c = round(math.sin(math.radians(look)), 9), round(math.cos(math.radians(look)), 9)
    return (c, -s, 0.0), (s, c, 0.0)


def round_picture(image: Array) -> Array:
    """Return the picture (H, W, 3) cut to the ellipse that fits in it, (H, W, 4)."""
    height, width = image.shape[:2]
    y, x = np.mgrid[:height, :width]
    inside = ((x + 0.5) / width * 2 - 1) ** 2 + ((y + 0.5) / height * 2 - 1) ** 2 <= 1
    return np.dstack((image, np.where(inside, 255, 0).astype(np.uint8)))


def _moved(point: Vector, by: float) -> Vector:
    return point[0] + by, point[1] + by, point[2] + by


def _faces_eye(quad: Quad) -> bool:
    normal = np.asarray(quad.normal)
    eyes = np.array([EYE, (EYE[0], EYE[1], -EYE[2])])
    return bool(((eyes - np.asarray(quad.corner)) @ normal > 0).any())


@dataclass(frozen=True)
class Gap:
    """A way through a wall, from ``left`` to ``right`` metres, as high as ``top``."""

    left: float
    right: float
    top: float = 2.6


@dataclass(frozen=True)
class Wall:
    """An upright wall: seen straight on at yaw ``look``, ``distance`` metres away, from ``left`` to ``right``."""

    room: Room
    look: float
    distance: float
    left: float
    right: float
    height: float

    def at(self, s: float, z: float, out: float = 0.0) -> Vector:
        """Return the point s metres right, z high and ``out`` metres before the wall."""
        right, ahead = axes(self.look)
        d = self.distance - out
        return right[0] * s + ahead[0] * d, right[1] * s + ahead[1] * d, z

    def build(self, texture: Texture, gaps: Sequence[Gap] = (), skirting: Color | None = (60, 58, 56)) -> None:
        """Add its surface around the gaps, with a skirting board."""
        edge = self.left
        for gap in sorted(gaps, key=lambda gap: gap.left):
            self._piece(edge, gap.left, 0.0, self.height, texture, skirting)
            self._piece(gap.left, gap.right, gap.top, self.height, texture, None)
            edge = gap.right
        self._piece(edge, self.right, 0.0, self.height, texture, skirting)

    def _piece(
        self, left: float, right: float, low: float, high: float, texture: Texture, skirting: Color | None
    ) -> None:
        if right - left < 1e-6 or high - low < 1e-6:
            return
        along, _ = axes(self.look)
        here = texture.shifted(left - self.left, self.height - high)
        self.room.add(Quad(self.at(left, high), along, (0.0, 0.0, -1.0), right - left, high - low, here))
        corners = np.array([self.at(left, low, -0.01), self.at(right, high, -0.2)])
        self.room.blocks.append(Block(tuple(corners.min(0)), tuple(corners.max(0))))
        if skirting:
            board = Quad(
                self.at(left, 0.12, 0.015), along, (0.0, 0.0, -1.0), right - left, 0.12, Texture.plain(skirting)
            )
            self.room.add(board)

    def sign(self, s: float, z: float, image: Array, height: float, glow: float = 0.12) -> Pieces:
        """Fix a board to it, centred at s, z."""
        return self.room.panel(self.look, self.at(s, z, 0.06), image, height, glow)

    def picture(
        self, s: float, z: float, image: Array, size: tuple[float, float], out: float = 0.02, glow: float = 0.0
    ) -> Pieces:
        """Fix a flat picture to it, stretched to a size and centred at s, z."""
        along, _ = axes(self.look)
        texture = Texture.fitted(image, *size)
        corner = self.at(s - size[0] / 2, z + size[1] / 2, out)
        return self.room.add(Quad(corner, along, (0.0, 0.0, -1.0), *size, texture, glow))

    def passage(self, gap: Gap, depth: float, texture: Texture, frame: Color = (84, 84, 88)) -> Wall:
        """Add a corridor behind a gap (the floor is there already) and return its far wall."""
        room, near, far = self.room, self.distance, self.distance + depth
        Wall(room, self.look - 90, -gap.left, near, far, gap.top).build(texture)
        Wall(room, self.look + 90, gap.right, -far, -near, gap.top).build(texture)
        end = Wall(room, self.look, far, gap.left, gap.right, gap.top)
        end.build(texture)
        along, ahead = axes(self.look)
        lid = Quad(
            self.at(gap.left, gap.top), along, ahead, gap.right - gap.left, depth, Texture.plain((228, 228, 226))
        )
        room.add(lid)
        corners = np.array([self.at(gap.left, gap.top + 0.01), self.at(gap.right, gap.top + 0.3, -depth)])
        room.blocks.append(Block(tuple(corners.min(0)), tuple(corners.max(0))))
        middle = (gap.left + gap.right) / 2
        room.lamp(self.at(middle, gap.top, -depth / 2), (0.6, 0.6), 5.0)
        for left, right, low, high in (
            (gap.left - 0.1, gap.left, 0.0, gap.top + 0.1),
            (gap.right, gap.right + 0.1, 0.0, gap.top + 0.1),
            (gap.left, gap.right, gap.top, gap.top + 0.1),
        ):
            quad = Quad(
                self.at(left, high, 0.04), along, (0.0, 0.0, -1.0), right - left, high - low, Texture.plain(frame)
            )
            room.add(quad)
        return end

    def corners(self, gap: Gap) -> tuple[Vector, Vector]:
        """Return the left and right end of a gap, at the height of the eye."""
        return self.at(gap.left, EYE[2]), self.at(gap.right, EYE[2])
