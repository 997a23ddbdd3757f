"""A policy that does as it was told, mistakes included; its name is ``hvs_ros.mock.policy:ScriptedPolicy``."""

from __future__ import annotations

import math
import re
import threading
import time
from typing import Any

from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError
from hvs_ros.search.action import Rotate, Submit
from hvs_ros.search.decision import Decision, ParseStatus
from hvs_ros.search.task import Task
from hvs_ros.search.view import Observation

_STEP = re.compile(r"(\w+)(?:\(([^)]*)\))?$")


class ScriptedPolicy:
    """Plays a script, a step a turn; the last step is repeated.

    Steps: ``rotate(YAW,PITCH)``, ``submit(YAW,PITCH)`` and ``submit`` (what it looks at), in degrees; ``nothing`` (an
    answer without an action), ``nan``, ``huge``, ``nonsense`` (no Decision), ``raise``, ``gone`` (its server cannot be
    reached), ``hang`` (never returns). ``wait(SECONDS)`` before a step delays it.

    Args:
        script: the steps, separated by semicolons.
        load: "" or what goes wrong while it is made: "missing" (a package), "hang".
        load_s: seconds that making it takes.
    """

    def __init__(self, script: str = "rotate(90,0); submit", load: str = "", load_s: float = 0.0) -> None:
        self._steps = [step.strip() for step in script.split(";") if step.strip()]
        if not self._steps or any(_STEP.match(step) is None for step in self._steps):
            raise ValueError(f"script {script!r} is not understood")
        self._next = 0
        self._closed = threading.Event()
        time.sleep(load_s)
        if load == "missing":
            raise PolicyUnavailableError("the package 'scripts' is missing: pip install hvs_ros[scripts]")
        if load == "hang":
            self._closed.wait()

    def start(self, task: Task) -> None:
        """Begin the script anew."""
        self._next = 0

    def decide(self, observation: Observation) -> Decision:
        """Play the next step."""
        name, numbers = self._step()
        while name == "wait":
            self._closed.wait(numbers[0])
            name, numbers = self._step()
        if name == "rotate":
            return Decision(Rotate(*numbers), thought=f"turn {observation.turn}", raw=f"rotate{tuple(numbers)}")
        if name == "submit":
            looking = observation.direction
            yaw, pitch = numbers or (looking.yaw_deg, looking.pitch_deg)
            return Decision(Submit(yaw, pitch), raw=f"submit({yaw},{pitch})")
        answer: Decision = self._misbehave(name)
        return answer

    def close(self) -> None:
        """Let everything that hangs go."""
        self._closed.set()

    def _step(self) -> tuple[str, list[float]]:
        step = _STEP.match(self._steps[min(self._next, len(self._steps) - 1)])
        assert step is not None
        self._next += 1
        return step[1], [float(part) for part in (step[2] or "").split(",") if part]

    def _misbehave(self, name: str) -> Any:
        if name == "nothing":
            return Decision(None, raw="I am not sure.", status=ParseStatus.NO_ANSWER)
        if name == "nan":
            return Decision(Rotate(math.nan, 0.0))
        if name == "huge":
            return Decision(Rotate(1e9, 0.0))
        if name == "nonsense":
            return "turn left"
        if name == "gone":
            raise PolicyUnavailableError("the model server does not answer")
        if name == "hang":
            self._closed.wait()
            raise PolicyError("closed")
        raise RuntimeError(f"the step '{name}' goes wrong")
