"""What a policy is.

A policy sees pictures and knows the task in words; it never learns the answer, so that what it finds it has found by
looking. It is created from its settings once, and used for many searches, one at a time. ``start`` and
``decide`` run in a thread that may block; they are never called concurrently.

A policy may also have ``cancel`` (``Cancelable``) and ``describe`` (``Describable``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from hvs_ros.search.decision import Decision
from hvs_ros.search.task import Task
from hvs_ros.search.view import Observation


class PolicyError(Exception):
    """A policy cannot be made or cannot go on; the message says why, and what to do about it."""


class PolicyUnavailableError(PolicyError):
    """What the policy needs (a package, a model, a server) is not there."""


@runtime_checkable
class Policy(Protocol):
    """Decides, turn by turn. A class in the entry-point group ``hvs_ros.policies`` is one by name.

    Its constructor takes the settings as keyword arguments with defaults (str, int, float, bool), and raises
    PolicyUnavailableError when what it needs is missing.
    """

    def start(self, task: Task) -> None:
        """Begin a new search and forget the last one."""
        ...

    def decide(self, observation: Observation) -> Decision:
        """Return what to do, given the view of this turn.

        Raises:
            PolicyError: it cannot decide; the search ends POLICY_FAILED (or POLICY_UNAVAILABLE).
            ActionError: it decided on angles that are no action; the turn is used up.
        """
        ...

    def close(self) -> None:
        """Release what it holds. Called once, from any thread; a ``decide`` under way may be abandoned."""
        ...


@runtime_checkable
class Cancelable(Protocol):
    """A policy that can be told that nobody waits for its answer any more."""

    def cancel(self) -> None:
        """End the call under way soon, whatever it then returns or raises; without one, do nothing.

        Called from any thread; returns at once.
        """
        ...


@runtime_checkable
class Describable(Protocol):
    """A policy that tells more of itself than its settings: which model it has, on which device."""

    def describe(self) -> Mapping[str, str | int | float | bool]:
        """Return facts for diagnostics and records; never a key or a password. Called from any thread."""
        ...
