"""Panoramas with signs drawn at known directions, and a head that looks around in them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from hvs_ros.angles import Direction
from hvs_ros.panorama import Camera, Panorama, ViewSampler
from hvs_ros.search.view import Arrival, MoveOutcome, Observation, View

WIDTH = 3072
CAMERA = Camera(960, 540, 100.0)
DIRECTIONS = ("right", "up right", "up", "up left", "left", "down left", "down", "down right")
ANGLE = {name: 45 * step for step, name in enumerate(DIRECTIONS)}


@dataclass(frozen=True)
class Sign:
    """Words (and an arrow) at a direction."""

    text: str
    yaw_deg: float
    pitch_deg: float = 5.0
    arrow: str | None = None
    size: int = 34
    color: tuple[int, int, int] = (20, 60, 140)


def panorama(*signs: Sign, doors: tuple[tuple[float, float], ...] = ()) -> Panorama:
    """A grey room with signs, and dark openings at (left, right) yaw."""
    image = Image.new("RGB", (WIDTH, WIDTH // 2), (190, 186, 180))
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, WIDTH // 4 + 150, WIDTH, WIDTH // 2), fill=(120, 110, 100))
    for left, right in doors:
        (x0, _), (x1, _) = _pixel(left, 0), _pixel(right, 0)
        draw.rectangle((x0, WIDTH // 4 - 60, x1, WIDTH // 4 + 180), fill=(40, 36, 30))
    for sign in signs:
        _draw(draw, sign)
    return Panorama.from_array(np.asarray(image)[:, :, ::-1].copy())


def sign_picture(sign: Sign, width: int = 640, height: int = 360) -> np.ndarray:
    """A flat picture (BGR) with the sign in its middle."""
    image = Image.new("RGB", (width, height), (190, 186, 180))
    _draw(ImageDraw.Draw(image), sign, (width / 2, height / 2))
    return np.asarray(image)[:, :, ::-1].copy()


def _pixel(yaw_deg: float, pitch_deg: float) -> tuple[float, float]:
    return ((yaw_deg / 360 + 0.5) % 1.0) * WIDTH, (0.5 - pitch_deg / 180) * WIDTH / 2


def _draw(draw: ImageDraw.ImageDraw, sign: Sign, at: tuple[float, float] | None = None) -> None:
    font = ImageFont.load_default(size=sign.size)
    x, y = at or _pixel(sign.yaw_deg, sign.pitch_deg)
    half = font.getlength(sign.text) / 2
    room = 1.7 * sign.size if sign.arrow else 0.0
    before = room if sign.arrow and "right" not in sign.arrow else 0.0
    after = room - before
    box = (x - half - before - 14, y - 0.8 * sign.size, x + half + after + 14, y + 0.8 * sign.size)
    draw.rectangle(box, fill=sign.color)
    draw.text((x, y), sign.text, (255, 255, 255), font, anchor="mm", stroke_width=1)
    if sign.arrow:
        side = x - half - 0.9 * sign.size if before else x + half + 0.9 * sign.size
        draw.polygon(arrow_points((side, y), 1.1 * sign.size, sign.arrow), fill=(255, 255, 255))


def arrow_points(at: tuple[float, float], size: float, direction: str) -> list[tuple[float, float]]:
    """Outline of an arrow."""
    angle = np.radians(ANGLE[direction])
    c, s = np.cos(angle), np.sin(angle)
    outline = [(0.5, 0), (0.05, 0.4), (0.05, 0.13), (-0.5, 0.13), (-0.5, -0.13), (0.05, -0.13), (0.05, -0.4)]
    return [(at[0] + size * (x * c - y * s), at[1] - size * (x * s + y * c)) for x, y in outline]


class PictureHead:
    """Looks around in a panorama at once."""

    def __init__(self, scene: Panorama, yaw_deg: float = 0.0, pitch_deg: float = 0.0) -> None:
        self._sampler = ViewSampler(scene, CAMERA)
        self.direction = Direction(yaw_deg, pitch_deg)

    def look(self) -> View:
        image = self._sampler.render(self.direction.yaw_deg, self.direction.pitch_deg)
        return View(image, self.direction, 0, CAMERA.hfov_deg)

    def turn_to(self, goal: Direction) -> Arrival:
        self.direction = goal
        return Arrival(MoveOutcome.REACHED, goal)


def observation(image: np.ndarray, turn: int = 1, turns_left: int = 10, yaw_deg: float = 0.0) -> Observation:
    """What a policy is given, looking level."""
    return Observation(image, Direction(yaw_deg, 0.0), CAMERA.hfov_deg, turn, turns_left)


def blank(turn: int = 1, turns_left: int = 10, yaw_deg: float = 0.0, pitch_deg: float = 0.0) -> Observation:
    """A view without anything in it."""
    image = np.full((54, 96, 3), 128, np.uint8)
    return Observation(image, Direction(yaw_deg, pitch_deg), 100.0, turn, turns_left)
