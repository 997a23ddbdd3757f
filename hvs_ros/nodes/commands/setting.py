"""Checks of what a robot's YAML sets for a command back end."""

from __future__ import annotations


def number(name: str, value: object, low: float, high: float) -> float:
    """Return the value of a setting.

    Args:
        name: of the setting.
        value: as it was given.
        low: least value.
        high: greatest value.

    Raises:
        ValueError: it is no number, or out of range.
    """
    # Written so that NaN fails too.
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
        raise ValueError(f"{name} is {value!r}; a number from {low:g} to {high:g} is expected")
    return float(value)


def integer(name: str, value: object, low: int, high: int) -> int:
    """Return the value of a setting that is a whole number.

    Raises:
        ValueError: it is none, or out of range.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ValueError(f"{name} is {value!r}; an integer from {low} to {high} is expected")
    return value
