"""The prompts that the published model was trained with, from the user's own checkout of the published environment.

A checkpoint expects its training prompt to the letter. That prompt is the code of others and does not come with
hvs_ros; the module that builds it (``vagen/env/hstar/prompt.py``) is loaded from where it lies and asked for its texts:

- ``system_prompt(format=..., is_nav=...)``, the role and the examples;
- ``init_observation_template(observation=..., instruction=...)``, the first turn;
- ``action_template(valid_action=..., env_feedback=..., done=..., observation=..., instruction=...)``, a later one;
- ``format_prompt[format](max_actions_per_step=..., add_example=...)``, the form of an answer, which ends each of them.

What the environment says of an action is no part of that module (``published_feedback``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from hvs_ros.policy.model_settings import Thought
from hvs_ros.policy.prompt import Around, LastTurn, PromptError, whole_degrees
from hvs_ros.policy.published_feedback import Feedback, feedback_beside
from hvs_ros.search.task import Task, TaskKind
from hvs_ros.search.view import Observation

_FORMATS = {Thought.FREE: "free_think", Thought.NONE: "no_think", Thought.GROUNDED: "grounding"}
_OFFERED = ("system_prompt", "init_observation_template", "action_template", "format_prompt")

# No instruction can hold this character, so the place of the picture is found again whatever the instruction is.
_PICTURE = "\0picture\0"


class PublishedPrompt:
    """The published prompt module, used as it is.

    Args:
        path: of prompt.py.
        thought: which of its formats is used.

    Raises:
        PromptError: it cannot be loaded, or does not offer what is expected.
    """

    name = "published"

    def __init__(self, path: Path, thought: Thought) -> None:
        self._path, self._format = path, _FORMATS[thought]
        self._module, self.digest = _load(path)
        self._feedback: Feedback = feedback_beside(path)
        self.notes = self._feedback.source
        if self._format not in self._module.format_prompt:
            raise PromptError(f"prompts {path}: format_prompt has no '{self._format}', for thought={thought.value}")
        self._end = "\n" + self._form(add_example=False)

    def system(self, task: Task) -> str:
        """Return the system message."""
        path = task.kind is TaskKind.PATH
        text = self._call("system_prompt", lambda: self._module.system_prompt(format=self._format, is_nav=path))
        return f"{text}\n{self._form(add_example=True)}"

    def first(self, task: Task, observation: Observation) -> Around:
        """Return the first message around its picture."""
        return self._around("init_observation_template", instruction=task.instruction)

    def later(self, task: Task, observation: Observation, last: LastTurn) -> Around:
        """Return the message of a later turn around its picture."""
        yaw, pitch = whole_degrees(observation.direction)
        return self._around(
            "action_template",
            valid_action=[last.extracted] if last.extracted else [],
            env_feedback=self._feedback.text(last.done, yaw, pitch),
            done=False,
            instruction=task.instruction,
        )

    def resumed(self, task: Task, observation: Observation) -> Around | None:
        """Return None: the published runner has no words for turns that are left out."""
        return None

    def _form(self, *, add_example: bool) -> str:
        return self._call(
            "format_prompt",
            lambda: self._module.format_prompt[self._format](max_actions_per_step=1, add_example=add_example),
        )

    def _around(self, function: str, **values: Any) -> Around:
        text = self._call(function, lambda: getattr(self._module, function)(observation=_PICTURE, **values))
        before, place, after = text.partition(_PICTURE)
        if not place:
            raise PromptError(f"prompts {self._path}: {function} leaves no place for the picture")
        return before, after + self._end

    def _call(self, function: str, ask: Callable[[], object]) -> str:
        try:
            text = ask()
        except Exception as error:  # anybody's code
            raise PromptError(f"prompts {self._path}: {function} fails: {error!r}") from error
        if not isinstance(text, str):
            raise PromptError(f"prompts {self._path}: {function} returns {text!r:.80}; text is expected")
        return text


def _load(path: Path) -> tuple[ModuleType, str]:
    """Run the file as a module that nothing else can import, and return it with the SHA-256 of what was run."""
    module = ModuleType(f"hvs_ros_prompts_{path.stem}")
    module.__file__ = str(path)
    try:
        data = path.read_bytes()
        exec(compile(data, str(path), "exec"), module.__dict__)  # as an import would, but without a cache beside it
    except OSError as error:
        raise PromptError(f"prompts {path}: {error.strerror or error}") from error
    except (Exception, SystemExit) as error:
        raise PromptError(f"prompts {path} cannot be loaded: {error!r}") from error
    missing = [name for name in _OFFERED if not hasattr(module, name)]
    if missing:
        expected = ", ".join(_OFFERED)
        raise PromptError(f"prompts {path}: there is no {missing[0]} in it; the published prompt.py has {expected}")
    if not isinstance(module.format_prompt, Mapping):
        raise PromptError(f"prompts {path}: format_prompt is {module.format_prompt!r:.80}; a dictionary is expected")
    return module, hashlib.sha256(data).hexdigest()
