"""A set of prompts as a YAML file: one that ships in config/policies/, or the user's own.

``name``, ``about``
    Of the set (without: the file's name), and what it is for, in a line.
``system``
    ``object`` and ``path``: the system message for each kind of task.
``format``
    ``free``, ``none``, ``grounded``: the form of an answer, filled in as ``{format}``.
``example``
    ``object`` and ``path``, each with ``free``, ``none``, ``grounded``: filled in as ``{example}``.
``first``, ``later``
    The message around the first picture, and around those after it.
``resumed``
    The message around the oldest picture when what came before it is left out. Without: as ``later``.
``feedback``
    ``done``, ``clamped``, ``refused``, ``invalid``: what came of an answer, filled in as ``{feedback}``.

Kinds of tasks and of thoughts that are not wanted may be left out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hvs_ros.policy.model_settings import Thought
from hvs_ros.policy.prompt import Around, Done, LastTurn, PromptError, whole_degrees
from hvs_ros.policy.prompt_template import Template
from hvs_ros.search.task import Task, TaskKind
from hvs_ros.search.view import Observation

_SYSTEM = {"format", "example", "max_turns"}
_TURN = {"instruction", "format", "yaw", "pitch", "hfov", "turn", "turns_left", "max_turns"}
_LATER = {*_TURN, "actions", "feedback", "done"}
_FEEDBACK = {"yaw", "pitch", "reason", "format"}

_TEXT: dict[str, Any] = {}
_THOUGHTS = {thought.value: _TEXT for thought in Thought}
_KNOWN: dict[str, Any] = {
    "name": _TEXT,
    "about": _TEXT,
    "system": {kind.value: _TEXT for kind in TaskKind},
    "format": _THOUGHTS,
    "example": {kind.value: _THOUGHTS for kind in TaskKind},
    "first": _TEXT,
    "later": _TEXT,
    "resumed": _TEXT,
    "feedback": {done.value: _TEXT for done in Done},
}


class PromptFile:
    """The prompts in a YAML file.

    Args:
        path: of the file.
        thought: which of its formats is used.

    Raises:
        PromptError: it cannot be read, something is missing or not known, or a placeholder is wrong.
    """

    notes = ""

    def __init__(self, path: Path, thought: Thought) -> None:
        source = _Source(path)
        self.digest = source.digest
        self.name = source.text("name") if source.has("name") else path.stem
        self._format = source.template("format", thought.value).fill({})
        self._systems = {
            kind: _system(source, kind, thought) for kind in TaskKind if source.has("system", kind.value)
        }
        self._where = source.at("system")
        if not self._systems:
            raise PromptError(f"{self._where}: neither object nor path is there")
        self._first = source.template("first", allowed=_TURN, picture=True)
        self._later = source.template("later", allowed=_LATER, picture=True)
        self._resumed = None
        if source.has("resumed"):
            self._resumed = source.template("resumed", allowed=_TURN, picture=True)
        self._feedback = {done: source.template("feedback", done.value, allowed=_FEEDBACK) for done in Done}

    def system(self, task: Task) -> str:
        """Return the system message.

        Raises:
            PromptError: the file has none for this kind of task.
        """
        if task.kind not in self._systems:
            raise PromptError(f"{self._where}.{task.kind.value} is missing, and the task is of that kind")
        template, example = self._systems[task.kind]
        return template.fill({"format": self._format, "example": example, "max_turns": task.max_turns})

    def first(self, task: Task, observation: Observation) -> Around:
        """Return the first message around its picture."""
        return self._first.around(self._values(task, observation))

    def later(self, task: Task, observation: Observation, last: LastTurn) -> Around:
        """Return the message of a later turn around its picture."""
        values = self._values(task, observation)
        feedback = self._feedback[last.done].fill({**values, "reason": last.reason})
        actions = [last.extracted] if last.extracted else []
        return self._later.around({**values, "actions": actions, "feedback": feedback, "done": False})

    def resumed(self, task: Task, observation: Observation) -> Around | None:
        """Return what to say in place of ``later`` when the answer before it is left out."""
        return None if self._resumed is None else self._resumed.around(self._values(task, observation))

    def _values(self, task: Task, observation: Observation) -> dict[str, object]:
        yaw, pitch = whole_degrees(observation.direction)
        return {
            "instruction": task.instruction,
            "format": self._format,
            "yaw": yaw,
            "pitch": pitch,
            "hfov": f"{observation.hfov_deg:g}",
            "turn": observation.turn,
            "turns_left": observation.turns_left,
            "max_turns": task.max_turns,
        }


def _system(source: _Source, kind: TaskKind, thought: Thought) -> tuple[Template, str]:
    """Return the system message for a kind of task, and the example that is filled in there."""
    template = source.template("system", kind.value, allowed=_SYSTEM)
    if "example" not in template.names:
        return template, ""
    return template, source.template("example", kind.value, thought.value).fill({})


class _Source:
    """The texts of a file, asked for by their keys."""

    def __init__(self, path: Path) -> None:
        import yaml

        self._where = f"prompts {path}"
        try:
            data = path.read_bytes()
            self._content = yaml.safe_load(data.decode("utf-8"))
        except OSError as error:
            raise PromptError(f"{self._where}: {error.strerror or error}") from error
        except (UnicodeDecodeError, yaml.YAMLError) as error:
            raise PromptError(f"{self._where}: this is no YAML: {' '.join(str(error).split())}") from error
        self.digest = hashlib.sha256(data).hexdigest()
        self._check(self._content, _KNOWN, ())

    def at(self, *keys: str) -> str:
        """Return where the keys lead, for an error."""
        return f"{self._where}: {'.'.join(keys)}" if keys else self._where

    def has(self, *keys: str) -> bool:
        """Return whether there is something."""
        return self._find(keys) is not None

    def text(self, *keys: str) -> str:
        """Return the text there, without the line end of a YAML block.

        Raises:
            PromptError: there is none.
        """
        value = self._find(keys)
        if value is None:
            raise PromptError(f"{self.at(*keys)} is missing")
        return str(value).removesuffix("\n")

    def template(self, *keys: str, allowed: set[str] | None = None, picture: bool = False) -> Template:
        """Return the text there with its places.

        Raises:
            PromptError: there is none, or a placeholder is wrong.
        """
        return Template(self.text(*keys), allowed or set(), self.at(*keys), picture=picture)

    def _find(self, keys: tuple[str, ...]) -> object:
        value: Any = self._content
        for key in keys:
            value = value.get(key) if value is not None else None
        return value

    def _check(self, value: object, known: Mapping[str, Any], keys: tuple[str, ...]) -> None:
        if known is _TEXT:
            if not isinstance(value, str):
                raise PromptError(f"{self.at(*keys)}: text is expected, not {value!r:.80}")
            return
        if not isinstance(value, Mapping):
            raise PromptError(f"{self.at(*keys)}: keys with values are expected, not {value!r:.80}")
        for key, item in value.items():
            if key not in known:
                raise PromptError(f"{self.at(*keys, str(key))} is not known; there may be {', '.join(known)}")
            self._check(item, known[key], (*keys, key))
