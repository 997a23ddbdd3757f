"""Policies by name."""

from __future__ import annotations

import importlib
import re
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

import pytest

from hvs_ros import plugins
from hvs_ros.policy.contract import Policy, PolicyError, PolicyUnavailableError
from hvs_ros.policy.random_walk import RandomPolicy
from hvs_ros.policy.registry import POLICIES, check_policy, create_policy, policy_names


def test_the_shipped_policies_are_known() -> None:
    assert {"signs", "keyboard", "random", "replay"} <= set(policy_names())


def test_a_policy_is_made_with_its_settings() -> None:
    policy = create_policy("random", {"seed": 7, "views": 2})
    assert isinstance(policy, RandomPolicy) and isinstance(policy, Policy)


def test_an_unknown_policy_is_refused_with_the_known_ones() -> None:
    with pytest.raises(PolicyError, match=r"no policy 'oracle'.*random.*signs"):
        create_policy("oracle")


def test_an_unknown_setting_is_refused_with_the_known_ones() -> None:
    with pytest.raises(PolicyError, match=r"'random' has no setting sed; it has seed, views"):
        create_policy("random", {"sed": 7})


@pytest.mark.parametrize("settings", [{"views": 0}, {"views": "many"}])
def test_a_setting_that_it_refuses(settings: dict[str, object]) -> None:
    with pytest.raises(PolicyError, match=r"'random'.*views"):
        create_policy("random", settings)


@pytest.fixture
def stranger(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A package of somebody else's that adds the policies ``still``, ``odd`` and ``lost``."""
    module = ModuleType("strangers_policies")
    module.Still = type("Still", (RandomPolicy,), {})  # type: ignore[attr-defined]
    module.Odd = type("Odd", (), {})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "strangers_policies", module)
    points = [
        EntryPoint("still", "strangers_policies:Still", POLICIES.group),
        EntryPoint("odd", "strangers_policies:Odd", POLICIES.group),
        EntryPoint("lost", "strangers_policies:Lost", POLICIES.group),
        EntryPoint("gone", "a_package_that_is_not_there:Policy", POLICIES.group),
    ]
    monkeypatch.setattr(plugins, "entry_points", lambda group: points if group == POLICIES.group else [])
    return module


def test_a_package_adds_a_policy_through_an_entry_point(stranger: ModuleType) -> None:
    assert "still" in policy_names()
    assert isinstance(create_policy("still", {"seed": 3}), stranger.Still)
    assert isinstance(create_policy("random"), RandomPolicy)


@pytest.mark.parametrize(
    ("name", "error", "says"),
    [
        ("odd", PolicyError, "no start, decide and close"),
        ("lost", PolicyError, "strangers_policies:Lost"),
        ("gone", PolicyUnavailableError, "a_package_that_is_not_there"),
    ],
)
def test_a_broken_entry_point_is_named(stranger: ModuleType, name: str, error: type[PolicyError], says: str) -> None:
    with pytest.raises(error, match=says):
        create_policy(name)


def test_every_shipped_address_is_there() -> None:
    for name in POLICIES.shipped:
        assert callable(POLICIES.load(name))


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("raise RuntimeError('at import')", PolicyUnavailableError, "at import"),
        ("def x(:", PolicyUnavailableError, "SyntaxError"),
        ("import sys; sys.exit(5)", PolicyUnavailableError, "SystemExit"),
        ("Mine = 5", PolicyError, "is 5; a class is expected"),
    ],
)
def test_a_module_that_is_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, error: type[PolicyError], said: str
) -> None:
    (tmp_path / "broken_policy_module.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "broken_policy_module", raising=False)
    importlib.invalidate_caches()
    with pytest.raises(error, match=rf"'broken_policy_module:Mine'.*{said}"):
        check_policy("broken_policy_module:Mine")


@pytest.mark.parametrize("address", [":X", "..a:b", "builtins:int", "os:getcwd"])
def test_an_address_of_no_policy(address: str) -> None:
    with pytest.raises(PolicyError, match=re.escape(address)):
        create_policy(address)
