"""Policies by name, through the entry-point group ``hvs_ros.policies``.

A package adds a policy by naming a class in that group; nothing here has to change. The policies that ship with hvs_ros
are found even where its metadata is not installed (a source checkout on PYTHONPATH). While a policy is being written,
its address ``module:Class`` will do for a name.
"""

from __future__ import annotations

import importlib
import inspect
import os
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any

from hvs_ros.confidential import without_secrets
from hvs_ros.policy.contract import Policy, PolicyError, PolicyUnavailableError

GROUP = "hvs_ros.policies"

SHIPPED = {
    "signs": "hvs_ros.policy.signs:SignsPolicy",
    "keyboard": "hvs_ros.policy.keyboard:KeyboardPolicy",
    "random": "hvs_ros.policy.random_walk:RandomPolicy",
    "replay": "hvs_ros.policy.replay:ReplayPolicy",
    "server": "hvs_ros.policy.server:ServerPolicy",
    "torch": "hvs_ros.policy.torch_policy:TorchPolicy",
    "onnx": "hvs_ros.policy.onnx_policy:OnnxPolicy",
}
"""Also what setup.py declares, so that a policy has one address."""


def policy_names() -> list[str]:
    """Return the names that can be asked for, sorted."""
    return sorted({*SHIPPED, *(point.name for point in entry_points(group=GROUP))})


def create_policy(name: str, settings: Mapping[str, Any] | None = None) -> Policy:
    """Make the policy of that name.

    Args:
        name: as in ``policy_names()``, or an address ``module:Class``.
        settings: keyword arguments of its constructor.

    Raises:
        PolicyError: no such policy, a setting it does not have or that it refuses.
        PolicyUnavailableError: something it needs is not installed or not there.
    """
    settings = dict(settings or {})
    factory = _factory(name)
    _check_settings(name, factory, settings)
    try:
        policy = factory(**settings)
    except PolicyError:
        raise
    except (TypeError, ValueError) as error:
        raise PolicyError(f"policy '{name}' refuses its settings {without_secrets(settings)}: {error}") from error
    if not isinstance(policy, Policy):
        raise PolicyError(f"policy '{name}' ({factory!r}) has no start, decide and close")
    return policy


def check_policy(name: str, settings: Mapping[str, Any] | None = None) -> None:
    """Check that the policy exists and has these settings, without making it, which may take long.

    Raises:
        PolicyError: no such policy, or a setting it does not have.
        PolicyUnavailableError: its module cannot be imported.
    """
    _check_settings(name, _factory(name), dict(settings or {}))


def policy_settings(name: str) -> dict[str, Any]:
    """Return the settings of the policy of that name with their defaults.

    Raises:
        PolicyError: no such policy.
        PolicyUnavailableError: its module cannot be imported.
    """
    named = (p for p in _parameters(_factory(name)) if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY))
    return {p.name: None if p.default is p.empty else p.default for p in named}


def _factory(name: str) -> Any:
    points = [point for point in entry_points(group=GROUP) if point.name == name]
    address = points[0].value if points else SHIPPED.get(name, name)
    if ":" not in address:
        raise PolicyError(f"there is no policy '{name}'; known are {', '.join(policy_names())}, or write module:Class")
    module, _, attribute = address.partition(":")
    try:
        factory = getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError as error:
        where = ""
        if error.name is not None and (error.name == module or module.startswith(f"{error.name}.")):
            where = f"; it is looked for in the folder in which hvs or the node was started ({_here()}), on PYTHONPATH,"
            where += " and among the installed packages"
        raise PolicyUnavailableError(f"policy '{name}' cannot be imported: {error}{where}") from error
    except ImportError as error:
        raise PolicyUnavailableError(f"policy '{name}' cannot be imported: {error}") from error
    except AttributeError as error:
        raise PolicyError(f"policy '{name}' names {address}, which is not there") from error
    except (Exception, SystemExit) as error:  # anybody's code runs when it is imported
        raise PolicyUnavailableError(f"policy '{name}' cannot be imported: {error!r}") from error
    if not callable(factory):
        raise PolicyError(f"policy '{name}' names {address}, which is {factory!r:.100}; a class is expected")
    return factory


def _here() -> str:
    try:
        return os.getcwd()
    except OSError as error:
        return error.strerror or "gone"


def _parameters(factory: Any) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(factory).parameters.values())
    except ValueError:  # a class written in C may not tell
        return [inspect.Parameter("settings", inspect.Parameter.VAR_KEYWORD)]


def _check_settings(name: str, factory: Any, settings: Mapping[str, Any]) -> None:
    parameters = _parameters(factory)
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return
    known = [p.name for p in parameters]
    unknown = sorted(set(settings) - set(known))
    if unknown:
        has = f"it has {', '.join(known)}" if known else "it has none"
        raise PolicyError(f"policy '{name}' has no setting {', '.join(unknown)}; {has}")
