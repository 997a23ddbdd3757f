"""What the mock model server says: a script, or what the colour of the mock head's pictures tells."""

from __future__ import annotations

from collections import OrderedDict

from hvs_ros.mock.model_requests import Asked
from hvs_ros.policy.model_settings import STOP

COLOUR = "colour"
RAW = "raw:"
REMEMBERED = 10_000
"""Questions of which it is known at which turn they were asked."""


class Answers:
    """Plays a script, a step a turn, for any number of searches at the same time; the last step is repeated.

    The turn is as many answers as the request holds, and one. Where a window has left some out, the question before
    tells at which turn it was asked.

    A step is an action, ``rotate(30,0)``, which is said with a thought as the model does; ``raw:TEXT``, which is said
    as it is; or ``colour``: four turns by 77 degrees, then the yaw that the colour of the last picture tells.

    Args:
        script: the steps, separated by semicolons.
    """

    def __init__(self, script: str) -> None:
        self._steps = [step.strip() for step in script.split(";") if step.strip()]
        if not self._steps:
            raise ValueError("the script is empty; give at least one step, e.g. 'rotate(30,0); submit(30,0)'")
        self._turns: OrderedDict[tuple[str, str], int] = OrderedDict()

    def say(self, asked: Asked) -> str:
        """Return the next answer."""
        turn = self._turn(asked)
        step = self._steps[min(turn, len(self._steps)) - 1]
        if step.startswith(RAW):
            return step.removeprefix(RAW)
        if step == COLOUR:
            step = "rotate(77,0)" if turn < 5 else f"submit({colour_yaw(asked)},0)"
        return f"<think>This is turn {turn}.</think><answer>{step}</answer>"

    def _turn(self, asked: Asked) -> int:
        questions = [text for role, text in asked.texts if role == "user"]
        pictures = ["", ""] + [picture.digest for picture in asked.pictures]
        turn = asked.turn
        if turn > 1:
            # The words of the oldest question may have changed.
            before = [self._turns.get(key, 0) for key in ((questions[-2], pictures[-2]), ("", pictures[-2]))]
            turn = max(turn, 1 + (before[0] or before[1]))
        for key in ((questions[-1], pictures[-1]), ("", pictures[-1])):
            self._turns[key] = turn
            self._turns.move_to_end(key)
        while len(self._turns) > 2 * REMEMBERED:
            self._turns.popitem(last=False)
        return turn


def colour_yaw(asked: Asked) -> int:
    """Return the yaw that the last picture tells (``hvs_ros.mock.head.mock_picture``), to about two degrees."""
    blue, green, _ = asked.pictures[-1].colour if asked.pictures else (0.0, 0.0, 0.0)
    return round(blue * 2 + green / 100) % 360


def generated(text: str, asked: Asked, fault: str = "") -> tuple[str, str]:
    """Return what is sent of a text, and why it ends there."""
    if fault == "truncated":
        return text[: len(text) // 2].split(STOP[0])[0], "length"
    if fault == "cut late":
        return text[:-2], "length"
    for stop in asked.body.get("stop") or ():
        if stop in text:
            kept = asked.body.get("include_stop_str_in_output") or asked.body.get("no_stop_trim")
            return text[: text.index(stop)] + (stop if kept else ""), "stop"
    return text, "stop"
