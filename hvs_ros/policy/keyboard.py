"""A person searches, at a terminal: with the arrow keys, or by typing commands."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError
from hvs_ros.policy.keyboard_display import Display, open_display
from hvs_ros.policy.terminal import Terminal, TerminalError
from hvs_ros.search.action import Action, ActionError, Rotate, Submit
from hvs_ros.search.decision import Decision
from hvs_ros.search.task import Task
from hvs_ros.search.view import Observation

_NUMBER = r"\s*([-+]?\d+(?:\.\d+)?)\s*"
_TYPED = re.compile(rf"(rotate|submit|r|s)\s*\(?(?:{_NUMBER}[,\s]{_NUMBER})?\)?\s*", re.IGNORECASE)
_KEYS = ("left", "right", "up", "down")
_QUIT = "the person at the keyboard gave up this search"
_HELP = (
    "arrow keys turn the head, Enter submits the direction in the middle of the view;\n"
    "or type: rotate DYAW DPITCH (degrees right and up), submit, submit YAW PITCH;\n"
    "q gives up this search only (it is not scored), Ctrl-C ends the whole run\n"
)


class KeyboardPolicy:
    """Asks a person.

    Args:
        step_deg: how far an arrow key turns left or right; up and down half of it.
        tty: path of the terminal (what the command ``tty`` prints); empty: the one that the process belongs to.
        view: "window", or the path of a picture file that is rewritten every turn; empty: a window where there is one.

    Raises:
        PolicyError: a setting out of range.
        PolicyUnavailableError: there is no terminal, or the view cannot be shown.
    """

    def __init__(self, step_deg: float = 30.0, tty: str = "", view: str = "") -> None:
        if not 0.0 < step_deg <= 180.0:
            raise PolicyError(f"policy 'keyboard': step_deg is {step_deg}; give more than 0, at most 180 degrees")
        self._step_deg = step_deg
        try:
            self._terminal = Terminal(tty)
        except TerminalError as error:
            raise PolicyUnavailableError(
                f"policy 'keyboard' needs a terminal: {error}; run it in one, or give the setting tty "
                "the path of one (the command 'tty' prints it)"
            ) from error
        try:
            self._display: Display = open_display(view)
        except OSError as error:
            self._terminal.close()
            self._terminal.release()
            raise PolicyUnavailableError(f"policy 'keyboard' cannot show the view: {error}") from error
        self._closed = False
        self._deciding = False

    def start(self, task: Task) -> None:
        """Tell the person the task."""
        kind = "Look along the way" if task.kind.value == "path" else "Look at it"
        self._terminal.write(
            f"\n{task.instruction}\n{kind} and submit within {task.max_turns} turns; {self._display.where}.\n{_HELP}"
        )

    def decide(self, observation: Observation) -> Decision:
        """Show the view and wait for the person.

        Raises:
            PolicyError: the person quits, the terminal is gone, or the policy was closed.
        """
        self._deciding = True
        try:
            self._display.show(observation.image)
            feedback = f"{observation.feedback} " if observation.feedback else f"You look at {observation.direction}. "
            self._terminal.write(f"\n{feedback}Turn {observation.turn}, {observation.turns_left} left.\n> ")
            with self._terminal.keys() as keys:
                action, typed = self._ask(keys, observation)
            # What was typed stands in this line already.
            self._terminal.write(f"\n{action}\n" if typed and typed not in _KEYS else f"{action}\n")
            return Decision(action, thought="as the person at the keyboard wants", raw=typed)
        except OSError as error:
            raise PolicyError(f"policy 'keyboard' cannot show the view: {error}") from error
        except TerminalError as error:
            raise PolicyError(f"policy 'keyboard': {error}") from error
        finally:
            self._deciding = False
            if self._closed:
                self._terminal.release()

    def close(self) -> None:
        """Give the terminal back; a ``decide`` that waits for a key ends."""
        self._closed = True
        self._terminal.close()
        self._display.close()
        if not self._deciding:
            self._terminal.release()

    def _ask(self, keys: Iterator[str], observation: Observation) -> tuple[Action, str]:
        """Return the action and what was pressed or typed for it."""
        turns = {
            "left": (-self._step_deg, 0.0),
            "right": (self._step_deg, 0.0),
            "up": (0.0, self._step_deg / 2),
            "down": (0.0, -self._step_deg / 2),
        }
        line = ""
        for key in keys:
            if key in turns:
                return Rotate(*turns[key]), key
            if key in ("interrupt", "end") or (key == "q" and not line):
                self._terminal.write("\n")
                raise PolicyError(_QUIT)
            if key == "backspace" and line:
                line = line[:-1]
                self._terminal.write("\b \b")
            elif key == "enter":
                try:
                    return _typed(line, observation), line
                except ActionError as error:
                    self._terminal.write(f"\n{error}\n{_HELP}> ")
                    line = ""
            elif len(key) == 1 and key.isprintable():
                line += key
                self._terminal.write(key)
        raise PolicyError("policy 'keyboard' was closed while it waited for a key")


def _typed(line: str, observation: Observation) -> Action:
    """Return the action of a typed line; an empty one submits where the head looks.

    Raises:
        ActionError: it is none.
    """
    if line.strip().lower() in ("q", "quit", "exit"):
        raise PolicyError(_QUIT)
    gaze = observation.direction
    here = Submit(round(gaze.yaw_deg, 1), round(gaze.pitch_deg, 1))
    if not line.strip():
        return here
    match = _TYPED.fullmatch(line.strip())
    if match is None:
        raise ActionError(f"'{line}' is no command")
    rotates = match.group(1).lower().startswith("r")
    if match.group(2) is None:
        if rotates:
            raise ActionError("rotate needs two numbers, e.g. rotate 30 0")
        return here
    angles = float(match.group(2)), float(match.group(3))
    return Rotate(*angles) if rotates else Submit(*angles)
