"""What a command back end offers: the one place where a head's motion leaves hvs_ros.

A back end is a small class; ``hvs_ros.nodes.commands`` has those that ship, others come by the entry-point group
``hvs_ros.command_backends``. A back end gets whole, time-parametrised motions. Controllers that interpolate
(joint_trajectory_controller) get them as they are; drivers that want a set-point each cycle have them sampled by the
back end. Positions are the URDF's; a back end applies ``NeckJoint.to_driver``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from hvs_ros.neck.joints import Joints
from hvs_ros.neck.trajectory import Trajectory


class CommandError(Exception):
    """A back end cannot be used at all; the message says why and what to do."""


@dataclass(frozen=True)
class Verdict:
    """What a controller itself said of the last motion; arrival is judged by joint states all the same.

    Attributes:
        succeeded: it says that the goal was reached.
        message: its own words.
    """

    succeeded: bool
    message: str = ""


class CommandBackend(Protocol):
    """Commands joints. Every method returns at once and may be called from any thread."""

    @property
    def begins_at_joints(self) -> bool:
        """Its controller begins a motion where the joints are, not at their last set-points.

        joint_trajectory_controller does the former, a stream of set-points the latter.
        """
        ...

    def problem(self) -> str:
        """Return why nothing can be commanded now (no controller listens ...); empty: it can."""
        ...

    def execute(self, trajectory: Trajectory) -> None:
        """Begin a motion now, in place of the one under way."""
        ...

    def hold(self, position: Joints) -> None:
        """Stop within a control period and stay at these joint angles [rad]."""
        ...

    def verdict(self) -> Verdict | None:
        """Return what the controller said of the last motion; None: nothing (yet)."""
        ...

    def close(self) -> None:
        """Send nothing any more and give everything back."""
        ...


class CommandBackends:
    """Several back ends as one, each with its own slice of the joints (a neck's and a torso's controller).

    Args:
        parts: (back end, indices of its joints).
    """

    def __init__(self, parts: Sequence[tuple[CommandBackend, Sequence[int]]]) -> None:
        self._parts = [(backend, tuple(indices)) for backend, indices in parts]
        self.begins_at_joints = all(backend.begins_at_joints for backend, _ in parts)

    def problem(self) -> str:
        """See CommandBackend."""
        return "; ".join(filter(None, (backend.problem() for backend, _ in self._parts)))

    def execute(self, trajectory: Trajectory) -> None:
        """See CommandBackend."""
        for backend, indices in self._parts:
            backend.execute(trajectory.only(indices))

    def hold(self, position: Joints) -> None:
        """See CommandBackend."""
        for backend, indices in self._parts:
            backend.hold(tuple(position[index] for index in indices))

    def verdict(self) -> Verdict | None:
        """See CommandBackend: a failure of one is a failure, success needs that all succeeded."""
        verdicts = [backend.verdict() for backend, _ in self._parts]
        said = [verdict for verdict in verdicts if verdict is not None]
        failed = [verdict for verdict in said if not verdict.succeeded]
        if failed:
            return Verdict(False, "; ".join(verdict.message for verdict in failed))
        return said[0] if said and len(said) == len(verdicts) else None

    def close(self) -> None:
        """See CommandBackend."""
        for backend, _ in self._parts:
            backend.close()
