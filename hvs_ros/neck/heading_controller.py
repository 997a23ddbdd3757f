"""Turns a base to a heading by velocity commands, with its odometry as feedback.

Odometry tells late what a command has done, so the controller counts on what it has commanded and not yet seen. It goes
to the target in one approach, lets the base come to rest, and looks whether that was enough. A command that does not
move the base (static friction, a driver's smallest velocity) is raised until it does, and remembered for the next time.
"""

from __future__ import annotations

import enum
import math
from collections import deque
from dataclasses import dataclass

from hvs_ros.neck.robot import BaseTurn

ODOMETRY_LIMIT_S = 0.5
RESPONSE_LIMIT_S = 1.0
WRONG_WAY = 0.2
"""rad, a base that has turned away from its heading by so much is stopped."""
AGAIN_LIMIT_S = 1.5
"""The same for a base that has turned already: the last bit is commanded slowly."""
DELAY_S = 0.15
"""From a command to the odometry that shows it, until something else is found out."""
_MAX_DELAY_S = 0.5
_GAIN = 2.0
"""1/s, velocity for each rad that is left, close to the target."""
_BRAKE = 0.6
"""Share of the acceleration limit that braking is planned with, so that there is some left for corrections."""
_REST_RATE = 0.03
"""rad/s, what counts as rest; odometry is never quite still."""
_STALL_S = 0.6
"""Without motion for so long after a command, the command is too small."""
_MEMORY_S = 1.5


class TurnState(enum.Enum):
    """What a base does."""

    IDLE = "idle"
    TURNING = "turning"
    DONE = "done"
    FAILED = "failed"


class TurnFailure(enum.Enum):
    """Why a turn has failed."""

    NO_ODOMETRY = "no odometry"
    NO_RESPONSE = "no response"
    WRONG_WAY = "turns the wrong way"
    TIMEOUT = "not there in time"


@dataclass(frozen=True)
class SeenHeading:
    """What odometry tells.

    Attributes:
        time: s on the steady clock, when it arrived.
        heading: rad, not wrapped.
        rate: rad/s.
    """

    time: float
    heading: float
    rate: float


@dataclass(frozen=True)
class _Command:
    time: float
    velocity: float


class HeadingController:
    """Turns a base to a heading. Not thread-safe; times are seconds of a steady clock.

    Args:
        turn: the base's limits and topics.
        odometry_limit: s, it does not go on with older odometry.

    Attributes:
        state: of the last turn.
        failure: why it has failed; None: it has not.
        message: the same for a person.
    """

    def __init__(self, turn: BaseTurn, odometry_limit: float = ODOMETRY_LIMIT_S) -> None:
        self._turn = turn
        self._odometry_limit = odometry_limit
        self.state = TurnState.IDLE
        self.failure: TurnFailure | None = None
        self.message = ""
        self._commands: deque[_Command] = deque()
        self._target = 0.0
        self._since = self._end = 0.0
        self._direction = 0
        """Of the approach; 0: at rest, or coming to it."""
        self._floor = 0.0
        """rad/s, the smallest velocity that moves the base, as found out; 0: any."""
        self._delay = DELAY_S
        self._rest_since: float | None = None
        self._moved: tuple[float, float] | None = None
        """(time, heading) when it was last seen to have turned, or when commanding began."""
        self._has_moved = False
        self._last_direction = 0
        self._first_error = 0.0
        """rad, at the start of the approach."""

    @property
    def target(self) -> float:
        """The heading [rad] of the last turn."""
        return self._target

    def start(self, target: float, now: float, timeout: float | None = None) -> None:
        """Turn to a heading from now on, in place of the turn under way, whose velocity is taken over.

        Args:
            target: rad, not wrapped.
            now: s.
            timeout: s; None: twice what such a turn takes, and 5 s.
        """
        self.state, self.failure, self.message = TurnState.TURNING, None, ""
        self._target, self._since = target, now
        self._end = math.inf if timeout is None else now + timeout
        self._direction, self._rest_since, self._moved, self._has_moved = 0, None, None, False

    def stop(self, now: float) -> None:
        """End the turn; the next command is zero."""
        if self.state is TurnState.TURNING:
            self.state = TurnState.IDLE
        self._command(now, 0.0)

    def update(self, now: float, seen: SeenHeading | None) -> float:
        """Return the velocity [rad/s] to command now; call it once a period while the state is TURNING.

        Args:
            now: s.
            seen: the newest odometry; None: none yet.
        """
        if self.state is not TurnState.TURNING:
            return 0.0
        if now - max(self._since, -math.inf if seen is None else seen.time) > self._odometry_limit or seen is None:
            if now - self._since <= self._odometry_limit:
                return self._command(now, 0.0)
            return self._fail(now, TurnFailure.NO_ODOMETRY, self._no_odometry(now, seen))
        error = self._target - seen.heading
        if math.isinf(self._end):
            self._end = self._since + 5.0 + 2 * self._least_time(error)
        if now > self._end:
            text = f"the base is {abs(error):.3f} rad short of its heading after {now - self._since:.1f} s"
            return self._fail(now, TurnFailure.TIMEOUT, text)
        if self._direction == 0:
            return self._at_rest(now, seen, error)
        return self._approach(now, seen, error)

    def _at_rest(self, now: float, seen: SeenHeading, error: float) -> float:
        """Wait for rest, then end or begin an approach."""
        velocity = self._command(now, self._slewed(now, 0.0))
        unseen = self._unseen(now, seen)
        if velocity != 0.0 or abs(unseen) > 1e-6 or abs(seen.rate) > _REST_RATE:
            # A turn that takes over from another need not stop if it goes the same way.
            ahead = error - unseen
            if self._moved is None and abs(ahead) > self._turn.tolerance and velocity * ahead > 0:
                return self._begin(now, seen, ahead)
            self._rest_since = None
            return velocity
        if self._rest_since is None:
            self._rest_since = now
        if abs(error) > self._turn.tolerance:
            return self._begin(now, seen, error)
        if now - self._rest_since >= self._delay:
            self.state = TurnState.DONE
        return velocity

    def _begin(self, now: float, seen: SeenHeading, ahead: float) -> float:
        direction = 1 if ahead > 0 else -1
        error = self._target - seen.heading
        if self._moved is not None and self._last_direction == -direction:
            # The last approach went too far. One that is too short only costs a moment.
            self._floor *= 0.85
            self._delay = min(1.3 * self._delay, _MAX_DELAY_S)
        self._direction = self._last_direction = direction
        self._first_error = abs(error)
        self._rest_since = None
        self._moved = (now, seen.heading)
        return self._approach(now, seen, error)

    def _approach(self, now: float, seen: SeenHeading, error: float) -> float:
        assert self._moved is not None
        if abs(seen.heading - self._moved[1]) > min(0.01, self._turn.tolerance / 2):
            if now - self._moved[0] > _STALL_S:
                self._floor = max(1.15 * self._floor, abs(self._commanded(now - self._delay / 2)))
                self._floor = min(self._floor, self._turn.max_velocity)
            self._moved, self._has_moved = (now, seen.heading), True
        still = now - self._moved[0]
        if still > (AGAIN_LIMIT_S if self._has_moved else RESPONSE_LIMIT_S):
            return self._fail(now, TurnFailure.NO_RESPONSE, self._no_response(still, error))
        if self._direction * error > self._first_error + WRONG_WAY:
            return self._fail(now, TurnFailure.WRONG_WAY, self._wrong_way())
        left = self._direction * (error - self._unseen(now, seen))
        if left <= self._turn.tolerance / 4:
            self._direction = 0
            return self._command(now, self._slewed(now, 0.0))
        wanted = max(self._speed(left), self._floor)
        if still > _STALL_S:
            # It does not move yet: go up to the largest velocity within the limit for a response.
            share = (still - _STALL_S) / (RESPONSE_LIMIT_S - _STALL_S - DELAY_S)
            wanted = max(wanted, min(1.0, share) * self._turn.max_velocity)
        return self._command(now, self._slewed(now, self._direction * min(wanted, self._turn.max_velocity)))

    def _speed(self, left: float) -> float:
        """Return the velocity [rad/s] with so much left [rad]: braking at a constant rate, proportional at the end."""
        brake = _BRAKE * self._turn.max_acceleration
        bend = brake / _GAIN**2
        return _GAIN * left if left <= bend else math.sqrt(2 * brake * (left - bend / 2))

    def _least_time(self, way: float) -> float:
        return abs(way) / self._turn.max_velocity + self._turn.max_velocity / self._turn.max_acceleration

    def _slewed(self, now: float, wanted: float) -> float:
        """Return the velocity next to the wanted one that the acceleration limit allows now."""
        last = self._commands[-1] if self._commands else _Command(now, 0.0)
        # After a pause: at most a tenth of a second's worth.
        change = self._turn.max_acceleration * min(max(now - last.time, 0.0), 0.1)
        return min(max(wanted, last.velocity - change), last.velocity + change)

    def _command(self, now: float, velocity: float) -> float:
        self._commands.append(_Command(now, velocity))
        while now - self._commands[0].time > _MEMORY_S and len(self._commands) > 1:
            self._commands.popleft()
        return velocity

    def _commanded(self, time: float) -> float:
        """Return the command [rad/s] that was in force then."""
        velocity = 0.0
        for command in self._commands:
            if command.time > time:
                break
            velocity = command.velocity
        return velocity

    def _unseen(self, now: float, seen: SeenHeading) -> float:
        """Return the turn [rad] that was commanded and that the odometry does not show yet."""
        since, total = seen.time - self._delay, 0.0
        ends = [*(command.time for command in self._commands), now][1:]
        for command, end in zip(self._commands, ends, strict=True):
            if abs(command.velocity) < 0.9 * self._floor:
                continue  # as far as is known, this moves nothing
            total += command.velocity * max(0.0, end - max(command.time, since))
        return total

    def _fail(self, now: float, failure: TurnFailure, message: str) -> float:
        self.state, self.failure, self.message = TurnState.FAILED, failure, message
        return self._command(now, 0.0)

    def _no_odometry(self, now: float, seen: SeenHeading | None) -> str:
        since = "" if seen is None else f" for {now - seen.time:.1f} s"
        return f"no odometry from {self._turn.odom}{since}: the base is not turned without it"

    def _wrong_way(self) -> str:
        return (
            f"the base turns away from its heading: is angular.z on {self._turn.cmd_vel} left positive, and is the yaw"
            f" of {self._turn.odom}?"
        )

    def _no_response(self, still: float, error: float) -> str:
        kind = "TwistStamped" if self._turn.stamped else "Twist"
        return (
            f"the base has not turned for {still:.1f} s of velocity commands, {abs(error):.3f} rad short: does its"
            f" driver listen to {kind} on {self._turn.cmd_vel}, is it enabled, and is {self._turn.odom} its odometry?"
        )
