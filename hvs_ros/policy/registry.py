"""Policies by name, through the entry-point group ``hvs_ros.policies`` (see ``hvs_ros.plugins``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from hvs_ros.confidential import without_secrets
from hvs_ros.plugins import PluginError, PluginImportError, Plugins, parameters
from hvs_ros.policy.contract import Policy, PolicyError, PolicyUnavailableError

POLICIES = Plugins(
    "hvs_ros.policies",
    "policy",
    {
        "signs": "hvs_ros.policy.signs:SignsPolicy",
        "keyboard": "hvs_ros.policy.keyboard:KeyboardPolicy",
        "random": "hvs_ros.policy.random_walk:RandomPolicy",
        "replay": "hvs_ros.policy.replay:ReplayPolicy",
        "server": "hvs_ros.policy.server:ServerPolicy",
        "torch": "hvs_ros.policy.torch_policy:TorchPolicy",
        "onnx": "hvs_ros.policy.onnx_policy:OnnxPolicy",
    },
)


def policy_names() -> list[str]:
    """Return the names that can be asked for, sorted."""
    return POLICIES.names()


def policy_class(name: str, settings: Mapping[str, Any] | None = None) -> Any:
    """Return the class of the policy of that name, once it is known to have these settings.

    Args:
        name: as in ``policy_names()``, or an address ``module:Class``.
        settings: keyword arguments of its constructor.

    Raises:
        PolicyError: no such policy, or a setting it does not have.
        PolicyUnavailableError: its module cannot be imported.
    """
    with _as_policy_errors():
        found = POLICIES.load(name)
        POLICIES.check_settings(name, found, settings or {})
        return found


def check_policy(name: str, settings: Mapping[str, Any] | None = None) -> None:
    """Check that the policy exists and has these settings, without making it, which may take long.

    Raises:
        PolicyError: no such policy, or a setting it does not have.
        PolicyUnavailableError: its module cannot be imported.
    """
    policy_class(name, settings)


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
    factory = policy_class(name, settings)
    try:
        policy = factory(**settings)
    except PolicyError:
        raise
    except (TypeError, ValueError) as error:
        raise PolicyError(f"policy '{name}' refuses its settings {without_secrets(settings)}: {error}") from error
    if not isinstance(policy, Policy):
        raise PolicyError(f"policy '{name}' ({factory!r}) has no start, decide and close")
    return policy


def policy_settings(name: str) -> dict[str, Any]:
    """Return the settings of the policy of that name with their defaults.

    Raises:
        PolicyError: no such policy.
        PolicyUnavailableError: its module cannot be imported.
    """
    found = parameters(policy_class(name))
    named = (p for p in found if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY))
    return {p.name: None if p.default is p.empty else p.default for p in named}


@contextmanager
def _as_policy_errors() -> Iterator[None]:
    try:
        yield
    except PluginImportError as error:
        raise PolicyUnavailableError(str(error)) from error
    except PluginError as error:
        raise PolicyError(str(error)) from error
