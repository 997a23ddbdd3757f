"""The order of episode ids in which a person expects them: item 2 before item 10, start 90 before start 180."""

from __future__ import annotations

import re

_DIGITS = re.compile(r"(\d+)")


def natural_order(name: str) -> tuple[list[tuple[int, str]], str]:
    """Return a key to sort names by; no two names have the same."""
    parts = _DIGITS.split(name)
    return [(int(part), "") if place % 2 else (-1, part) for place, part in enumerate(parts)], name
