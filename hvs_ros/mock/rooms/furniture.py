"""Things that stand and hang in rooms."""

from __future__ import annotations

import math

import cv2
import numpy as np

from hvs_ros.mock.rooms import sign
from hvs_ros.mock.rooms.geometry import Ball, Quad, Vector
from hvs_ros.mock.rooms.room import Pieces, Room, Wall, axes, round_picture
from hvs_ros.mock.rooms.texture import Array, Color, Texture, noise

STEEL: Color = (150, 154, 160)
PLAIN_STEEL = Texture.plain(STEEL)


def wood(room: Room, color: Color) -> Texture:
    """Return a lacquered board with its grain along the surface, 1 m to a tile."""
    stripes = cv2.resize(room.rng.uniform(-1, 1, (96, 3)).astype(np.float32), (256, 256), interpolation=cv2.INTER_CUBIC)
    value = 0.09 * stripes + 0.03 * noise(room.rng, 256, 32)
    image = np.clip(np.asarray(color, np.float32) * (1 + value[:, :, None]), 0, 255).astype(np.uint8)
    return Texture(image, (256, 256), repeat=True)


def extinguisher(room: Room, wall: Wall, s: float) -> Pieces:
    """A red fire extinguisher on the floor before a wall."""
    x, y, _ = wall.at(s, 0.0, 0.22)
    pieces = room.cylinder((x, y), 0.1, 0.02, 0.5, _banded((196, 18, 22), (240, 236, 220)), (170, 14, 18))
    pieces += room.ball((x, y, 0.5), 0.095, Texture.plain((190, 16, 20)))
    pieces += room.box(
        (x - 0.03, y - 0.03, 0.57), (x + 0.03, y + 0.03, 0.68), Texture.plain((24, 24, 26)), shadow=False
    )
    return pieces


def _banded(color: Color, band: Color) -> Texture:
    image = np.full((64, 64, 3), color, np.uint8)
    image[22:40, 8:56] = band
    image[26:28, 14:50] = image[31:33, 14:46] = image[36:37, 14:50] = color
    return Texture(image, (64 / 0.63, 64 / 0.48))


def bin_(room: Room, at: tuple[float, float], color: Color) -> Pieces:
    """A round litter bin."""
    pieces = room.cylinder(at, 0.24, 0.0, 0.78, Texture.plain(color))
    return pieces + room.cylinder(at, 0.26, 0.78, 0.86, Texture.plain((40, 42, 44)), (22, 22, 24))


def plant(room: Room, at: tuple[float, float], tall: float = 1.7) -> Pieces:
    """A potted plant: leaves that stand out of a pot on all sides."""
    x, y = at
    pieces = room.cylinder(at, 0.24, 0.0, 0.42, Texture.plain((196, 188, 176)), (70, 52, 38))
    image = _leaf()
    for number in range(22):
        turn = number * 137.5 + float(room.rng.uniform(-15, 15))
        lean = 0.15 + 0.75 * (number % 7) / 7
        length = (tall - 0.4) * float(room.rng.uniform(0.75, 1.0)) * (1.0 - 0.25 * lean)
        right, ahead = axes(turn)
        up = (ahead[0] * math.sin(lean), ahead[1] * math.sin(lean), math.cos(lean))
        width = 0.3
        corner = tuple(p + length * u - width / 2 * r for p, u, r in zip((x, y, 0.4), up, right, strict=True))
        down = (-up[0], -up[1], -up[2])
        texture = Texture.fitted(image, width, length)
        # Leaves have two sides: the quad is turned to whichever the eye sees.
        front = Quad(corner, right, down, width, length, texture, glow=0.08)  # type: ignore[arg-type]
        back_corner = tuple(p + width * r for p, r in zip(corner, right, strict=True))
        back = Quad(back_corner, (-right[0], -right[1], 0.0), down, width, length, texture, glow=0.08)  # type: ignore[arg-type]
        pieces += room.add(front) or room.add(back)
    return pieces


def _leaf() -> Array:
    height, width = 256, 64
    y, x = np.mgrid[:height, :width].astype(np.float32)
    t = y / height
    half = 0.5 * width * np.sin(np.pi * np.clip(t, 0, 1) ** 0.8) ** 0.7 * (1 - 0.55 * t)
    side = np.abs(x - width / 2)
    alpha = (side <= np.maximum(half, 1.6)).astype(np.uint8) * 255
    shade = 0.75 + 0.3 * (1 - t) + 0.12 * np.sin(y / 5 + side / 3) - 0.25 * (side < 1.6)
    return np.dstack([np.clip(c * shade, 0, 255) for c in (58, 124, 52)] + [alpha]).astype(np.uint8)


def bench(room: Room, center: tuple[float, float], length: float, along_x: bool, color: Color) -> Pieces:
    """A bench with wooden slats on steel legs."""
    x, y = center
    a, b = (length / 2, 0.24) if along_x else (0.24, length / 2)
    slat = wood(room, color)
    pieces: Pieces = []
    for k in range(4):
        shift = -0.24 + 0.125 * k
        low = (x - a, y + shift, 0.42) if along_x else (x + shift, y - b, 0.42)
        high = (x + a, y + shift + 0.1, 0.46) if along_x else (x + shift + 0.1, y + b, 0.46)
        pieces += room.box(low, high, slat, shadow=False)
    for end in (-0.4, 0.4):
        cx, cy = (x + end * length, y) if along_x else (x, y + end * length)
        leg = (0.04, 0.2) if along_x else (0.2, 0.04)
        pieces += room.box((cx - leg[0], cy - leg[1], 0.0), (cx + leg[0], cy + leg[1], 0.42), PLAIN_STEEL)
    room.box((x - a, y - b, 0.42), (x + a, y + b, 0.44), slat)
    return pieces


def door(
    room: Room,
    wall: Wall,
    s: float,
    color: Color,
    width: float = 0.95,
    height: float = 2.1,
    window: bool = False,
    double: bool = False,
) -> Pieces:
    """A closed door in its frame."""
    wide = width * 2 if double else width
    image = np.full((256, int(256 * wide / height), 3), color, np.uint8)
    rows, columns = image.shape[:2]
    leaves = [(0, columns // 2), (columns // 2, columns)] if double else [(0, columns)]
    for number, (a, b) in enumerate(leaves):
        cv2.rectangle(image, (a, 0), (b - 1, rows), tuple(c // 3 for c in color), 2)
        if window:
            size = b - a
            top, bottom = (24, 236) if double else (30, 120)
            image[top:bottom, a + size // 5 : b - size // 5] = (150, 176, 186)
            pane = image[top:bottom, a + size // 5 : b - size // 5]
            pane[:] = np.clip(pane + np.linspace(40, -40, pane.shape[0])[:, None, None], 0, 255).astype(np.uint8)
            cv2.line(image, (a + size // 4, bottom - 10), (b - size // 4, top + 30), (196, 214, 220), 5, cv2.LINE_AA)
        handle = a + 12 if number == 1 else b - 14
        image[128:134, min(handle, handle - 8) : handle + 6] = (208, 208, 210)
    pieces = wall.picture(s, height / 2, image, (wide, height), 0.03)
    frame = np.full((2, 2, 3), (70, 66, 62), np.uint8)
    for place, extent in (
        ((s - wide / 2 - 0.04, height / 2 + 0.04), (0.08, height + 0.08)),
        ((s + wide / 2 + 0.04, height / 2 + 0.04), (0.08, height + 0.08)),
        ((s, height + 0.04), (wide, 0.08)),
    ):
        pieces += wall.picture(*place, frame, extent, 0.05)
    return pieces


def clock(room: Room, wall: Wall, s: float, z: float, radius: float = 0.4) -> Pieces:
    """A round clock; its hands say a random time."""
    image = np.full((256, 256, 3), (30, 30, 32), np.uint8)
    cv2.circle(image, (128, 128), 114, (246, 246, 240), -1, cv2.LINE_AA)
    for hour in range(12):
        c, s_ = math.cos(math.radians(hour * 30)), math.sin(math.radians(hour * 30))
        inner = 84 if hour % 3 else 76
        start, end = (int(128 + inner * c), int(128 + inner * s_)), (int(128 + 104 * c), int(128 + 104 * s_))
        cv2.line(image, start, end, (20, 20, 20), 7, cv2.LINE_AA)
    minutes = float(room.rng.uniform(0, 720))
    for turn, length, thick in ((minutes * 0.5, 58, 11), (minutes * 6.0, 92, 7)):
        a = math.radians(turn)
        cv2.line(
            image,
            (128, 128),
            (int(128 + length * math.sin(a)), int(128 - length * math.cos(a))),
            (20, 20, 20),
            thick,
            cv2.LINE_AA,
        )
    return wall.picture(s, z, round_picture(image), (2 * radius, 2 * radius), 0.06, 0.15)


def pillar(room: Room, at: tuple[float, float], radius: float, height: float, texture: Texture) -> None:
    """A round pillar on a plinth."""
    room.cylinder(at, radius, 0.0, height, texture)
    room.cylinder(at, radius + 0.06, 0.0, 0.22, Texture.plain((74, 72, 70)), (90, 88, 86))


def counter(
    room: Room, low: tuple[float, float], high: tuple[float, float], front: Texture, top: Color, height: float = 1.05
) -> Pieces:
    """A counter with a top that stands out a little."""
    pieces = room.box((*low, 0.0), (*high, height - 0.05), front)
    reach = 0.05
    return pieces + room.box(
        (low[0] - reach, low[1] - reach, height - 0.05), (high[0] + reach, high[1] + reach, height), Texture.plain(top)
    )


def machine(
    room: Room, wall: Wall, s: float, color: Color, screen: Array, size: tuple[float, float, float] = (0.9, 1.9, 0.7)
) -> Pieces:
    """A cabinet before a wall (width, height, depth) with a lit picture on its front, e.g. a vending machine."""
    width, height, depth = size
    corners = np.array([wall.at(s - width / 2, 0.0, depth), wall.at(s + width / 2, height, 0.0)])
    pieces = room.box(tuple(corners.min(0)), tuple(corners.max(0)), Texture.plain(color))
    return pieces + wall.picture(s, height * 0.55, screen, (width * 0.84, height * 0.74), depth + 0.01, 0.45)


def goods(
    room: Room, width: float, rows: int, height: float, colors: list[Color], shelf: Color = (212, 212, 208)
) -> Array:
    """Draw the front of a shelf with packages: 128 pixels a metre."""
    scale = 128
    image = np.empty((int(height * scale), max(int(width * scale), 8), 3), np.uint8)
    image[:] = (58, 56, 56)
    step = image.shape[0] // rows
    for row in range(rows):
        bottom = (row + 1) * step - 7
        x = 2
        while x < image.shape[1] - 8:
            wide, tall = int(room.rng.integers(9, 24)), int(step * room.rng.uniform(0.45, 0.8))
            color = colors[int(room.rng.integers(len(colors)))]
            label = colors[int(room.rng.integers(len(colors)))]
            for _ in range(int(room.rng.integers(2, 6))):
                if x + wide > image.shape[1] - 2:
                    break
                image[bottom - tall : bottom, x : x + wide - 1] = color
                image[bottom - int(tall * 0.7) : bottom - int(tall * 0.3), x + 2 : x + wide - 3] = label
                image[bottom - tall : bottom, x + wide - 2] = tuple(c // 2 for c in color)
                x += wide
            x += 2
        image[bottom : bottom + 7] = shelf
        for price in range(10, image.shape[1] - 12, 34):
            image[bottom + 1 : bottom + 6, price : price + 11] = (250, 240, 130)
    return image


def books(room: Room, width: float, rows: int, height: float, frame: Color) -> Array:
    """Draw the front of a bookcase: 160 pixels a metre."""
    scale = 160
    image = np.empty((int(height * scale), max(int(width * scale), 16), 3), np.uint8)
    image[:] = tuple(c // 4 for c in frame)
    step = image.shape[0] // rows
    hues = [
        (128, 30, 34),
        (32, 62, 110),
        (36, 84, 58),
        (150, 112, 54),
        (88, 60, 110),
        (190, 178, 150),
        (52, 52, 58),
        (170, 82, 36),
        (60, 110, 128),
    ]
    for row in range(rows):
        bottom = (row + 1) * step - 6
        x = 3
        while x < image.shape[1] - 10:
            wide, tall = int(room.rng.integers(4, 12)), int(step * room.rng.uniform(0.6, 0.86))
            if room.rng.random() < 0.04:
                x += int(room.rng.integers(8, 40))
                continue
            color = np.array(hues[int(room.rng.integers(len(hues)))]) * room.rng.uniform(0.7, 1.25)
            spine = np.clip(color, 0, 250).astype(np.uint8)
            image[bottom - tall : bottom, x : x + wide] = spine
            image[bottom - tall : bottom, x + wide - 1] = spine // 2
            if wide > 6:
                band = bottom - int(tall * room.rng.uniform(0.6, 0.85))
                image[band : band + 5, x + 1 : x + wide - 2] = (224, 204, 140)
            x += wide
        image[bottom : bottom + 6] = frame
    image[:, :4] = image[:, -4:] = frame
    image[:4] = frame
    return image


def globe(room: Room, at: Vector, radius: float) -> Pieces:
    """A globe with oceans and lands on a wooden foot."""
    land = noise(room.rng, 512, 8)[:256] + 0.5 * noise(room.rng, 512, 32)[:256]
    image = np.empty((256, 512, 3), np.uint8)
    image[:] = (36, 92, 160)
    image[land > 0.12] = (150, 160, 84)
    image[land > 0.55] = (176, 140, 92)
    image[:18] = image[-18:] = (236, 240, 242)
    texture = Texture.fitted(image, 2 * math.pi * radius, math.pi * radius)
    x, y, z = at
    pieces = room.add(Ball((x, y, z + radius + 0.12), radius, texture))
    pieces += room.cylinder((x, y), radius * 0.12, z, z + 0.14, Texture.plain((92, 58, 34)))
    return pieces + room.cylinder((x, y), radius * 0.55, z, z + 0.03, Texture.plain((92, 58, 34)), (104, 66, 40))


def suitcase(room: Room, at: tuple[float, float], color: Color) -> Pieces:
    """A suitcase standing on the floor."""
    x, y = at
    image = np.full((96, 64, 3), color, np.uint8)
    image[:, ::10] = tuple(int(c * 0.72) for c in color)
    face = Texture.fitted(image, 0.46, 0.66)
    pieces = room.box((x - 0.23, y - 0.13, 0.05), (x + 0.23, y + 0.13, 0.7), face)
    for dx in (-0.1, 0.1):
        pieces += room.cylinder((x + dx, y), 0.012, 0.7, 0.98, PLAIN_STEEL)
    pieces += room.box((x - 0.12, y - 0.02, 0.96), (x + 0.12, y + 0.02, 1.0), Texture.plain((30, 30, 32)), shadow=False)
    return pieces


def poster(room: Room) -> Array:
    """Draw an advertisement: hills, a sun, lines of unreadable print."""
    rng = room.rng
    sky, hill = rng.integers(120, 240, 3), rng.integers(30, 150, 3)
    image = np.empty((240, 170, 3), np.uint8)
    image[:] = np.linspace(sky, np.minimum(sky + 50, 255), 240)[:, None]
    cv2.circle(image, (int(rng.integers(30, 140)), int(rng.integers(30, 80))), 20, (250, 220, 130), -1, cv2.LINE_AA)
    for k in range(3):
        x = np.arange(170)
        y = 110 + 34 * k + 18 * np.sin(x / float(rng.uniform(14, 40)) + float(rng.uniform(0, 6)))
        line = np.stack((x, y), -1).astype(np.int32)
        outline = np.concatenate((line, [[169, 239], [0, 239]]))
        cv2.fillPoly(image, [outline], tuple(int(c * (1 - 0.22 * k)) for c in hill), cv2.LINE_AA)
    for k in range(3):
        cv2.rectangle(image, (18, 196 + 12 * k), (int(rng.integers(90, 150)), 201 + 12 * k), (240, 236, 226), -1)
    cv2.rectangle(image, (0, 0), (169, 239), (50, 50, 52), 5)
    return image


def daylight(room: Room) -> Array:
    """Draw a window: sky, roofs and a mullion."""
    image = np.empty((200, 160, 3), np.uint8)
    image[:] = np.linspace((176, 208, 240), (236, 240, 242), 200)[:, None]
    x = 0
    while x < 160:
        wide, top = int(room.rng.integers(20, 50)), int(room.rng.integers(96, 150))
        image[top:, x : x + wide] = room.rng.integers(120, 170, 3)
        x += wide
    image[:, 76:84] = image[:, :7] = image[:, -7:] = (84, 84, 86)
    image[:7] = image[-7:] = image[96:102] = (84, 84, 86)
    return image


def window_front(room: Room, width: float) -> Array:
    """Draw the lit front of a shop or an office behind glass."""
    columns = int(width * 80)
    image = np.empty((184, columns, 3), np.uint8)
    image[:] = np.linspace((250, 236, 204), (186, 160, 124), 184)[:, None]
    for k in range(0, columns, 34):
        top = int(room.rng.integers(60, 110))
        image[top:150, k + 3 : k + 29] = room.rng.integers(70, 220, 3)
    for y in (58, 104, 150):
        image[y : y + 5] = (120, 90, 60)
    glass = np.zeros((184, columns), np.float32)
    for k in range(-184, columns, 110):
        cv2.line(glass, (k, 184), (k + 120, 0), 1.0, 14, cv2.LINE_AA)
    image = np.clip(image + 22 * glass[:, :, None], 0, 255).astype(np.uint8)
    for k in np.linspace(0, columns - 6, max(2, round(width / 1.3))).astype(int):
        image[:, k : k + 6] = (60, 60, 62)
    image[:6] = image[-6:] = (60, 60, 62)
    return np.asarray(image)


def screen(room: Room, lines: list[str]) -> Array:
    """Draw the front of a machine with a screen and a slot."""
    text = sign.panel(lines, sign.Style((226, 236, 244), (20, 60, 120)))
    image = np.full((400, 200, 3), (52, 60, 72), np.uint8)
    wide = 170
    tall = min(int(wide * text.shape[0] / text.shape[1]) + 30, 170)
    image[40 : 40 + tall, 15:185] = (226, 236, 244)
    small = cv2.resize(text, (wide, tall - 30), interpolation=cv2.INTER_AREA)
    image[55 : 55 + small.shape[0], 15:185] = small
    image[240:300, 60:140] = (30, 32, 36)
    image[262:270, 70:130] = (190, 190, 190)
    image[330:380, 40:160] = (24, 26, 30)
    return image


def vending(room: Room) -> Array:
    """Draw the front of a vending machine."""
    colors: list[Color] = [(220, 40, 40), (40, 110, 200), (240, 190, 40), (60, 150, 80), (240, 240, 240)]
    shelf = goods(room, 1.5, 5, 2.4, colors)
    image = np.full((shelf.shape[0], int(shelf.shape[1] * 1.3), 3), (190, 24, 30), np.uint8)
    image[8 : shelf.shape[0] - 60, 8 : shelf.shape[1]] = shelf[8:-60, :-8]
    image[100:160, shelf.shape[1] + 14 : -14] = (230, 236, 240)
    return image
