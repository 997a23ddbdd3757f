"""A library: bookcases with their subjects, an information desk, a reading room, tables and a globe."""

from __future__ import annotations

import numpy as np

from hvs_ros.mock.rooms import furniture as things
from hvs_ros.mock.rooms import sign
from hvs_ros.mock.rooms.room import Gap, Pieces, Room, Wall
from hvs_ros.mock.rooms.texture import Color, Texture, planks, plaster, shade

_SUBJECTS = (
    "HISTORY",
    "FICTION",
    "SCIENCE",
    "ART",
    "TRAVEL",
    "MUSIC",
    "POETRY",
    "LAW",
    "MEDICINE",
    "COOKING",
    "SPORT",
    "COMICS",
)


def build(room: Room) -> None:
    """Build the library around the eye."""
    rng = room.rng
    room.ambient = (0.26, 0.245, 0.22)
    base = float(rng.choice([0, 90, 180, 270]))
    ahead, right, behind, left = (float(d) for d in rng.uniform((7, 6.5, 6, 6.5), (8.5, 8, 7, 8)))
    height = float(rng.uniform(3.7, 4.3))
    reach = max(ahead + 6, right, behind, left) + 1
    oak: Color = [(150, 104, 66), (118, 78, 50), (174, 130, 86)][int(rng.integers(3))]
    room.floor((-reach, -reach), (reach, reach), planks(rng, (158, 116, 78)), 0.3)
    room.ceiling((-reach, -reach), (reach, reach), height, plaster(rng, (236, 230, 218)))
    paint = plaster(rng, [(214, 204, 178), (190, 200, 186), (204, 190, 180)][int(rng.integers(3))])
    style = (sign.WOOD, sign.TEAL, sign.BLACK, sign.RED)[int(rng.integers(4))]
    walls = [
        Wall(room, base, ahead, -left, right, height),
        Wall(room, base + 90, right, -ahead, behind, height),
        Wall(room, base + 180, behind, -right, left, height),
        Wall(room, base + 270, left, -behind, ahead, height),
    ]
    names = [_SUBJECTS[int(k)] for k in rng.permutation(len(_SUBJECTS))]
    signs: dict[str, Pieces] = {}
    _reading_room(room, walls[0], paint, oak, names[:2], signs, style)
    for wall, some in ((walls[1], names[2:5]), (walls[3], names[5:7])):
        wall.build(paint)
        middle = (wall.left + wall.right) / 2 + float(rng.uniform(-0.5, 0.5))
        for k, name in enumerate(some):
            s = middle + (k - (len(some) - 1) / 2) * 3.5
            signs[name] = _bookcase(room, wall, s, 3.0, oak, name, style)
    _entrance(room, walls[2], paint, oak)
    for side, name in ((-1, names[7]), (1, names[8])):
        signs[name] = _free_case(room, walls[0], side * float(rng.uniform(3.0, 3.6)), oak, name, style)
    for k in rng.choice(len(signs), 3, replace=False):
        name = list(signs)[int(k)]
        asks = [
            f"Find the shelf labelled {name}.",
            f"Find the books on {name.lower()}.",
            f"Where is the {name.lower()} shelf?",
        ]
        room.find(asks[int(rng.integers(3))], signs[name])
    _tables(room, walls[0], oak)
    for s in np.arange(-left + 2, right - 1, 3.6):
        for d in np.arange(-behind + 1.8, ahead - 1, 3.4):
            x, y, _ = Wall(room, base, float(d), 0, 0, 0).at(float(s), 0)
            room.lamp((x, y, height), (0.9, 0.9), 5.0, (255, 236, 204))


def _bookcase(room: Room, wall: Wall, s: float, width: float, oak: Color, name: str, style: sign.Style) -> Pieces:
    corners = np.array([wall.at(s - width / 2, 0, 0.4), wall.at(s + width / 2, 2.3, 0.0)])
    room.box(tuple(corners.min(0)), tuple(corners.max(0)), things.wood(room, oak))
    half = width / 2
    for k in (-1, 1):
        wall.picture(s + k * half / 2, 1.12, things.books(room, half, 6, 2.2, oak), (half, 2.2), 0.41)
    return wall.sign(s, 2.62, sign.panel([name], style), 0.42, 0.22)


def _free_case(room: Room, wall: Wall, s: float, oak: Color, name: str, style: sign.Style) -> Pieces:
    """Add a bookcase that stands free, its end towards the middle of the room."""
    out = wall.distance - 3.6
    corners = np.array([wall.at(s - 0.35, 0, out - 1.3), wall.at(s + 0.35, 2.0, out + 1.3)])
    low, high = corners.min(0), corners.max(0)
    faces = {}
    for look in (0, 90, 180, 270):
        if (look - wall.look) % 180 != 0:
            size = (high - low)[0 if look % 180 == 0 else 1]
            faces[look] = Texture.fitted(things.books(room, size, 5, 2.0, oak), size, 2.0)
    room.box(tuple(low), tuple(high), things.wood(room, oak), None, faces)
    end = Wall(room, wall.look, wall.distance - out - 1.3, 0, 0, 0)
    return end.sign(s, 2.18, sign.panel([name], style), 0.34, 0.22)


def _reading_room(
    room: Room, wall: Wall, paint: Texture, oak: Color, names: list[str], signs: dict[str, Pieces], style: sign.Style
) -> None:
    rng = room.rng
    middle = (wall.left + wall.right) / 2
    s = middle + float(rng.uniform(-1.0, 1.0))
    gap = Gap(s - 1.2, s + 1.2, 2.6)
    wall.build(paint, [gap])
    end = wall.passage(gap, 5.0, paint, shade(oak, 0.7))
    end.picture(s, 1.5, things.daylight(room), (1.4, 1.8), 0.02, 0.9)
    place, question = [
        ("Reading room", "Which way should you walk to reach the reading room?"),
        ("Study rooms", "Which way should you walk to reach the study rooms?"),
        ("Archive", "Which way should you walk to reach the archive?"),
    ][int(rng.integers(3))]
    wall.sign(s, 3.02, sign.panel([place], sign.WHITE, "up"), 0.4, 0.3)
    room.walk(question, *wall.corners(gap))
    for k, name in zip((-1, 1), names, strict=True):
        signs[name] = _bookcase(room, wall, s + k * 3.7, 3.0, oak, name, style)


def _entrance(room: Room, wall: Wall, paint: Texture, oak: Color) -> None:
    rng = room.rng
    wall.build(paint)
    flip = float(rng.choice([-1, 1]))
    middle = (wall.left + wall.right) / 2
    at = middle + flip * 2.6
    things.door(room, wall, at, shade(oak, 0.6), 0.95, 2.3, window=True, double=True)
    pieces = wall.sign(at, 2.72, sign.panel(["EXIT"], sign.GREEN, None, "running man"), 0.36, 0.6)
    room.find("Find the exit sign." if rng.random() < 0.5 else "You want to leave. Find the way out.", pieces)
    desk = middle - flip * 2.4
    corners = np.array([wall.at(desk - 1.6, 0, 2.0), wall.at(desk + 1.6, 0, 1.3)])
    low, high = corners.min(0), corners.max(0)
    things.counter(room, (low[0], low[1]), (high[0], high[1]), things.wood(room, oak), (70, 62, 56))
    words = ["Information"] if rng.random() < 0.5 else ["Loans and returns"]
    pieces = room.hang(
        wall.look, wall.at(desk, 2.55, 1.7), sign.panel(words, sign.BLUE, None, "information"), 0.36, wall.height, 0.3
    )
    room.find(
        "Find the information desk." if words == ["Information"] else "Find the desk where you return books.", pieces
    )
    x, y, _ = wall.at(desk - 0.8, 0, 1.6)
    room.box((x - 0.2, y - 0.2, 1.05), (x + 0.2, y + 0.2, 1.4), Texture.plain((40, 42, 46)))
    things.door(room, wall, middle + flip * 5.2, (112, 120, 124))
    wall.sign(middle + flip * 5.2, 2.46, sign.panel(["WC"], sign.WHITE, None, "restroom"), 0.34, 0.25)
    things.clock(room, wall, middle, 2.9, 0.32)
    for k in (-1, 1):
        wall.picture(desk + k * 1.1, 1.9, things.daylight(room), (1.5, 1.7), 0.02, 0.9)
    wall.sign(at - flip * 1.6, 1.7, sign.panel(["Silence", "please"], sign.WHITE), 0.36, 0.2)


def _tables(room: Room, wall: Wall, oak: Color) -> None:
    rng = room.rng
    top = things.wood(room, shade(oak, 1.15))
    spots = [(-2.6, -2.6), (2.8, -2.4), (0.3, 3.4)]
    special = int(rng.integers(3))
    for number, (s, d) in enumerate(spots):
        x, y, _ = wall.at(s + float(rng.uniform(-0.3, 0.3)), 0, wall.distance - d)
        room.box((x - 0.75, y - 0.45, 0.72), (x + 0.75, y + 0.45, 0.76), top)
        for dx in (-0.68, 0.68):
            for dy in (-0.38, 0.38):
                room.box((x + dx - 0.03, y + dy - 0.03, 0.0), (x + dx + 0.03, y + dy + 0.03, 0.72), top, shadow=False)
        for dx in (-0.4, 0.4):
            side = 0.75 if y > 0 else -0.75
            _chair(room, (x + dx, y + side), top)
        if number == special:
            pieces = things.globe(room, (x, y, 0.76), 0.22)
            room.find("Find the globe on the table.", pieces, by_sign=False)
        else:
            _desk_lamp(room, (x + 0.5, y))
            for k in range(int(rng.integers(2, 5))):
                red, green, blue = (int(c) for c in rng.integers(40, 190, 3))
                z = 0.76 + 0.045 * k
                turn = float(rng.uniform(-0.03, 0.03))
                room.box(
                    (x - 0.5 + turn, y - 0.12, z),
                    (x - 0.22 + turn, y + 0.1, z + 0.042),
                    Texture.plain((red, green, blue)),
                    shadow=False,
                )


def _chair(room: Room, at: tuple[float, float], wood: Texture) -> None:
    x, y = at
    room.box((x - 0.2, y - 0.2, 0.42), (x + 0.2, y + 0.2, 0.46), wood)
    back = 0.18 if y > 0 else -0.2
    room.box((x - 0.2, y + back, 0.46), (x + 0.2, y + back + 0.03, 0.9), wood)
    for dx in (-0.18, 0.16):
        for dy in (-0.18, 0.16):
            room.box((x + dx, y + dy, 0.0), (x + dx + 0.03, y + dy + 0.03, 0.42), wood, shadow=False)


def _desk_lamp(room: Room, at: tuple[float, float]) -> None:
    x, y = at
    room.cylinder(at, 0.09, 0.76, 0.78, things.PLAIN_STEEL, (120, 110, 80))
    room.cylinder(at, 0.015, 0.78, 1.08, Texture.plain((170, 140, 70)))
    room.box(
        (x - 0.16, y - 0.06, 1.06), (x + 0.16, y + 0.06, 1.16), Texture.plain((24, 110, 70)), shadow=False, glow=0.35
    )
