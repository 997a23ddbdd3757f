"""A base under a neck: what of it a gaze needs, and the one that stays where it is.

Headings are radians, left positive, not wrapped; 0 is where the base pointed at first.
"""

from __future__ import annotations

from typing import Protocol

from hvs_ros.neck.heading_controller import TurnState


class TurningBase(Protocol):
    """A base that turns where the neck is not enough; see ``hvs_ros.nodes.base_driver``. Thread-safe."""

    def heading(self) -> float | None:
        """Return where it points [rad], not wrapped; None: not known yet."""
        ...

    def destination(self) -> float | None:
        """Return where it will point when the turn under way has ended [rad]; None: not known yet."""
        ...

    def at(self, stamp_ns: int) -> float | None:
        """Return where it pointed at a moment."""
        ...

    def rate(self) -> float:
        """Return how fast it turns [rad/s]."""
        ...

    def turn_to(self, heading: float) -> None:
        """Begin to turn."""
        ...

    def stop(self) -> None:
        """Stop."""
        ...

    def state(self) -> TurnState:
        """Return what has become of the last turn."""
        ...

    def message(self) -> str:
        """Return why the last turn has failed; empty: it has not."""
        ...


class FixedBase:
    """Implements ``TurningBase`` for a base that nobody turns: it always points ahead."""

    def heading(self) -> float:
        """See TurningBase."""
        return 0.0

    def destination(self) -> float:
        """See TurningBase."""
        return 0.0

    def at(self, stamp_ns: int) -> float:
        """See TurningBase."""
        return 0.0

    def rate(self) -> float:
        """See TurningBase."""
        return 0.0

    def turn_to(self, heading: float) -> None:
        """See TurningBase: nobody asks for it."""

    def stop(self) -> None:
        """See TurningBase."""

    def state(self) -> TurnState:
        """See TurningBase."""
        return TurnState.IDLE

    def message(self) -> str:
        """See TurningBase."""
        return ""
