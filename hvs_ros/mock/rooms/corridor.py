"""A junction of four corridors in an office building: boards with arrows, numbered doors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hvs_ros.mock.rooms import furniture as things
from hvs_ros.mock.rooms import sign
from hvs_ros.mock.rooms.geometry import Cylinder
from hvs_ros.mock.rooms.room import Gap, Room, Wall, axes
from hvs_ros.mock.rooms.texture import Texture, carpet, plaster, tiles


@dataclass(frozen=True)
class _Arm:
    """One corridor: where it leads to, and the numbers of its rooms."""

    look: float
    length: float
    place: str
    rooms: tuple[int, int]


def build(room: Room) -> None:
    """Build the junction around the eye."""
    rng = room.rng
    wide, height = float(rng.uniform(1.7, 2.1)), float(rng.uniform(2.75, 3.0))
    color = [(226, 222, 212), (214, 222, 220), (228, 222, 202)][int(rng.integers(3))]
    accent = [(66, 118, 150), (150, 86, 60), (84, 126, 84), (120, 92, 140)][int(rng.integers(4))]
    style = sign.DIRECTION_STYLES[int(rng.integers(len(sign.DIRECTION_STYLES)))]
    floor = (
        carpet(rng, (92, 100, 112)) if rng.random() < 0.4 else tiles(rng, (176, 180, 176), (150, 152, 150), 0.5, 0.04)
    )
    room.floor((-17, -17), (17, 17), floor, 0.35)
    room.ceiling((-17, -17), (17, 17), height, tiles(rng, (232, 232, 230), (168, 168, 168), 0.6, 0.012))
    paint, band = plaster(rng, color), plaster(rng, accent)

    floor_number = int(rng.integers(1, 5)) * 100
    places = ["Cafeteria", "Lift", "Toilets", "EXIT"]
    order = [places[int(k)] for k in rng.permutation(4)]
    arms = [
        _Arm(90.0 * k, float(rng.uniform(6.8, 9.5)), place, (floor_number + 10 * k + 1, floor_number + 10 * k + 8))
        for k, place in enumerate(order)
    ]
    # The eye is not quite in the middle of the junction, so that the four corridors look different.
    x, y = (float(v) for v in rng.uniform(-0.55, 0.55, 2))
    for arm in arms:
        _arm(room, arm, _Middle(x, y, wide), height, paint, band)
        _board(room, arm, arms, _Middle(x, y, wide), style, height)
    _tasks(room, arms, _Middle(x, y, wide))


@dataclass(frozen=True)
class _Middle:
    """The middle of the junction as the eye sees it, and half the width of the corridors."""

    x: float
    y: float
    wide: float

    def ahead(self, look: float, distance: float) -> float:
        """Return how far ahead of the eye a place ``distance`` from the middle is, for one who looks at ``look``."""
        _, (x, y, _) = axes(look)
        return distance + x * self.x + y * self.y

    def right(self, look: float) -> float:
        """Return how far right of the eye the middle is."""
        (x, y, _), _ = axes(look)
        return x * self.x + y * self.y

    def across(self, room: Room, look: float, distance: float, height: float) -> Wall:
        """Return the wall across a corridor."""
        right = self.right(look)
        return Wall(room, look, self.ahead(look, distance), right - self.wide, right + self.wide, height)


def _arm(room: Room, arm: _Arm, middle: _Middle, height: float, paint: Texture, band: Texture) -> None:
    rng = room.rng
    near, far = middle.ahead(arm.look, middle.wide), middle.ahead(arm.look, arm.length)
    sides = [
        Wall(room, arm.look - 90, middle.ahead(arm.look - 90, middle.wide), near, far, height),
        Wall(room, arm.look + 90, middle.ahead(arm.look + 90, middle.wide), -far, -near, height),
    ]
    end = middle.across(room, arm.look, arm.length, height)
    end.build(band)
    number = arm.rooms[0]
    wood = [(142, 98, 62), (120, 78, 50), (168, 126, 84)][arm.rooms[0] // 10 % 3]
    for side, step in zip(sides, (1, -1), strict=True):
        side.build(paint)
        first = step * (near + 1.6)
        for k in range(3):
            s = first + step * 2.6 * k
            if abs(s) > far - 0.9:
                break
            things.door(room, side, s, wood, window=k == 1)
            side.sign(s - step * 0.85, 1.62, sign.panel([str(number)], sign.WHITE), 0.2, 0.2)
            number += 1
        if rng.random() < 0.5:
            side.picture(first + step * 1.3, 1.6, things.poster(room), (0.6, 0.85))
    _end(room, arm, end)
    for d in np.arange(1.9, arm.length, 2.4):
        x, y, _ = middle.across(room, arm.look, float(d), 0).at(middle.right(arm.look), 0)
        room.lamp((x, y, height), (0.6, 0.6), 2.1)
    corner = sides[1].at(-near - 0.5, 0, 0.4)[:2]
    if arm.place == "EXIT":
        room.find("Find the red fire extinguisher.", things.extinguisher(room, sides[0], near + 0.45), by_sign=False)
    elif arm.place == "Cafeteria":
        room.find("Find the green plant in the pot.", things.plant(room, corner, 1.6), by_sign=False)
    elif arm.place == "Lift":
        things.bin_(room, corner, (88, 100, 84))
    else:
        _cooler(room, corner)


def _end(room: Room, arm: _Arm, end: Wall) -> None:
    at = (end.left + end.right) / 2 + float(room.rng.uniform(-0.4, 0.4))
    if arm.place == "Lift":
        things.door(room, end, at, (170, 174, 180), 0.62, 2.1, double=True)
        pieces = end.sign(at, 2.46, sign.panel(["Lift"], sign.WHITE, None, "lift"), 0.42, 0.3)
        room.find("Find the lift." if room.rng.random() < 0.5 else "Find the elevator.", pieces)
    elif arm.place == "EXIT":
        things.door(room, end, at, (70, 76, 80), 0.95, 2.1, window=True, double=True)
        pieces = end.sign(at, 2.46, sign.panel(["EXIT"], sign.GREEN, None, "running man"), 0.42, 0.6)
        room.find("Find the exit sign above the door.", pieces)
    elif arm.place == "Toilets":
        pieces = things.door(room, end, at, (92, 120, 136))
        label = "WC" if room.rng.random() < 0.5 else "Toilets"
        pieces += end.sign(at, 2.46, sign.panel([label], sign.BLUE, None, "restroom"), 0.42, 0.3)
        room.find("Find the door of the toilets.", pieces)
    else:
        end.picture(at, 1.5, things.daylight(room), (1.6, 1.9), 0.02, 0.9)
        end.sign(at, 2.6, sign.panel(["Cafeteria"], sign.WOOD, None, "cup"), 0.3, 0.3)


def _board(room: Room, arm: _Arm, arms: list[_Arm], middle: _Middle, style: sign.Style, height: float) -> None:
    """Hang the board that one sees when looking into an arm: what is straight on, to the left and to the right."""
    rows = []
    for turn, arrow in ((0, "up"), (270, "left"), (90, "right")):
        other = next(a for a in arms if a.look == (arm.look + turn) % 360)
        words = f"{other.place}   Rooms {other.rooms[0]} - {other.rooms[1]}"
        rows.append(sign.panel([words], style, arrow))
    image = sign.stack(rows, style)
    tall = 0.57
    x, y, _ = middle.across(room, arm.look, 2.7, 0).at(middle.right(arm.look), 0)
    room.hang(arm.look, (x, y, height - 0.12 - tall / 2), image, tall, height, 0.3)


def _tasks(room: Room, arms: list[_Arm], middle: _Middle) -> None:
    rng = room.rng
    asked = [arm for arm in arms if arm.place == "Cafeteria"]
    asked.append(arms[int(rng.integers(4))])
    # One of the rooms too far down the corridor for their plates to be seen: the boards alone tell the way.
    number = asked[1].rooms[1] - int(rng.integers(2))
    questions = [
        "Which way should you walk to reach the cafeteria?",
        f"Which way should you walk to reach room {number}?",
    ]
    for arm, question in zip(asked, questions, strict=True):
        mouth = middle.across(room, arm.look, 5.0, 0)
        room.walk(question, *mouth.corners(Gap(mouth.left, mouth.right)))


def _cooler(room: Room, at: tuple[float, float]) -> None:
    x, y = at
    room.box((x - 0.17, y - 0.17, 0.0), (x + 0.17, y + 0.17, 1.0), Texture.plain((232, 234, 236)))
    room.add(Cylinder(at, 0.14, 1.0, 1.36, Texture.plain((120, 176, 220))))
    room.disc((x, y, 1.36), 0.14, (150, 196, 230))
