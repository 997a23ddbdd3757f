"""Figures as JSON values: dataclasses become objects by their fields' names, and what has a ``to_json`` says itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

DIGITS = 8
"""Significant ones of any number: more would be noise of the floating point, other on another machine."""


def as_json(value: Any) -> Any:
    """Return a value as JSON values."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") + 0.0  # no -0.0
    if isinstance(value, Enum):
        return as_json(value.value)
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {str(as_json(key)): as_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in value]
    if hasattr(value, "to_json"):
        return value.to_json()
    return as_json_object(value) if is_dataclass(value) else value


def as_json_object(value: Any) -> dict[str, Any]:
    """Return a dataclass as a JSON object."""
    return {field.name: as_json(getattr(value, field.name)) for field in fields(value)}
