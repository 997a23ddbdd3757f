"""Settings that every policy with a model has, whatever runs the model, and how they are shared.

A policy's own settings are named in its constructor, these arrive in its ``**common``. ``@takes_model_settings`` makes
both visible, so that ``hvs policies`` lists them and a misspelt one is refused before a model is loaded.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any, TypeVar

from hvs_ros.policy.contract import PolicyError

STOP = ("</answer>",)
"""An answer is complete with this, whatever would follow; it is part of the answer."""

C = TypeVar("C", bound=type)


class Thought(Enum):
    """What comes before an answer."""

    FREE = "free"
    NONE = "none"
    GROUNDED = "grounded"
    """What is seen, then what follows from it."""


class Window(Enum):
    """Which earlier turns a request holds."""

    VIEWS = "views"
    """The latest whole turns; the oldest of them says nothing of an answer that is not there."""
    PUBLISHED = "published"
    """As the published runner cuts it: by messages, without a change to any."""


class ParserMode(Enum):
    """What counts as an answer."""

    STRICT = "strict"
    LENIENT = "lenient"
    LENIENT_PLUS = "lenient+"


class Stop(Enum):
    """Where an answer ends."""

    ANSWER = "answer"
    """With its ``</answer>``."""
    NONE = "none"
    """Where the model ends it: as the published runner takes it, whatever follows the answer goes into the history."""


@dataclass(frozen=True)
class ModelSettings:
    """They come from a command line or from parameters, so everything is checked.

    Attributes:
        prompts: a prompt set that ships, the path of a YAML file, or of the published environment's prompt.py.
        thought: "free", "none" or "grounded".
        window: "views" or "published".
        views: a request holds at most so many views.
        drop: with the window "views", so many turns are left out at once when it is full: with more than 1 fewer
            views are remembered, and most of a request stays the beginning of the next one for longer.
        parser: "strict", "lenient" or "lenient+".
        stop: "answer" or "none".
        max_tokens: an answer is cut off after so many tokens.
        temperature: of sampling; 0 is greedy.
        jpeg_quality: 1 to 100, of what the model is shown.
        image_format: "jpeg", as the published evaluation, or "png", as the published training.

    Raises:
        PolicyError: a value that cannot be; the message names it.
    """

    prompts: str = "hvs"
    thought: str = Thought.FREE.value
    window: str = Window.VIEWS.value
    views: int = 5
    drop: int = 1
    parser: str = ParserMode.LENIENT.value
    stop: str = Stop.ANSWER.value
    max_tokens: int = 1024
    temperature: float = 0.0
    jpeg_quality: int = 85
    image_format: str = "jpeg"

    def __post_init__(self) -> None:
        _choice("thought", self.thought, Thought)
        _choice("window", self.window, Window)
        _choice("parser", self.parser, ParserMode)
        _choice("stop", self.stop, Stop)
        if self.image_format not in ("jpeg", "png"):
            raise PolicyError(f"image_format is {self.image_format!r}; give jpeg or png")
        if not isinstance(self.prompts, str) or not self.prompts.strip():
            raise PolicyError(f"prompts is {self.prompts!r}; give the name of a prompt set or a file")
        _whole("views", self.views, 1, 100)
        _whole("drop", self.drop, 1, self.views)
        _whole("max_tokens", self.max_tokens, 1, 1_000_000)
        _whole("jpeg_quality", self.jpeg_quality, 1, 100)
        if isinstance(self.temperature, bool) or not isinstance(self.temperature, (int, float)):
            raise PolicyError(f"temperature is {self.temperature!r}; give a number, 0 for greedy")
        if not 0.0 <= self.temperature <= 10.0:
            raise PolicyError(f"temperature is {self.temperature:g}; give 0 (greedy) to 10")

    @property
    def stops(self) -> tuple[str, ...]:
        """The texts that end an answer and belong to it."""
        return STOP if self.stop == Stop.ANSWER.value else ()

    @classmethod
    def of(cls, common: Mapping[str, Any]) -> ModelSettings:
        """Return the settings that a policy was given as ``**common``.

        Raises:
            PolicyError: one that is not known, or a value that cannot be.
        """
        known = [field.name for field in fields(cls)]
        unknown = sorted(set(common) - set(known))
        if unknown:
            raise PolicyError(f"there is no setting '{unknown[0]}'; beside its own a model has {', '.join(known)}")
        return cls(**common)


def settings_apart(settings: Mapping[str, Any], own: Any) -> tuple[dict[str, Any], ModelSettings]:
    """Return the settings that are a policy's own, and those that all models have.

    Args:
        settings: as for the policy.
        own: the dataclass of its own settings.

    Raises:
        PolicyError: one that is neither, or a value that cannot be.
    """
    names = {field.name for field in fields(own)}
    mine = {name: value for name, value in settings.items() if name in names}
    return mine, ModelSettings.of({name: value for name, value in settings.items() if name not in names})


def takes_model_settings(policy: C) -> C:
    """Show the common settings in the signature of a policy whose constructor has ``**common`` for them."""
    own = [p for p in inspect.signature(policy).parameters.values() if p.kind is not p.VAR_KEYWORD]
    common = [
        inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=field.type)
        for field in fields(ModelSettings)
    ]
    policy.__signature__ = inspect.Signature([*own, *common])  # type: ignore[attr-defined]
    return policy


def _choice(name: str, value: object, choices: type[Enum]) -> None:
    known = [choice.value for choice in choices]
    if value not in known:
        raise PolicyError(f"{name} is {value!r}; give {', '.join(known[:-1])} or {known[-1]}")


def _whole(name: str, value: object, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise PolicyError(f"{name} is {value!r}; give a whole number from {low} to {high}")
