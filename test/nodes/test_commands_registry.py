"""Command back ends by name."""

from __future__ import annotations

import importlib
import re
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import pytest
from rclpy.exceptions import InvalidTopicNameException
from rclpy.node import Node

from hvs_ros import plugins
from hvs_ros.neck.commands import CommandError
from hvs_ros.neck.robot import Commands, NeckJoint
from hvs_ros.nodes.commands.registry import BACKENDS, BackendSetup, backend_names, create_backend


class Still:
    """Commands nothing."""

    begins_at_joints = True

    def __init__(self, setup: BackendSetup, *, strength: int = 1, mood: str = "calm") -> None:
        if strength < 0:
            raise ValueError(f"strength is {strength}; 0 or more is expected")
        if mood == "lazy":
            raise CommandError("the motors are asleep; wake them")
        if mood == "lost":
            raise InvalidTopicNameException("a b", "it has a blank", 1)
        self.strength = strength

    def problem(self) -> str:
        return ""

    execute = hold = verdict = close = problem


def setup_for(backend: str, **settings: Any) -> BackendSetup:
    return BackendSetup(cast(Node, None), (NeckJoint("pan"),), Commands(backend, "a b", settings))


@pytest.fixture(autouse=True)
def stranger(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A package of somebody else's that adds back ends."""
    module = ModuleType("strangers_commands")
    vars(module).update(Still=Still, Odd=lambda setup: object())
    monkeypatch.setitem(sys.modules, "strangers_commands", module)
    points = [
        EntryPoint("still", "strangers_commands:Still", BACKENDS.group),
        EntryPoint("odd", "strangers_commands:Odd", BACKENDS.group),
        EntryPoint("lost", "strangers_commands:Lost", BACKENDS.group),
        EntryPoint("gone", "a_package_that_is_not_there:Commands", BACKENDS.group),
    ]
    monkeypatch.setattr(plugins, "entry_points", lambda group: points if group == BACKENDS.group else [])
    return module


def test_a_back_end_is_made_with_its_settings() -> None:
    assert "still" in backend_names()
    for name in ("still", "strangers_commands:Still"):
        assert cast(Still, create_backend(setup_for(name, strength=7))).strength == 7


@pytest.mark.parametrize(
    ("name", "settings", "says"),
    [
        ("telepathy", {}, "no command back end 'telepathy'; known are dynamixel.*joint_trajectory.*still"),
        ("still", {"stregth": 2}, "'still' has no setting stregth; it has strength, mood"),
        ("odd", {"strength": 2}, "'odd' has no setting strength; it has none"),
        ("still", {"strength": -2}, "'still' refuses its settings .*strength is -2"),
        ("still", {"strength": "big"}, "'still' refuses its settings .*big"),
        ("still", {"mood": "lazy"}, "'still': the motors are asleep; wake them"),
        ("still", {"mood": "lost"}, "'still': no name is 'a b'.*blank"),
        ("odd", {}, "'odd'.* has no begins_at_joints, problem, execute, hold, verdict, close"),
        ("lost", {}, "strangers_commands:Lost, which is not there"),
        ("gone", {}, "'gone' cannot be imported.*a_package_that_is_not_there"),
    ],
)
def test_what_is_refused(name: str, settings: dict[str, Any], says: str) -> None:
    with pytest.raises(CommandError, match=says):
        create_backend(setup_for(name, **settings))


def test_a_head_without_joints_is_refused() -> None:
    with pytest.raises(CommandError, match="no joint"):
        create_backend(BackendSetup(cast(Node, None), (), Commands("still")))


def test_every_shipped_address_is_there() -> None:
    for name in BACKENDS.shipped:
        assert callable(BACKENDS.load(name))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("raise RuntimeError('at import')", "at import"),
        ("def x(:", "SyntaxError"),
        ("import sys; sys.exit(5)", "SystemExit"),
        ("Mine = 5", "is 5; a class is expected"),
    ],
)
def test_a_module_that_is_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str) -> None:
    (tmp_path / "broken_commands_module.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "broken_commands_module", raising=False)
    importlib.invalidate_caches()
    with pytest.raises(CommandError, match=rf"'broken_commands_module:Mine'.*{said}"):
        create_backend(setup_for("broken_commands_module:Mine"))


@pytest.mark.parametrize("address", [":X", "..a:b", "builtins:int", "os:getcwd"])
def test_an_address_of_no_back_end(address: str) -> None:
    with pytest.raises(CommandError, match=re.escape(address)):
        create_backend(setup_for(address))
