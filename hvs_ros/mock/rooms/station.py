"""A station hall: platforms behind portals, tickets, shops, a way out."""

from __future__ import annotations

import numpy as np

from hvs_ros.mock.rooms import furniture as things
from hvs_ros.mock.rooms import sign
from hvs_ros.mock.rooms.room import Gap, Room, Wall
from hvs_ros.mock.rooms.texture import Texture, bricks, plaster, shade, tiles

_CITIES = ("Lyon", "Milano", "Basel", "Gent", "Porto", "Graz", "Leeds", "Turku", "Brno", "Oslo", "Nantes", "Delft")


def build(room: Room) -> None:
    """Build the hall around the eye."""
    rng = room.rng
    base = float(rng.choice([0, 90, 180, 270]))
    ahead, right, behind, left = (float(d) for d in rng.uniform((8, 9, 7, 9), (11, 12, 9, 12)))
    height = float(rng.uniform(4.8, 5.8))
    reach = max(ahead + 8, right + 1, behind + 1, left + 7)
    stone = [(206, 198, 184), (196, 200, 204), (214, 204, 190)][int(rng.integers(3))]
    room.floor((-reach, -reach), (reach, reach), tiles(rng, stone, shade(stone, 0.78), 0.8), 0.5)
    room.ceiling((-reach, -reach), (reach, reach), height, tiles(rng, (226, 226, 224), (176, 176, 176), 1.2, 0.01))
    wall_colors = [(222, 214, 198), (208, 214, 216), (226, 220, 208)]
    paint = plaster(rng, wall_colors[int(rng.integers(3))])
    brick = bricks(rng, (168, 104, 78), (196, 186, 172))
    style = sign.DIRECTION_STYLES[int(rng.integers(len(sign.DIRECTION_STYLES)))]

    walls = [
        Wall(room, base, ahead, -left, right, height),
        Wall(room, base + 90, right, -ahead, behind, height),
        Wall(room, base + 180, behind, -right, left, height),
        Wall(room, base + 270, left, -behind, ahead, height),
    ]
    _platforms(room, walls[0], paint, brick, style)
    _tickets(room, walls[1], paint, style)
    _entrance(room, walls[2], brick)
    _shops(room, walls[3], paint, style)
    _middle(room, walls, height)
    for s in np.arange(-left + 2.5, right - 1, 4.5):
        for d in np.arange(-behind + 2.2, ahead - 1, 4.2):
            x, y, _ = Wall(room, base, float(d), 0, 0, 0).at(float(s), 0)
            room.lamp((x, y, height), (1.8, 0.5) if base % 180 == 0 else (0.5, 1.8), 7.0)


def _platforms(room: Room, wall: Wall, paint: Texture, brick: Texture, style: sign.Style) -> None:
    rng = room.rng
    first = int(rng.integers(1, 7))
    middle = (wall.left + wall.right) / 2 + float(rng.uniform(-1, 1))
    spread = float(rng.uniform(4.6, 5.6))
    gaps = [Gap(middle + k * spread - 1.4, middle + k * spread + 1.4, 2.9) for k in (-1, 0, 1)]
    wall.build(paint, gaps)
    asked = int(rng.integers(3))
    for k, gap in enumerate(gaps):
        end = wall.passage(gap, 7.0, brick)
        poster = things.poster(room)
        end.picture((gap.left + gap.right) / 2, 1.6, poster, (1.2, 1.7))
        at = (gap.left + gap.right) / 2
        picture = sign.panel([f"Platform {first + k}"], style, "up", "train")
        wall.sign(at, 3.42, picture, 0.58, 0.35)
        if k == asked:
            ask = [
                "Which way should you walk to reach platform {}?",
                "Your train leaves from platform {}. Which way do you walk?",
            ]
            room.walk(ask[int(rng.integers(2))].format(first + k), *wall.corners(gap))
    for side, turn in ((gaps[0].right, gaps[1].left), (gaps[1].right, gaps[2].left)):
        wall.picture((side + turn) / 2, 1.7, things.poster(room), (1.1, 1.6))
    things.clock(room, wall, middle + spread / 2, 3.55, 0.42)


def _tickets(room: Room, wall: Wall, paint: Texture, style: sign.Style) -> None:
    rng = room.rng
    wall.build(paint)
    start = wall.left + float(rng.uniform(2.2, 3.2))
    desk = things.window_front(room, 4.4)
    wall.picture(start + 2.2, 1.35, desk, (4.4, 2.3), 0.03, 0.35)
    low, high = np.array(wall.at(start, 0, 0.6)), np.array(wall.at(start + 4.4, 0, 0.02))
    corners = np.sort(np.stack((low, high)), axis=0)
    front = things.wood(room, (150, 108, 66))
    things.counter(room, tuple(corners[0, :2]), tuple(corners[1, :2]), front, (60, 56, 54))
    words = [["Tickets"], ["Tickets", "Fahrkarten"], ["Ticket office"]][int(rng.integers(3))]
    pieces = wall.sign(start + 2.2, 3.05, sign.panel(words, style), 0.55 * len(words), 0.35)
    asks = ("Find the sign of the ticket office.", "Find the place where tickets are sold.")
    room.find(asks[0] if rng.random() < 0.5 else asks[1], pieces)
    at = start + 6.0
    for _ in range(2):
        things.machine(room, wall, at, (24, 70, 140), things.screen(room, ["Touch to", "start"]), (0.8, 1.8, 0.5))
        at += 1.15
    things.machine(room, wall, at + 0.8, (160, 24, 30), things.vending(room), (1.0, 1.95, 0.7))
    things.plant(room, wall.at(wall.left + 1.0, 0, 0.8)[:2], 2.0)
    wall.sign(at + 0.3, 2.7, sign.panel(["Lockers"], sign.GREY, "right", "key"), 0.36)
    rows = [
        (f"{9 + k}:{int(rng.integers(10, 60))}", str(rng.choice(_CITIES)), f"{int(rng.integers(1, 12))}")
        for k in range(6)
    ]
    wall.sign(start + 2.2, 4.15, sign.board(rows[:3], sign.BLACK), 0.9, 0.5)


def _entrance(room: Room, wall: Wall, brick: Texture) -> None:
    rng = room.rng
    wall.build(brick)
    s = float(rng.uniform(-2.5, 2.5))
    things.door(room, wall, s, (64, 66, 70), 1.15, 2.4, window=True, double=True)
    words = ["EXIT"] if rng.random() < 0.6 else ["EXIT", "Sortie"]
    pieces = wall.sign(s, 2.95, sign.panel(words, sign.GREEN, None, "running man"), 0.42 * len(words), 0.6)
    ask = ["Find the EXIT sign above the doors.", "Find the way out of the station.", "Find the exit."]
    room.find(ask[int(rng.integers(3))], pieces)
    for side in (-1, 1):
        for k in range(2):
            at = s + side * (3.6 + 2.6 * k)
            if wall.left + 1.2 < at < wall.right - 1.2:
                wall.picture(at, 2.2, things.daylight(room), (1.9, 2.4), 0.02, 0.9)
    at = s + float(rng.choice([-1, 1])) * 2.0
    pieces = things.extinguisher(room, wall, at)
    room.find("Find the red fire extinguisher.", pieces, by_sign=False)
    wall.sign(at, 1.5, sign.panel([], sign.RED, None, "flame", aspect=1.0), 0.24)


def _shops(room: Room, wall: Wall, paint: Texture, style: sign.Style) -> None:
    rng = room.rng
    flip = float(rng.choice([-1, 1]))
    middle = (wall.left + wall.right) / 2
    gap = Gap(middle + flip * 4.6 - 1.3, middle + flip * 4.6 + 1.3, 2.7)
    wall.build(paint, [gap])
    wall.passage(gap, 6.0, paint)
    words, question = [
        (["Taxi   Bus"], "Which way should you walk to get a taxi?"),
        (["Car park"], "You left your car in the car park. Which way should you walk?"),
        (["Metro"], "Which way should you walk to reach the metro?"),
    ][int(rng.integers(3))]
    # The sign stands beside the opening, its arrow points at it.
    inner = gap.left if flip > 0 else gap.right
    arrow = "right" if flip > 0 else "left"
    picture = sign.panel(words, style, arrow)
    wide = 0.46 * picture.shape[1] / picture.shape[0]
    wall.sign(inner - flip * (0.5 + wide / 2), 2.35, picture, 0.46, 0.3)
    room.walk(question, *wall.corners(gap))

    at = middle - flip * 0.9
    name, colors, symbol, question = [
        ("Cafe Central", sign.WOOD, "cup", "Find the cafe."),
        ("Bakery", sign.ORANGE, None, "Find the bakery."),
        ("Newsagent", sign.RED, None, "Find the shop that sells newspapers: the newsagent."),
    ][int(rng.integers(3))]
    wall.picture(at, 1.35, things.window_front(room, 3.4), (3.4, 2.3), 0.03, 0.4)
    pieces = wall.sign(at, 3.05, sign.panel([name], colors, None, symbol), 0.6, 0.35)
    if rng.random() < 0.5:
        room.find(question, pieces)
    at = middle - flip * 4.9
    pieces = things.door(room, wall, at, (92, 112, 128))
    label = ["WC"] if rng.random() < 0.5 else ["Toilets"]
    pieces += wall.sign(at, 2.55, sign.panel(label, sign.BLUE, None, "restroom"), 0.45, 0.35)
    room.find("Find the toilets." if label == ["WC"] else "Find the restroom.", pieces)
    wall.sign(at + flip * 1.1, 1.7, sign.panel([], sign.WHITE, None, "no smoking", aspect=1.0), 0.3)


def _middle(room: Room, walls: list[Wall], height: float) -> None:
    rng = room.rng
    along = walls[0].look % 180 == 0
    stone = plaster(rng, (196, 190, 180))
    for s, d in ((-4.2, 4.0), (4.2, 4.0), (-4.2, -3.6), (4.2, -3.6)):
        x, y, _ = walls[0].at(s, 0, walls[0].distance - d)
        things.pillar(room, (x, y), 0.3, height, stone)
    benches = [(-1.6, -3.4), (1.6, -3.4), (-5.4, 1.2), (5.6, 0.6)]
    color = [(150, 98, 58), (120, 84, 56), (176, 124, 74)][int(rng.integers(3))]
    for number in rng.permutation(4)[:3]:
        s, d = benches[int(number)]
        x, y, _ = walls[0].at(s, 0, walls[0].distance - d)
        things.bench(room, (x, y), 1.9, along == (number < 2), color)
    x, y, _ = walls[0].at(float(rng.uniform(2.2, 3.4)), 0, walls[0].distance - float(rng.uniform(2.0, 3.4)))
    things.bin_(room, (x, y), (70, 84, 92))
    hue, color = [("red", (186, 26, 40)), ("yellow", (232, 184, 24)), ("green", (40, 130, 70))][int(rng.integers(3))]
    x, y, _ = walls[0].at(float(rng.uniform(-3.2, -2.0)), 0, walls[0].distance - float(rng.uniform(1.6, 3.2)))
    pieces = things.suitcase(room, (x, y), color)
    if rng.random() < 0.5:
        room.find(f"Find the {hue} suitcase that somebody left behind.", pieces, by_sign=False)
