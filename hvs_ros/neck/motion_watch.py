"""One commanded motion, and what joint states have made of it.

Arrival is judged here and nowhere else. A controller's word counts only as a reason to look: its failure at the goal is
a warning, its success short of the goal is nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hvs_ros.neck.commands import Verdict
from hvs_ros.neck.joints import NS, Joints, JointSample
from hvs_ros.neck.neck import Failure
from hvs_ros.neck.settling import RestRule, Settling, farthest
from hvs_ros.neck.trajectory import Trajectory
from hvs_ros.search.view import MoveOutcome

RESPONSE_RAD = 0.003
"""A joint has responded when it has gone so far..."""
RESPONSE_SHARE = 0.1
"""...and this part of its way, but not more than..."""
RESPONSE_ENOUGH_RAD = 0.02
"""...this."""


@dataclass(frozen=True)
class ArrivalRules:
    """When a motion has gone wrong.

    Attributes:
        rest: what counts as at rest.
        response_s: s, for a commanded joint to move at all.
        late_s: s, beyond the planned end of a motion, for the joints to arrive.
    """

    rest: RestRule = field(default_factory=RestRule)
    response_s: float = 1.0
    late_s: float = 1.0


class MotionWatch:
    """Watches a motion. Not thread-safe.

    Args:
        names: of the joints.
        tolerance: rad, of each at its goal.
        rules: what counts as arrived, and as gone wrong.
        trajectory: what was commanded.
        began_ns: when.
        start: rad, where the joints were.

    Attributes:
        trajectory: what was commanded.
        max_velocity: rad/s, that its goal asked for.
        retried: it is the second try.
        responded: a joint that had to move has moved.
        warning: of a motion that arrived though its controller says otherwise.
    """

    def __init__(
        self,
        names: Sequence[str],
        tolerance: Sequence[float],
        rules: ArrivalRules,
        trajectory: Trajectory,
        began_ns: int,
        start: Joints,
    ) -> None:
        self._names, self._tolerance, self._rules = tuple(names), tuple(tolerance), rules
        self.trajectory = trajectory
        self.retried = self.responded = False
        self.max_velocity = 0.0
        self.warning = ""
        self._began_ns, self._start = began_ns, start
        self._position = start
        self._verdict: Verdict | None = None
        # Joint states from before the motion's last moment say nothing of its end, those of a look do.
        from_ns = began_ns + round(trajectory.duration * NS) if trajectory.duration > 0.0 else 0
        self._settling = Settling(rules.rest, trajectory.target, self._tolerance, from_ns=from_ns)

    def observe(self, sample: JointSample) -> None:
        """Take in a joint state."""
        self._position = sample.position
        self._settling.add(sample)
        self.responded = self.responded or self._has_responded(sample.position)

    def seconds(self, now_ns: int) -> float:
        """Return how long it has been under way [s]."""
        return (now_ns - self._began_ns) / NS

    def under_way(self, now_ns: int) -> bool:
        """Its planned end is still to come."""
        return self.seconds(now_ns) < self.trajectory.duration

    @property
    def settled_ns(self) -> int | None:
        """Since when the joints have been at rest at the goal; None: they are not."""
        return self._settling.settled_ns

    def off(self, tolerances: float = 1.0) -> str:
        """Say which joint is off its goal, and by how much; empty: none is.

        Args:
            tolerances: by how many times its tolerance a joint may be off.
        """
        allowed = [tolerances * limit for limit in self._tolerance]
        worst = farthest(self._names, self._position, self.trajectory.target, allowed)
        return "" if worst is None else str(worst)

    def hear(self, verdict: Verdict | None) -> None:
        """Take note of what the controller says; at the goal, a failure is no more than a warning."""
        if verdict is None or verdict.succeeded or verdict == self._verdict:
            return
        if not self.off():
            self._verdict = verdict
            self.warning = f"the controller says: {verdict.message}; but the joints are at the goal"

    def complaint(self, now_ns: int, verdict: Verdict | None, *, resting: bool) -> Failure | None:
        """Return what speaks against its arrival; None: nothing, so far.

        Args:
            now_ns: present time.
            verdict: what the controller says of it.
            resting: the joints are at rest, wherever that is.
        """
        elapsed = self.seconds(now_ns)
        if not self.responded and self._must_respond() and self._should_have_by(elapsed - self._rules.response_s):
            return Failure(
                MoveOutcome.NO_RESPONSE,
                f"commanded, but {', '.join(self._names)} did not move within {self._rules.response_s:g} s: is the"
                " controller active, are the motors on, is the robot in a mode that takes joint commands?",
            )
        self.hear(verdict)
        off = self.off()
        if not off:
            return None
        tried = "after a second try " if self.retried else ""
        if verdict is not None and not verdict.succeeded:
            return Failure(MoveOutcome.FAULT, f"{tried}{off}; the controller says: {verdict.message}")
        if resting and elapsed > self.trajectory.duration + self._rules.late_s:
            said = "" if verdict is None else ", though the controller says that it succeeded"
            return Failure(MoveOutcome.NOT_SETTLED, f"{tried}{off}{said}")
        return None

    def _has_responded(self, position: Joints) -> bool:
        for x, start, target in zip(position, self._start, self.trajectory.target, strict=True):
            way = abs(target - start)
            if way > 2 * RESPONSE_RAD and abs(x - start) >= max(
                RESPONSE_RAD, min(RESPONSE_SHARE * way, RESPONSE_ENOUGH_RAD)
            ):
                return True
        return False

    def _should_have_by(self, seconds: float) -> bool:
        """Return whether it was planned to have responded so long after its beginning; a slow motion takes longer."""
        return seconds > 0.0 and self._has_responded(self.trajectory.at(seconds).position)

    def _must_respond(self) -> bool:
        ways = zip(self._start, self.trajectory.target, self._tolerance, strict=True)
        return any(abs(target - start) > max(tolerance, 2 * RESPONSE_RAD) for start, target, tolerance in ways)
