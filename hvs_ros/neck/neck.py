"""What the ``move`` action drives: a neck, whether it exists as two formulas or as motors.

A goal becomes a ``Reach`` (where the neck goes for it), the neck is set in motion, and from then on ``progress`` is
asked again and again until it has settled or failed. Every method returns at once and may be called from any thread.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from hvs_ros.neck.joints import JointSample
from hvs_ros.neck.state import GazeState
from hvs_ros.search.view import MoveOutcome


@dataclass(frozen=True)
class Moment:
    """A head at one moment.

    Attributes:
        stamp_ns: when, in nanoseconds of the head's clock.
        state: where it looked and how fast it turned.
        settled: it had been at rest for the settling time.
        joints: the neck's joints, in the order of ``Neck.joint_names``; None where they are not known.
        place: m, where the camera was in the base frame.
        turned: rad, by how much the base had turned since the start: part of the yaw, not of the place.
    """

    stamp_ns: int
    state: GazeState
    settled: bool
    joints: JointSample | None = None
    place: tuple[float, float, float] = (0.0, 0.0, 0.0)
    turned: float = 0.0


@dataclass(frozen=True)
class Reach:
    """Where a head goes for a goal.

    Attributes:
        yaw: rad; of a joint without a stop not wrapped.
        pitch: rad.
        beyond: what could not be reached, for a person; empty when the goal is in range.
        joints: rad, the angles of a robot's joints; empty for a neck that is yaw and pitch itself.
        heading: rad, where the base turns to for it; None: it stays.
    """

    yaw: float
    pitch: float
    beyond: str = ""
    joints: tuple[float, ...] = ()
    heading: float | None = None


@dataclass(frozen=True)
class Failure:
    """A move has failed by itself.

    Attributes:
        outcome: NOT_SETTLED, NO_RESPONSE or FAULT.
        message: what is wrong and what to do, for a person.
    """

    outcome: MoveOutcome
    message: str


@dataclass(frozen=True)
class Progress:
    """How a move gets on.

    Attributes:
        settled: it has arrived and is at rest: a view may be taken.
        wait_s: when to ask again, at the latest.
        failure: why it will not arrive; None: it still may.
        warning: of a move that arrived though something was wrong.
    """

    settled: bool = False
    wait_s: float = math.inf
    failure: Failure | None = None
    warning: str = ""


class Neck(Protocol):
    """Turns a camera."""

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of what ``Moment.joints`` holds; empty while they are not known."""
        ...

    def now(self) -> Moment:
        """Return the present."""
        ...

    def reach(self, yaw: float, pitch: float, *, relative: bool) -> Reach:
        """Return where it would go.

        Args:
            yaw: rad, any turn of it; with ``relative`` added to the present direction.
            pitch: rad.
            relative: a turn, not a direction.
        """
        ...

    def move(self, reach: Reach, max_velocity: float) -> None:
        """Begin to turn there, at most so fast [rad/s]."""
        ...

    def progress(self) -> Progress:
        """Tell how the last move gets on."""
        ...

    def stop(self) -> None:
        """Begin to brake."""
        ...

    def stopped(self) -> bool:
        """After ``stop``: it is at rest."""
        ...

    def stop_problem(self) -> str:
        """After ``stop``: say that it should be at rest by now and is not; empty: all is well, so far."""
        ...
