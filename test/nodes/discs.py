"""A scene of coloured discs, and a policy that finds them by their pixels alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from hvs_ros.angles import Direction, yaw_difference_deg
from hvs_ros.search.action import Rotate, Submit
from hvs_ros.search.decision import Decision
from hvs_ros.search.task import Task
from hvs_ros.search.view import Observation, Picture

BRIGHT, DARK = 170, 80
RADIUS_DEG = 2.5
STEP_DEG = 45.0
CENTRED_DEG = 0.5
CLAMPED_DEG = 1.0
LEFT = "look to the left"
SIDEWAYS = "the picture lies on its side"


@dataclass(frozen=True)
class Disc:
    """A disc and what its colour is called: which of blue, green and red it has."""

    direction: Direction
    bgr: tuple[bool, bool, bool]


DISCS = {
    "red": Disc(Direction(32, 12), (False, False, True)),
    "cyan": Disc(Direction(32, -12), (True, True, False)),
    "blue": Disc(Direction(322, -14), (True, False, False)),
    "yellow": Disc(Direction(75, -5), (False, True, True)),
    "magenta": Disc(Direction(240, -12), (True, False, True)),
}


def write_discs(path: Path) -> None:
    """Write a panorama with all of them, grey elsewhere."""
    height, width = 1024, 2048
    yaw = ((np.arange(width) + 0.5) / width - 0.5) * 2 * math.pi
    pitch = (0.5 - (np.arange(height) + 0.5) / height) * math.pi
    picture = np.full((height, width, 3), 110, np.uint8)
    for disc in DISCS.values():
        there_yaw, there_pitch = math.radians(disc.direction.yaw_deg), math.radians(disc.direction.pitch_deg)
        cosine = np.sin(pitch)[:, None] * math.sin(there_pitch)
        cosine = cosine + np.cos(pitch)[:, None] * math.cos(there_pitch) * np.cos(yaw - there_yaw)[None, :]
        picture[cosine > math.cos(math.radians(RADIUS_DEG))] = [230 if on else 20 for on in disc.bgr]
    path.parent.mkdir(parents=True, exist_ok=True)
    cv2.imwrite(str(path), picture)


def find_disc(picture: Picture, colour: str) -> tuple[float, float] | None:
    """Return (column, row) of a disc's centre from the picture's centre [pixels]; None where there is none."""
    channels = [
        picture[..., index] > BRIGHT if on else picture[..., index] < DARK for index, on in enumerate(DISCS[colour].bgr)
    ]
    rows, columns = np.nonzero(channels[0] & channels[1] & channels[2])
    if len(rows) < 5:
        return None
    height, width = picture.shape[:2]
    return float(columns.mean()) - (width - 1) / 2, float(rows.mean()) - (height - 1) / 2


class FindsDisc:
    """Turns by steps until it sees the disc whose colour the instruction names, centres on it, and submits it.

    It turns back where the head does not go on; a disc that it cannot centre on is submitted where it is seen.
    """

    def start(self, task: Task) -> None:
        self._colour = next(colour for colour in DISCS if colour in task.instruction)
        self._sideways = SIDEWAYS in task.instruction
        self._step = -STEP_DEG if LEFT in task.instruction else STEP_DEG
        self._goal: Direction | None = None
        self._centring = False

    def decide(self, observation: Observation) -> Decision:
        looking, goal, seen = observation.direction, self._goal, self._seen(observation)
        clamped = goal is not None and looking.angle_to_deg(goal) > CLAMPED_DEG
        if seen is not None:
            if looking.angle_to_deg(seen) < CENTRED_DEG or (clamped and self._centring):
                return Decision(Submit(seen.yaw_deg, seen.pitch_deg))
            dyaw_deg = yaw_difference_deg(seen.yaw_deg, looking.yaw_deg)
            return self._turn(looking, Rotate(dyaw_deg, seen.pitch_deg - looking.pitch_deg), centring=True)
        # A head that has gone round to the other side of where it cannot look is beyond its goal, and may go on.
        if goal is not None and clamped and yaw_difference_deg(goal.yaw_deg, looking.yaw_deg) * self._step > 0.0:
            self._step = -self._step
        return self._turn(looking, Rotate(self._step, -looking.pitch_deg), centring=False)

    def close(self) -> None:
        pass

    def _turn(self, looking: Direction, rotate: Rotate, *, centring: bool) -> Decision:
        self._goal, self._centring = looking.turned(rotate.dyaw_deg, rotate.dpitch_deg), centring
        return Decision(rotate)

    def _seen(self, observation: Observation) -> Direction | None:
        """Return the direction of the disc."""
        picture, focal = observation.image, observation.image.shape[1] / 2
        focal /= math.tan(math.radians(observation.hfov_deg / 2))
        if self._sideways:
            picture = np.rot90(picture, -1)
        found = find_disc(picture, self._colour)
        if found is None:
            return None
        right, up = found[0], -found[1]
        pitch = math.radians(observation.direction.pitch_deg)
        ahead = focal * math.cos(pitch) - up * math.sin(pitch)
        height = focal * math.sin(pitch) + up * math.cos(pitch)
        dyaw_deg = math.degrees(math.atan2(right, ahead))
        pitch_deg = math.degrees(math.atan2(height, math.hypot(right, ahead)))
        return Direction(observation.direction.yaw_deg + dyaw_deg, pitch_deg).normalized()
