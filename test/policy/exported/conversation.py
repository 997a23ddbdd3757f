"""A conversation as a search has it, with views of many sizes."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import cv2
import numpy as np

from hvs_ros.policy.conversation import Message
from hvs_ros.policy.engine import Answer, Engine
from hvs_ros.policy.shown import show

SIZES = ((320, 180), (320, 180), (300, 200), (57, 57), (90, 400), (320, 180), (640, 360))
"""Width, height of the turns' views."""
WINDOW = 9
"""Messages after the system's: five views."""
NEVER = threading.Event()


def view(number: int, width: int, height: int) -> np.ndarray:
    coarse = np.random.default_rng(number).integers(0, 256, (9, 16, 3), np.uint8)
    return np.asarray(cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC))


def converse(
    engine: Engine, others: Sequence[Engine] = (), sizes: Sequence[tuple[int, int]] = SIZES
) -> list[list[Answer]]:
    """Ask the engine turn by turn, and the others the same; return each turn's answers, the engine's first."""
    system = Message("system", ("You search with a camera that turns.",))
    history: list[Message] = []
    turns = []
    for number, (width, height) in enumerate(sizes):
        around = ("observation:\n", show(view(number, width, height)), f"\nfind the exit sign, turn {number}")
        history.append(Message("user", around))
        messages = (system, *history[-WINDOW:])
        answers = [each.answer(messages, NEVER) for each in (engine, *others)]
        history.append(Message("assistant", (answers[0].text,)))
        turns.append(answers)
    return turns
