"""Kinds of arguments that several verbs take; each refuses what it cannot be with argparse's own one-line error."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

_ROS_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*")
_ROS_NAME_RULE = "letters, digits and _ are allowed, none of the parts between slashes begins with a digit"


def positive(text: str) -> int:
    """Return an integer of at least 1."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number of at least 1")
    return value


def number(low: float, high: float, kind: type[float] | type[int] = float) -> Callable[[str], Any]:
    """Return a reader of numbers in a range, both ends included."""

    def read(text: str) -> float:
        try:
            value = kind(text)
        except ValueError:
            value = math.nan
        if not low <= value <= high:  # NaN fails too
            raise argparse.ArgumentTypeError(f"'{text}' is not a number from {low:g} to {high:g}")
        return value

    return read


def size(text: str) -> tuple[int, int]:
    """Return (width, height) from ``1920x1080``."""
    parts = text.lower().split("x")
    try:
        width, height = (int(part) for part in parts)
    except ValueError:
        width = height = 0
    if not (16 <= width <= 8192 and 16 <= height <= 8192):
        raise argparse.ArgumentTypeError(f"'{text}' is not a size like 1920x1080, 16 to 8192 pixels each")
    return width, height


def path(text: str) -> Path:
    """Return a path, ``~`` and ``~name`` read as a shell does, since every part of the program must mean the same."""
    try:
        text.encode()
        return Path(text).expanduser()
    except UnicodeEncodeError:
        shown = text.encode(errors="backslashreplace").decode()
        raise argparse.ArgumentTypeError(f"'{shown}' is not UTF-8, which results and messages are") from None
    except RuntimeError as error:
        raise argparse.ArgumentTypeError(f"'{text}': {error}") from error


def namespace(text: str) -> str:
    """Return a ROS namespace without slashes at its ends; empty: the root."""
    name = text.strip("/")
    if name and not _ROS_NAME.fullmatch(name):
        raise argparse.ArgumentTypeError(f"'{text}' is no ROS namespace: {_ROS_NAME_RULE}")
    return name


def ros_name(text: str) -> str:
    """Return the name of a topic, service or action, absolute or relative."""
    if not _ROS_NAME.fullmatch(text.removeprefix("/")):
        raise argparse.ArgumentTypeError(f"'{text}' is no ROS name: {_ROS_NAME_RULE}")
    return text


def setting(text: str) -> tuple[str, bool | int | float | str]:
    """Return (key, value) from ``key=value``; true, false and numbers become such."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise argparse.ArgumentTypeError(f"'{text}' is not KEY=VALUE")
    return key.strip(), _value(value.strip())


def _value(text: str) -> bool | int | float | str:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
