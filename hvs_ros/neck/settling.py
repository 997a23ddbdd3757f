"""When a neck is at rest, judged by joint states alone: controllers have been seen to say so 20 degrees short.

At rest means: several joint states in a row within tolerance of the goal and slower than a threshold. One state is not
enough, since a joint that overshoots is at its goal for a moment at full speed, and a noisy one is slow for a moment.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hvs_ros.neck.joints import Joints, JointSample

CLOCK_JUMP_NS = 1_000_000_000


@dataclass(frozen=True)
class RestRule:
    """What counts as at rest.

    Attributes:
        samples: joint states in a row.
        max_velocity: rad/s, for every joint.
    """

    samples: int = 5
    max_velocity: float = 0.02


@dataclass(frozen=True)
class Off:
    """How far a joint is from where it should be."""

    joint: str
    radians: float

    def __str__(self) -> str:
        return f"{self.joint} is {abs(self.radians):.3f} rad ({abs(math.degrees(self.radians)):.1f}°) off"


class Settling:
    """Watches a neck come to rest.

    Args:
        rule: what counts as at rest.
        target: rad, where it should rest; None: anywhere.
        tolerance: rad for each joint; may be infinite.
        from_ns: joint states before this moment do not count.
    """

    def __init__(
        self, rule: RestRule, target: Joints | None = None, tolerance: Sequence[float] = (), from_ns: int = 0
    ) -> None:
        self._rule = rule
        self._target, self._tolerance = target, tuple(tolerance)
        self._from_ns = from_ns
        self._last_ns = -1
        self._row: list[int] = []  # stamps of the first good ones in a row
        self._slow = 0

    def add(self, sample: JointSample) -> None:
        """Judge one more joint state."""
        if sample.stamp_ns < self._last_ns - CLOCK_JUMP_NS:
            # The clock was set back, or the last one was stamped in the future: what comes now counts.
            self._last_ns, self._row, self._slow = -1, [], 0
        if sample.stamp_ns < self._from_ns or sample.stamp_ns <= self._last_ns:
            return
        self._last_ns = sample.stamp_ns
        slow = all(abs(value) <= self._rule.max_velocity for value in sample.velocity)
        self._slow = self._slow + 1 if slow else 0
        if not (slow and self._near(sample.position)):
            self._row = []
        elif len(self._row) < self._rule.samples:
            self._row.append(sample.stamp_ns)

    @property
    def resting(self) -> bool:
        """It is at rest, wherever that is."""
        return self._slow >= self._rule.samples

    @property
    def settled_ns(self) -> int | None:
        """Since when it has been at rest at the goal; None: it is not."""
        return self._row[self._rule.samples - 1] if len(self._row) >= self._rule.samples else None

    def _near(self, position: Joints) -> bool:
        if self._target is None:
            return True
        joints = zip(position, self._target, self._tolerance, strict=True)
        return all(abs(value - goal) <= tolerance for value, goal, tolerance in joints)


def farthest(names: Sequence[str], position: Joints, target: Joints, tolerance: Sequence[float]) -> Off | None:
    """Return the joint that is farthest beyond its tolerance; None: all are within."""
    joints = zip(names, position, target, tolerance, strict=True)
    off = [(abs(x - goal) / allowed, Off(name, x - goal)) for name, x, goal, allowed in joints]
    worst = max(off, key=lambda item: item[0], default=None)
    return worst[1] if worst is not None and worst[0] > 1.0 else None
