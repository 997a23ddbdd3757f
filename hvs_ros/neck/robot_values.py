"""Turns the mappings of a robot's YAML into frozen dataclasses, by the types of their fields.

Every mistake is a RobotError that names the file, the key, the value and what is expected there.
"""

from __future__ import annotations

import difflib
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Any, TypeVar

from hvs_ros.neck.robot import RobotError

T = TypeVar("T")

Rule = tuple[str, Callable[[Any], bool]]
"""What a value must be beyond its type: in words, and the test."""

Rules = Mapping[tuple[type, str], Rule]
"""By dataclass and field."""

_SHOWN = 60
"""Characters of a wrong value that a message shows."""


@dataclass(frozen=True)
class Place:
    """Where in a file a value stands.

    Attributes:
        file: for messages.
        key: e.g. ``neck[0].lower``; empty: the whole file.
    """

    file: str
    key: str = ""

    def inner(self, key: str) -> Place:
        """Return the place of a key in it."""
        return Place(self.file, f"{self.key}.{key}" if self.key else key)

    def item(self, index: int) -> Place:
        """Return the place of an item of a list in it."""
        return Place(self.file, f"{self.key}[{index}]")

    def error(self, value: object, expected: str) -> RobotError:
        """Return the mistake that something else stands there than expected."""
        text = repr(value)
        shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
        return RobotError(f"{self.file}: {self.key + ' ' if self.key else ''}is {shown}; {expected} is expected")


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the end of a sentence on an unknown word: the known one that it is like, if any, and all of them."""
    words = list(known)
    close = difflib.get_close_matches(word.lower(), words, n=1)
    return (f"; did you mean {close[0]}?" if close else ".") + f" Known: {', '.join(words)}"


def read(kind: type[T], value: object, place: Place, rules: Rules, **given: object) -> T:
    """Return a dataclass of what a mapping says.

    Args:
        kind: a dataclass; its fields without a default must be said.
        value: the mapping.
        place: where it stands.
        rules: what values must be beyond their types.
        given: fields that the file must not say.

    Raises:
        RobotError: something is missing, unknown, or not what is expected.
    """
    if not isinstance(value, Mapping):
        raise place.error(value, f"a mapping with the keys {', '.join(_keys(kind, given))}")
    known = _keys(kind, given)
    for key in value:
        if key not in known:
            raise RobotError(f"{place.file}: {place.inner(str(key)).key} is not a key{nearest(str(key), known)}")
    hints = typing.get_type_hints(kind)
    said: dict[str, object] = dict(given)
    for field in fields(kind):  # type: ignore[arg-type]
        if field.name in given:
            continue
        there = place.inner(field.name)
        if field.name not in value:
            if field.default is MISSING and field.default_factory is MISSING:
                raise RobotError(f"{there.file}: {there.key} is missing; {_words(hints[field.name])} is expected")
            continue
        said[field.name] = _value(hints[field.name], value[field.name], there, rules)
        expected, fits = rules.get((kind, field.name), ("", _anything))
        if not fits(said[field.name]):
            raise there.error(value[field.name], expected)
    return kind(**said)


def _keys(kind: type, given: Mapping[str, object]) -> list[str]:
    return [field.name for field in fields(kind) if field.name not in given]


def _anything(_: object) -> bool:
    return True


def _value(hint: Any, value: object, place: Place, rules: Rules) -> object:
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if is_dataclass(hint):
        return read(typing.cast(type, hint), value, place, rules)
    if origin is types.UnionType and types.NoneType in inner:
        return None if value is None else _value(inner[0], value, place, rules)
    if origin is tuple:
        if not isinstance(value, list) or (Ellipsis not in inner and len(value) != len(inner)):
            raise place.error(value, _words(hint))
        return tuple(_value(inner[0], item, place.item(index), rules) for index, item in enumerate(value))
    if origin is dict:
        if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
            raise place.error(value, _words(hint))
        for key, one in value.items():
            listed = isinstance(one, list) and all(type(item) is int for item in one)
            if not listed and not isinstance(one, (bool, int, float, str)):
                raise place.inner(key).error(one, "a number, a text, true or false, or a list of whole numbers")
        return dict(value)
    if hint is float and type(value) is int:
        try:
            return float(value)
        except OverflowError:
            raise place.error(value, _words(hint)) from None
    if type(value) is not hint:
        hint_at_exponent = hint is float and isinstance(value, str) and _is_number(value)
        raise place.error(value, _words(hint) + (" (YAML wants 1.0e-3 for 1e-3)" if hint_at_exponent else ""))
    return value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _words(hint: Any) -> str:
    if hint in _WORDS:
        return _WORDS[hint]
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is tuple and Ellipsis in inner:
        return "a list"
    if origin is tuple:
        return f"a list of {len(inner)} numbers"
    if is_dataclass(hint):
        return f"a mapping with the keys {', '.join(field.name for field in fields(hint))}"
    return "a mapping"


_WORDS = {str: "a text", float: "a number", int: "a whole number", bool: "true or false"}
