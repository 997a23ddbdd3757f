"""docs/robots.md names every key of a robot's YAML, every back end and every fault of the twin."""

from __future__ import annotations

import dataclasses
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from hvs_ros.neck.robot import BaseFrame, BaseTurn, Commands, Description, HeadCameraMount, NeckJoint, Robot

TEXT = (Path(__file__).parents[2] / "docs" / "robots.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("part", [Robot, BaseFrame, HeadCameraMount, NeckJoint, Commands, Description, BaseTurn])
def test_every_key_is_described(part: type) -> None:
    assert dataclasses.is_dataclass(part)
    # A robot's name is its file's.
    keys = [field.name for field in dataclasses.fields(part) if (part, field.name) != (Robot, "name")]
    rows = [line for line in TEXT.splitlines() if line.startswith("|")]
    assert not [key for key in keys if not any(f"`{key}" in row or f": {key}`" in row for row in rows)]


def test_every_back_end_is_described() -> None:
    names = {point.name for point in entry_points(group="hvs_ros.command_backends")}
    assert names and not [name for name in names if f"| `{name}` |" not in TEXT]


def test_every_fault_is_described() -> None:
    pytest.importorskip("rclpy")
    from hvs_ros.nodes import twin_parameters

    assert not [name for name in twin_parameters._FAULTS if f"`{name}`" not in TEXT]
