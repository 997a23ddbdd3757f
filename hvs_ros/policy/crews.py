"""Crews by the name of their policy: a policy's own where it has one, else one in threads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hvs_ros.confidential import without_secrets
from hvs_ros.policy.contract import PolicyError
from hvs_ros.policy.crew import Crew
from hvs_ros.policy.registry import create_policy, policy_class
from hvs_ros.policy.thread_crew import ThreadCrew


def make_crew(policy: str, settings: Mapping[str, Any] | None = None, size: int | None = None) -> Crew:
    """Return searchers of the policy of that name; nothing is loaded before ``open``.

    Args:
        policy: as in ``policy_names()``, or an address ``module:Class``.
        settings: keyword arguments of its constructor.
        size: how many search at the same time; None: as many as is good for this policy, which is one for each that
            has no crew of its own.

    Raises:
        PolicyError: no such policy, a setting it does not have or that it refuses.
        PolicyUnavailableError: something it needs is not installed.
    """
    settings = dict(settings or {})
    own = getattr(policy_class(policy, settings), "crew", None)
    if own is None:
        return ThreadCrew(lambda: create_policy(policy, settings), 1 if size is None else size)
    try:
        crew: Crew = own(settings, size)
    except PolicyError:
        raise
    except (TypeError, ValueError) as error:
        raise PolicyError(f"policy '{policy}' refuses its settings {without_secrets(settings)}: {error}") from error
    return crew
