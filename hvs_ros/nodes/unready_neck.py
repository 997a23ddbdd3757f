"""Stands for a neck that is not there yet: the ``move`` action exists before the robot does, and refuses."""

from __future__ import annotations

from collections.abc import Callable

from hvs_ros.neck.neck import Moment, Progress, Reach
from hvs_ros.neck.state import GazeState


class UnreadyNeck:
    """Implements ``hvs_ros.neck.neck.Neck``; it never moves, and nobody lets it.

    Args:
        clock: returns nanoseconds of the ROS clock.
    """

    joint_names: tuple[str, ...] = ()

    def __init__(self, clock: Callable[[], int]) -> None:
        self._clock = clock

    def now(self) -> Moment:
        """Return a moment that says nothing: straight ahead, not settled."""
        return Moment(self._clock(), GazeState(0.0, 0.0), settled=False)

    def reach(self, yaw: float, pitch: float, *, relative: bool) -> Reach:
        """See Neck."""
        return Reach(0.0, 0.0, "there is no neck yet")

    def move(self, reach: Reach, max_velocity: float) -> None:
        """See Neck."""

    def progress(self) -> Progress:
        """See Neck."""
        return Progress()

    def stop(self) -> None:
        """See Neck."""

    def stopped(self) -> bool:
        """See Neck."""
        return True

    def stop_problem(self) -> str:
        """See Neck."""
        return ""
