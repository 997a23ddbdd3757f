"""A robot's neck as the ``move`` action drives it: real joints, whose states alone tell what has happened.

A goal becomes joint angles (``solver``), those a motion of all joints together (``trajectory``), and that goes to the
command back end. From then on only joint states count. They say whether the neck has come to rest at its goal; whether
it moves at all; whether it stops when it is told to. What the controller says of itself is no more than a reason to
look: a success 20 degrees short is tried once more and then named, a failure at the goal is a success with a warning.

A newer goal takes over without a jump: its motion begins where the controller will begin it, at the joints or at their
last set-points. At rest it begins where the joints were commanded to be, so that one that hangs a little below its goal
does not creep with each move.

No motion without fresh joint states: when they stop coming the neck is told to hold, and the move has failed.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from hvs_ros.angles import search_direction, wrap_rad
from hvs_ros.neck.base_turn import share_turn
from hvs_ros.neck.believable_state import believable_state
from hvs_ros.neck.commands import CommandBackend
from hvs_ros.neck.heading_controller import TurnState
from hvs_ros.neck.joint_history import JointHistory
from hvs_ros.neck.joints import NS, Joints, JointSample
from hvs_ros.neck.kinematics import GazeKinematics
from hvs_ros.neck.limits import GazeLimits
from hvs_ros.neck.motion_watch import ArrivalRules, MotionWatch
from hvs_ros.neck.neck import Failure, Moment, Progress, Reach
from hvs_ros.neck.settling import Settling
from hvs_ros.neck.solver import GazeSolver, Solution
from hvs_ros.neck.state import GazeState
from hvs_ros.neck.trajectory import Trajectory, plan_stop_together, plan_together
from hvs_ros.neck.turning_base import FixedBase, TurningBase
from hvs_ros.search.view import MoveOutcome

LOOK_S = 0.01
"""How often a move is looked at; joint states come about as often."""
THERE_RAD = 1e-4
"""A neck commanded so near to its goal is not commanded again."""
TWIST_RAD = math.radians(5.0)
"""A direction out of reach is missed by so much more rather than with a twisted neck."""
FOLLOWS_RAD = 0.15
"""Joints so far from where they are commanded do not follow: the next motion begins where they are."""
SLOWEST = 1e-6
"""rad/s; a goal that asks for less gets this, which nobody can tell from rest, and no motion is endless."""
CLOCK_BACK_S = 0.5
"""A motion that began so far in the future began before the clock was set back: when it ends is not known any more."""


@dataclass(frozen=True)
class GazeRules:
    """How a neck is moved and judged.

    Attributes:
        arrival: when a motion has arrived, and when it has gone wrong.
        settle_s: s at rest before a view is taken.
        stop_s: s, for the joints to come to rest after they were told to.
        stale_s: s, age of a joint state beyond which there is no motion.
        velocity_scale: of every limit of velocity, 0 to 1.
    """

    arrival: ArrivalRules = field(default_factory=ArrivalRules)
    settle_s: float = 0.0
    stop_s: float = 1.0
    stale_s: float = 0.5
    velocity_scale: float = 1.0


class RobotGaze:
    """Implements ``hvs_ros.neck.neck.Neck``. Thread-safe.

    Args:
        kinematics: of the neck.
        solver: of the same.
        backend: commands the neck's joints and, with ``torso``, the torso's, in the order of ``kinematics.joints``.
        clock: returns nanoseconds of the ROS clock.
        rules: how it is moved and judged.
        torso: the torso's joints are commanded too.
        reachable: directions that the neck reaches and may take, in the base frame.
        permitted: directions that it may take.
        base: turns where the neck is not enough; None: the base stays.
    """

    def __init__(
        self,
        kinematics: GazeKinematics,
        solver: GazeSolver,
        backend: CommandBackend,
        clock: Callable[[], int],
        rules: GazeRules,
        *,
        torso: bool,
        reachable: GazeLimits,
        permitted: GazeLimits | None = None,
        base: TurningBase | None = None,
    ) -> None:
        self.joint_names = kinematics.joints
        self.reachable = reachable
        self._permitted = permitted or GazeLimits()
        self._kinematics, self._solver, self._backend = kinematics, solver, backend
        self._clock, self._rules = clock, rules
        self._base, self._turns = (FixedBase(), False) if base is None else (base, True)
        self._count = len(kinematics.neck) + (len(kinematics.torso) if torso else 0)
        limits = kinematics.limits[: self._count]
        self._names = kinematics.joints[: self._count]
        self._tolerance = tuple(limit.tolerance for limit in limits)
        self._limits = limits
        self._velocity = tuple(limit.max_velocity * rules.velocity_scale for limit in limits)
        self._acceleration = tuple(limit.max_acceleration for limit in limits)
        self._history = JointHistory(
            continuous=[index for index, limit in enumerate(kinematics.limits) if limit.continuous]
        )
        self._arrived_s = -math.inf
        self._late_s = 0.0
        self._motion: MotionWatch | None = None
        self._rest = Settling(rules.arrival.rest)
        self._stop_asked_s = math.inf
        self._wanted: tuple[float, float] | None = None
        """(yaw, pitch) [rad] to aim at once more when the base has turned; None: nothing."""
        self._base_turned_ns = 0
        """The last joint state during which the base turned."""
        self._lock = threading.RLock()

    # What comes in.

    def observe(self, sample: JointSample) -> None:
        """Take in a joint state: a value for each of ``joint_names``."""
        with self._lock:
            self._history.add(sample)
            self._arrived_s = time.monotonic()
            self._late_s = (self._clock() - sample.stamp_ns) / NS
            moved = self._commanded_part(sample)
            self._rest.add(moved)
            if self._motion is not None:
                self._motion.observe(moved)
            if self._base_turns():
                self._base_turned_ns = sample.stamp_ns

    def stale(self) -> str:
        """Return why the joint states cannot be relied on; empty: they can."""
        last = self._history.last
        if last is None:
            return "no joint states yet"
        silent = time.monotonic() - self._arrived_s
        if silent > self._rules.stale_s:
            return f"no joint states for {silent:.1f} s"
        age, late = (self._clock() - last.stamp_ns) / NS, self._late_s
        if abs(age) <= self._rules.stale_s:
            return ""
        if abs(late) <= self._rules.stale_s:
            return f"the last joint states are {age:.2f} s old, {late:.2f} s when they came"
        when = f"{late:.2f} s old" if late > 0 else f"{-late:.2f} s ahead"
        return (
            f"the joint states are {when} when they arrive: do the robot and this computer use the same clock, and is"
            " none of them overloaded?"
        )

    # Where it looks.

    def now(self) -> Moment:
        """Return the moment of the last joint state."""
        last = self._history.last
        if last is None:
            return Moment(self._clock(), GazeState(0.0, 0.0), settled=False)
        return self._moment(last)

    def at(self, stamp_ns: int) -> Moment | None:
        """Return another moment; None where the joints are not known then (yet)."""
        sample = self._history.at(stamp_ns)
        return None if sample is None else self._moment(sample)

    def settled_ns(self) -> int | None:
        """Return from when on views show where it looks, at rest; None: it moves, or is not where it should be."""
        with self._lock:
            since = self._rest.settled_ns if self._motion is None else self._motion.settled_ns
            if since is None or self._wanted is not None or self._base_turns():
                return None
            return max(since, self._base_turned_ns + 1) + round(self._rules.settle_s * NS)

    # Where it goes.

    def reach(self, yaw: float, pitch: float, *, relative: bool) -> Reach:
        """See Neck. With a base that turns, yaw 0 is where the base looked at first."""
        with self._lock:
            anchor = self._anchor()
            heading = self._heading()
            present = self._kinematics.gaze(anchor)
            if relative:
                if yaw == 0.0 == pitch:
                    return Reach(self._near(present.yaw + heading), present.pitch, joints=anchor[: self._count])
                yaw, pitch = present.yaw + heading + yaw, present.pitch + pitch
            turn_to: float | None = None
            inside, beyond = _upright(pitch)
            if self._turns:
                share = share_turn(yaw, heading, self.reachable)
                heading, turn_to = share.heading, share.heading if share.turns else None
            goal = self._permitted.direction(wrap_rad(yaw - heading), inside, now=present.yaw)
            solution = self._solver.solve(goal.yaw, goal.pitch, anchor)
            missed = ""
            if not solution.reached:
                solution = self._untwisted(goal, solution, anchor)
                missed = self._beyond(goal.yaw + heading, goal.pitch, wrap_rad(solution.yaw + heading), solution)
            beyond = "; ".join(filter(None, (beyond, goal.beyond, missed)))
            joints = solution.joints[: self._count]
            return Reach(self._near(solution.yaw + heading), solution.pitch, beyond, joints, heading=turn_to)

    def move(self, reach: Reach, max_velocity: float = math.inf) -> None:
        """See Neck."""
        with self._lock:
            self._stop_asked_s = math.inf
            self._wanted = None
            self._go(reach.joints, max_velocity)
            if reach.heading is not None:
                self._wanted = reach.yaw, reach.pitch
                self._base.turn_to(reach.heading)
            elif self._base_turns():
                self._base.stop()
                self._wanted = reach.yaw, reach.pitch

    def progress(self) -> Progress:
        """See Neck."""
        with self._lock:
            motion = self._motion
            if stale := self.stale():
                return Progress(failure=Failure(MoveOutcome.FAULT, f"{stale}; the neck holds"))
            if motion is None:
                return Progress(wait_s=LOOK_S)
            if (ahead := -motion.seconds(self._clock())) > CLOCK_BACK_S:
                why = f"the clock was set back during the move, to {ahead:.1f} s before its beginning; the neck holds"
                return Progress(failure=Failure(MoveOutcome.FAULT, why))
            if self._wanted is not None:
                if why := self._base.message():
                    return Progress(failure=Failure(MoveOutcome.FAULT, f"the base: {why}"))
                if not self._base_turns():
                    motion = self._aim_again(motion)
            since = self.settled_ns()
            if since is not None and self._clock() >= since:
                motion.hear(self._backend.verdict())
                return Progress(settled=True, wait_s=LOOK_S, warning=motion.warning)
            return Progress(wait_s=LOOK_S, failure=self._failure(motion), warning=motion.off())

    def stop(self) -> None:
        """Brake within the joints' limits, and stay."""
        with self._lock:
            self._wanted = None
            self._base.stop()
            if self._stop_asked_s == math.inf:
                self._stop_asked_s = time.monotonic()
            motion, last = self._motion, self._history.last
            if motion is None or last is None:
                return
            under_way = motion.under_way(self._clock())
            if not under_way and self._rest.resting and not motion.off():
                return
            if self.stale() or not under_way:
                self._hold(last.position[: self._count] if motion.off(tolerances=2.0) else motion.trajectory.target)
                return
            start, velocity = self._state()
            braking = plan_stop_together(start, velocity, max_acceleration=self._acceleration)
            self._command(braking, start)

    def hold(self) -> None:
        """Stop at once, within a control period, wherever the joints are: for an emergency.

        A neck that was never commanded is not commanded now either. One that is told again stays where it was told to
        the first time: joints that hang a little below it would sink with every repetition.
        """
        with self._lock:
            self._base.stop()
            self._wanted = None
            self._stop_asked_s = time.monotonic()
            last, motion = self._history.last, self._motion
            if last is None or motion is None:
                return
            measured, held = last.position[: self._count], motion.trajectory.target
            again = motion.trajectory.duration == 0.0 and all(
                abs(x - y) <= FOLLOWS_RAD for x, y in zip(measured, held, strict=True)
            )
            self._hold(held if again else measured)

    def stopped(self) -> bool:
        """See Neck; a neck that was never commanded has nothing to stop."""
        with self._lock:
            still = self._motion is None or (self._rest.resting and not self.stale())
            return still and not self._base_turns()

    def stop_problem(self) -> str:
        """See Neck."""
        with self._lock:
            if self._motion is None or time.monotonic() - self._stop_asked_s < self._rules.stop_s:
                return ""
            last = self._history.last
            if last is None or self.stale():
                return "whether it has stopped cannot be seen: the joint states do not come any more"
            if self._rest.resting:
                return ""
            speeds = zip(self._names, last.velocity, strict=False)
            name, speed = max(speeds, key=lambda item: abs(item[1]))
            return (
                f"it was told to hold, but {name} still moves at {speed:.2f} rad/s after {self._rules.stop_s:g} s:"
                " stop the robot by other means"
            )

    # Inside, with the lock held.

    def _moment(self, sample: JointSample) -> Moment:
        with self._lock:
            state = self._kinematics.gaze(sample.position, sample.velocity)
            place = self._kinematics.optical(sample.position).position
            since = self.settled_ns()
            heading = self._base.at(sample.stamp_ns)
            if heading is None:
                heading = self._base.heading() or 0.0
            rate = self._base.rate()
        turned = heading if self._turns else 0.0
        if self._turns:
            state = replace(state, yaw=wrap_rad(state.yaw + turned), yaw_velocity=state.yaw_velocity + rate)
        settled = since is not None and sample.stamp_ns >= since
        at = (float(place[0]), float(place[1]), float(place[2]))
        return Moment(sample.stamp_ns, state, settled, sample, at, turned)

    def _heading(self) -> float:
        """Return where the base points, or will point when it has turned."""
        return self._base.destination() or 0.0

    def _aim_again(self, motion: MotionWatch) -> MotionWatch:
        """The base has turned, not quite to where it should: the neck makes up for that."""
        assert self._wanted is not None
        (yaw, pitch), self._wanted = self._wanted, None
        anchor = self._anchor()
        solution = self._solver.solve(wrap_rad(yaw - self._heading()), pitch, anchor)
        return self._go(solution.joints[: self._count], motion.max_velocity)

    def _base_turns(self) -> bool:
        return self._base.state() is TurnState.TURNING

    def _near(self, yaw: float) -> float:
        """Return the turn of a yaw that belongs to the present one, where the neck has no stop."""
        yaw = wrap_rad(yaw)
        if not (self.reachable.yaw_continuous or self._turns):
            return yaw
        present = self.now().state.yaw
        return present + wrap_rad(yaw - present)

    def _commanded_part(self, sample: JointSample) -> JointSample:
        return JointSample(sample.stamp_ns, sample.position[: self._count], sample.velocity[: self._count])

    def _anchor(self) -> Joints:
        """Return the joints from which a goal is planned: as commanded where they follow, else as they are."""
        last = self._history.last
        if last is None:
            return self._kinematics.neutral
        return self._state()[0] + last.position[self._count :]

    def _state(self) -> tuple[Joints, Joints]:
        """Return (position, velocity) that the next motion begins with."""
        last, motion = self._history.last, self._motion
        assert last is not None
        measured = last.position[: self._count]
        if motion is None:
            return measured, (0.0,) * self._count
        now = self._clock()
        point, under_way = motion.trajectory.at(motion.seconds(now)), motion.under_way(now)
        if under_way and self._backend.begins_at_joints:
            return believable_state(self._history, self._limits, now)
        allowed = [FOLLOWS_RAD] * self._count if under_way else [2 * limit for limit in self._tolerance]
        if all(abs(x - y) <= limit for x, y, limit in zip(point.position, measured, allowed, strict=True)):
            return point.position, point.velocity
        return measured, believable_state(self._history, self._limits, last.stamp_ns)[1]

    def _go(self, target: Joints, max_velocity: float) -> MotionWatch:
        start, velocity = self._state()
        top = [min(limit, max(max_velocity, SLOWEST)) for limit in self._velocity]
        trajectory = plan_together(start, velocity, target, max_velocity=top, max_acceleration=self._acceleration)
        there = max(abs(x - y) for x, y in zip(start, target, strict=True)) <= THERE_RAD
        # There already, which may be where nobody has ever commanded it: a look is no motion.
        look = there and max(map(abs, velocity)) == 0.0
        motion = self._watch(trajectory, start) if look else self._command(trajectory, start)
        motion.max_velocity = max_velocity
        return motion

    def _command(self, trajectory: Trajectory, start: Joints) -> MotionWatch:
        motion = self._watch(trajectory, start)
        self._backend.execute(trajectory)
        return motion

    def _hold(self, position: Joints) -> None:
        self._watch(plan_stop_together(position, (0.0,) * self._count, max_acceleration=self._acceleration), position)
        self._backend.hold(position)

    def _watch(self, trajectory: Trajectory, start: Joints) -> MotionWatch:
        now = self._clock()
        self._motion = MotionWatch(self._names, self._tolerance, self._rules.arrival, trajectory, now, start)
        self._rest = Settling(self._rules.arrival.rest, from_ns=now)
        return self._motion

    def _failure(self, motion: MotionWatch) -> Failure | None:
        """Return why the motion will not arrive; a first miss is tried once more."""
        complaint = motion.complaint(self._clock(), self._backend.verdict(), resting=self._rest.resting)
        if complaint is None or motion.retried or complaint.outcome is MoveOutcome.NO_RESPONSE:
            return complaint
        again = self._go(motion.trajectory.target, motion.max_velocity)
        again.retried, again.responded = True, motion.responded
        return None

    def _untwisted(self, goal: Reach, nearest: Solution, anchor: Joints) -> Solution:
        """Return yaw and pitch each as far as the neck goes, if that is almost as near to a goal out of reach.

        The nearest direction of all may be down and askew, for a degree or two: nobody expects a head that is told to
        look too far to the right to look at the floor there.
        """
        present = self._kinematics.gaze(anchor).yaw
        inside = self.reachable.direction(goal.yaw, goal.pitch, now=present)
        solution = self._solver.solve(inside.yaw, inside.pitch, anchor)
        wanted = search_direction(goal.yaw, goal.pitch)
        error = math.radians(wanted.angle_to_deg(search_direction(solution.yaw, solution.pitch)))
        return replace(solution, error=error) if error <= nearest.error + TWIST_RAD else nearest

    @staticmethod
    def _beyond(yaw: float, pitch: float, nearest: float, solution: Solution) -> str:
        return (
            f"yaw {wrap_rad(yaw):.3f}, pitch {pitch:.3f} rad is out of reach; the nearest direction is"
            f" yaw {nearest:.3f}, pitch {solution.pitch:.3f}, {math.degrees(solution.error):.1f}° away"
        )


def _upright(pitch: float) -> tuple[float, str]:
    """Return the pitch that a line of sight can have, and what is beyond it."""
    inside = min(max(pitch, -math.pi / 2), math.pi / 2)
    return inside, "" if abs(inside - pitch) <= 1e-6 else f"pitch {pitch:.3f} rad is beyond straight up or down"
