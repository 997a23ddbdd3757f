"""docs/gym.md: its examples run, and it names every argument, weight and key of info."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from pathlib import Path

import pytest
from gym_builders import make, said

from hvs_ros.gym.environment import HumanoidSearchEnv
from hvs_ros.gym.rewards import RewardWeights

DOC = (Path(__file__).parents[2] / "docs" / "gym.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", DOC, re.DOTALL)


def rows() -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in DOC.splitlines() if line.startswith("|")]


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_examples_run(number: int) -> None:
    names: dict[str, object] = {}
    exec(compile(EXAMPLES[number], f"docs/gym.md, example {number}", "exec"), names)
    if "advantages" in names:
        assert len(names["returns"]) == 8  # type: ignore[arg-type]
    assert EXAMPLES[number].count("\n") <= 25


def test_there_is_an_example() -> None:
    assert len(EXAMPLES) == 3


def test_arguments_are_named_with_their_defaults() -> None:
    told: dict[str, str] = {}
    for names, defaults, *_ in rows():
        listed = re.findall(r"`(\w+)`", names)
        told |= dict(zip(listed, defaults.replace("`", "").split(", "), strict=False))
    for name, parameter in inspect.signature(HumanoidSearchEnv).parameters.items():
        assert told.get(name) == str(parameter.default), name


def test_weights_are_named_with_their_defaults() -> None:
    told = {cells[1]: cells[2] for cells in rows() if len(cells) == 5}
    for field in fields(RewardWeights):
        assert told.get(f"`{field.name}`") == str(field.default), field.name


def test_keys_of_info_are_named(scenes: Path) -> None:
    env = make(scenes)
    keys = {*env.reset()[1], *env.step(said("submit(0,0)"))[4]}
    told = {name for cells in rows() for name in re.findall(r"`(\w+)`", cells[0])}
    assert keys <= told
