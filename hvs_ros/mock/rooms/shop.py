"""A shop: shelves of goods under hanging signs, cash desks, a counter, a way out."""

from __future__ import annotations

import cv2
import numpy as np

from hvs_ros.mock.rooms import furniture as things
from hvs_ros.mock.rooms import sign
from hvs_ros.mock.rooms.room import Gap, Pieces, Room, Wall
from hvs_ros.mock.rooms.texture import Color, Texture, plaster, tiles

_AISLES: dict[str, tuple[str, list[Color]]] = {
    "Bread": ("Find the bread.", [(196, 150, 92), (224, 186, 128), (160, 106, 60), (240, 226, 190)]),
    "Drinks": ("Find the shelf with the drinks.", [(200, 30, 36), (30, 110, 60), (240, 150, 30), (60, 120, 200)]),
    "Dairy": (
        "Find the sign of the dairy products.",
        [(240, 242, 244), (120, 170, 220), (250, 226, 120), (60, 110, 180)],
    ),
    "Coffee": ("Find the coffee.", [(80, 48, 30), (190, 30, 36), (210, 180, 110), (40, 36, 34)]),
    "Toys": ("Find the toys.", [(240, 80, 120), (80, 190, 220), (250, 210, 60), (130, 90, 200)]),
    "Fruit": ("Find the fruit.", [(240, 150, 40), (210, 50, 40), (130, 180, 60), (250, 220, 80)]),
    "Sweets": ("Find the sweets.", [(230, 70, 130), (250, 200, 60), (120, 60, 150), (240, 240, 236)]),
    "Pasta": ("Find the pasta.", [(40, 80, 160), (250, 220, 130), (190, 40, 40), (230, 200, 140)]),
}


def build(room: Room) -> None:
    """Build the shop around the eye."""
    rng = room.rng
    base = float(rng.choice([0, 90, 180, 270]))
    ahead, right, behind, left = (float(d) for d in rng.uniform((7, 6.5, 6, 6.5), (8.5, 8, 7.5, 8)))
    height = float(rng.uniform(3.2, 3.6))
    reach = max(ahead, right, behind + 6, left) + 1
    room.floor((-reach, -reach), (reach, reach), tiles(rng, (206, 204, 198), (178, 176, 170), 0.45, 0.03), 0.4)
    room.ceiling((-reach, -reach), (reach, reach), height, tiles(rng, (230, 230, 228), (182, 182, 182), 0.6, 0.01))
    paint = plaster(rng, [(230, 226, 214), (216, 226, 214), (232, 220, 204)][int(rng.integers(3))])
    style = (sign.RED, sign.ORANGE, sign.GREEN, sign.TEAL, sign.BLUE)[int(rng.integers(5))]
    walls = [
        Wall(room, base, ahead, -left, right, height),
        Wall(room, base + 90, right, -ahead, behind, height),
        Wall(room, base + 180, behind, -right, left, height),
        Wall(room, base + 270, left, -behind, ahead, height),
    ]
    names = [list(_AISLES)[int(k)] for k in rng.permutation(len(_AISLES))]
    signs: dict[str, Pieces] = {}
    for number, wall in enumerate((walls[0], walls[3])):
        wall.build(paint)
        middle = (wall.left + wall.right) / 2 + float(rng.uniform(-0.8, 0.8))
        for side in (-1, 1):
            name = names[2 * number + (side > 0)]
            signs[name] = _wall_shelf(room, wall, middle + side * 2.3, 3.6, name, style)
    for side in (-1, 1):
        name = names[4 + (side > 0)]
        signs[name] = _gondola(room, walls[0], side * 3.9, ahead - float(rng.uniform(2.2, 3.2)), name, style, height)
    signs[names[6]] = _gondola(room, walls[0], -3.9, ahead + float(rng.uniform(2.4, 3.2)), names[6], style, height)
    for k in rng.choice(7, 2, replace=False):
        room.find(_AISLES[names[int(k)]][0], signs[names[int(k)]])
    _service(room, walls[1], paint)
    _front(room, walls[2], paint)
    _loose(room, walls[0])
    x, y, _ = walls[0].at(float(rng.uniform(-1.2, 1.2)), 2.6, 2.2)
    room.hang(base, (x, y, 2.7), sign.panel(["SALE   -50%"], sign.RED), 0.34, height, 0.35)
    for s in np.arange(-left + 1.6, right - 1, 3.4):
        for d in np.arange(-behind + 1.6, ahead - 1, 3.2):
            x, y, _ = Wall(room, base, float(d), 0, 0, 0).at(float(s), 0)
            room.lamp((x, y, height), (1.5, 0.3) if base % 180 == 0 else (0.3, 1.5), 4.0)


def _wall_shelf(room: Room, wall: Wall, s: float, width: float, name: str, style: sign.Style) -> Pieces:
    """Add a shelf along a wall with its name above it."""
    corners = np.array([wall.at(s - width / 2, 0, 0.5), wall.at(s + width / 2, 2.0, 0.0)])
    room.box(tuple(corners.min(0)), tuple(corners.max(0)), Texture.plain((96, 96, 98)))
    front = things.goods(room, width, 5, 1.9, _AISLES[name][1])
    wall.picture(s, 1.0, front, (width - 0.08, 1.9), 0.51)
    picture = sign.panel([name], style)
    return wall.sign(s, 2.42, picture, 0.44, 0.3)


def _gondola(room: Room, wall: Wall, s: float, out: float, name: str, style: sign.Style, height: float) -> Pieces:
    """Add a low shelf that stands free, with its name hanging over it."""
    deep, wide = 0.8, 2.8
    corners = np.array([wall.at(s - deep / 2, 0, out - wide / 2), wall.at(s + deep / 2, 1.36, out + wide / 2)])
    low, high = corners.min(0), corners.max(0)
    faces = {}
    for look in (0, 90, 180, 270):
        size = (high - low)[0 if look % 180 == 0 else 1]
        faces[look] = Texture.fitted(things.goods(room, size, 3, 1.36, _AISLES[name][1]), size, 1.36)
    room.box(tuple(low), tuple(high), Texture.plain((150, 150, 150)), Texture.plain((190, 190, 188)), faces)
    x, y = (low[:2] + high[:2]) / 2
    toward = float(np.degrees(np.arctan2(x, y)))
    return room.hang(toward, (float(x), float(y), 2.45), sign.panel([name], style), 0.42, height, 0.3)


def _service(room: Room, wall: Wall, paint: Texture) -> None:
    """Cash desks along one side."""
    rng = room.rng
    wall.build(paint)
    first = wall.right - float(rng.uniform(1.6, 2.4)) - 5.4
    front = things.wood(room, [(172, 128, 84), (120, 124, 130), (96, 132, 128)][int(rng.integers(3))])
    desks: list[Pieces] = []
    for k in range(3):
        s = first + 2.7 * k
        corners = np.array([wall.at(s - 0.95, 0, 3.1), wall.at(s + 0.35, 0, 2.3)])
        low, high = corners.min(0), corners.max(0)
        things.counter(room, (low[0], low[1]), (high[0], high[1]), front, (52, 54, 58), 0.95)
        x, y, _ = wall.at(s + 0.1, 0, 2.7)
        room.box((x - 0.16, y - 0.16, 0.95), (x + 0.16, y + 0.16, 1.3), Texture.plain((40, 42, 46)))
        picture = sign.panel([f"Cash desk {k + 1}"], sign.YELLOW)
        desks.append(room.hang(wall.look, wall.at(s - 0.3, 2.3, 2.7), picture, 0.36, 3.2, 0.4))
    asked = int(rng.integers(3))
    room.find(f"Find cash desk {asked + 1}.", desks[asked])
    wall.sign(
        (wall.left + wall.right) / 2, 2.55, sign.panel(["Customer service"], sign.BLUE, None, "information"), 0.42, 0.3
    )
    wall.picture((wall.left + wall.right) / 2, 1.3, things.window_front(room, 3.0), (3.0, 1.7), 0.03, 0.3)


def _front(room: Room, wall: Wall, paint: Texture) -> None:
    """The side with the doors and the passage to another department."""
    rng = room.rng
    flip = float(rng.choice([-1, 1]))
    middle = (wall.left + wall.right) / 2
    gap = Gap(middle + flip * 3.4 - 1.1, middle + flip * 3.4 + 1.1, 2.4)
    wall.build(paint, [gap])
    end = wall.passage(gap, 5.0, paint)
    end.picture((gap.left + gap.right) / 2, 1.3, things.poster(room), (1.0, 1.4))
    words, question = [
        ("Garden centre", "Which way should you walk to reach the garden centre?"),
        ("Electronics", "You need a new phone. Which way to the electronics department?"),
        ("Shoes", "Which way should you walk to reach the shoes?"),
    ][int(rng.integers(3))]
    picture = sign.panel([words], sign.BLACK, "right" if flip > 0 else "left")
    wide = 0.4 * picture.shape[1] / picture.shape[0]
    wall.sign((gap.left if flip > 0 else gap.right) - flip * (0.4 + wide / 2), 2.1, picture, 0.4, 0.3)
    room.walk(question, *wall.corners(gap))
    at = middle - flip * 2.6
    things.door(room, wall, at, (80, 84, 90), 1.0, 2.2, window=True, double=True)
    pieces = wall.sign(at, 2.62, sign.panel(["EXIT"], sign.GREEN, None, "running man"), 0.38, 0.6)
    room.find("Find the way out of the shop." if rng.random() < 0.5 else "Find the EXIT sign.", pieces)
    things.plant(room, wall.at(at - 1.7, 0, 0.5)[:2], 1.5)
    pieces = things.extinguisher(room, wall, at + 1.6)
    if rng.random() < 0.5:
        room.find("Find the red fire extinguisher.", pieces, by_sign=False)


def _loose(room: Room, wall: Wall) -> None:
    """Baskets and a trolley in the aisle."""
    rng = room.rng
    hue, color = [("blue", (30, 84, 170)), ("green", (40, 134, 70)), ("orange", (226, 110, 30))][int(rng.integers(3))]
    s, d = float(rng.choice([-1, 1])) * float(rng.uniform(1.3, 2.0)), float(rng.uniform(1.6, 2.6))
    x, y, _ = wall.at(s, 0, wall.distance - d)
    pieces: Pieces = []
    side = np.full((32, 96, 3), color, np.uint8)
    side[12:26, 6:92:9] = side[12:26, 7:92:9] = side[12:26, 8:92:9] = tuple(c // 3 for c in color)
    side[:5] = tuple(int(c * 0.75) for c in color)
    inside = np.full((64, 96, 3), tuple(c // 3 for c in color), np.uint8)
    cv2.rectangle(inside, (0, 0), (95, 63), color, 6)
    for k in range(5):
        z = 0.02 + 0.1 * k
        low, high = (x - 0.24, y - 0.17, z), (x + 0.24, y + 0.17, z + 0.1)
        pieces += room.box(low, high, Texture.fitted(side, 0.48, 0.1), Texture.fitted(inside, 0.48, 0.34))
    for at in (-0.06, 0.06):
        bar = Texture.plain((40, 40, 44))
        pieces += room.box((x - 0.2, y + at - 0.01, 0.53), (x + 0.2, y + at + 0.01, 0.55), bar, shadow=False)
    room.find(f"Find the stack of {hue} shopping baskets on the floor.", pieces, by_sign=False)
