"""What a controller of ros2_control does with commands: it turns them into a set-point of each joint at each moment.

Trajectories are run like joint_trajectory_controller's: from where the joints are through the points, cubic between
points that have velocities and linear between those that have not, and the last point is held. Other joints are left
alone. Values are the URDF's; ``JointUnits`` turns a driver's into them. A command takes effect ``delay_ns`` after it
was given, like one that has to go over a bus.
"""

from __future__ import annotations

import bisect
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from hvs_ros.neck.joints import NS, Joints, JointSample
from hvs_ros.neck.robot import NeckJoint

_THERE_RAD = 1e-3

_Command = Callable[[int, JointSample], None]
"""What a command does, given the moment of its effect and where the joints are then."""


@dataclass(frozen=True)
class Waypoint:
    """A point of a trajectory: seconds from its start, positions [rad], and velocities [rad/s] if it gives any."""

    time: float
    position: Joints
    velocity: Joints | None = None


@dataclass(frozen=True)
class JointUnits:
    """Turns what is on the wire into the URDF's sense and back.

    Args:
        joints: those that may be commanded.
    """

    joints: tuple[NeckJoint, ...]

    def named(self, wire_names: Sequence[str]) -> list[NeckJoint]:
        """Return the joints with these names on the wire.

        Raises:
            ValueError: a name is not known, or given twice.
        """
        known = {joint.wire_name: joint for joint in self.joints}
        for name in wire_names:
            if name not in known:
                raise ValueError(f"joint '{name}' is not known here; {', '.join(known)} are")
        if len(set(wire_names)) != len(wire_names):
            raise ValueError(f"a joint is named twice: {', '.join(wire_names)}")
        return [known[name] for name in wire_names]

    @staticmethod
    def waypoint(
        joints: Sequence[NeckJoint], time: float, position: Sequence[float], velocity: Sequence[float]
    ) -> Waypoint:
        """Return a point of a driver's trajectory in the URDF's sense.

        Raises:
            ValueError: another number of values than of joints.
        """
        for what, values in (("positions", position), ("velocities", velocity or position)):
            if len(values) != len(joints):
                raise ValueError(f"a point has {len(values)} {what} for {len(joints)} joints")
        positions = tuple(joint.from_driver(value) for joint, value in zip(joints, position, strict=True))
        velocities = tuple(joint.sign * value for joint, value in zip(joints, velocity, strict=False))
        return Waypoint(time, positions, velocities or None)


@dataclass(frozen=True)
class _Track:
    """A joint's set-points: times [s] from its start, positions [rad], velocities [rad/s] or None."""

    start_ns: int
    times: tuple[float, ...]
    positions: tuple[float, ...]
    velocities: tuple[float | None, ...]

    def at(self, now_ns: int) -> tuple[float, float]:
        """Return position and velocity."""
        time = (now_ns - self.start_ns) / NS
        if time >= self.times[-1]:
            return self.positions[-1], 0.0
        after = max(1, bisect.bisect_right(self.times, time))
        length = self.times[after] - self.times[after - 1]
        part = min(max((time - self.times[after - 1]) / length, 0.0), 1.0)
        p0, p1 = self.positions[after - 1 : after + 1]
        v0, v1 = self.velocities[after - 1 : after + 1]
        if v0 is None or v1 is None:
            return p0 + (p1 - p0) * part, (p1 - p0) / length
        return _hermite(p0, v0, p1, v1, length, part)


class JointController:
    """Set-points of joints. Times are nanoseconds of whatever clock the caller uses. Not thread-safe.

    Args:
        names: of the joints, in the order of every ``Joints`` and ``JointSample``.
        start: rad, what is held first.
        delay_ns: from a command to its effect.
    """

    def __init__(self, names: Sequence[str], start: Joints, delay_ns: int = 0) -> None:
        self._delay_ns = delay_ns
        self._index = {name: index for index, name in enumerate(names)}
        self._tracks = [_held(value) for value in start]
        self._waiting: deque[tuple[int, _Command]] = deque()

    def follow(
        self,
        now_ns: int,
        joints: Sequence[str],
        points: Sequence[Waypoint],
        *,
        begin_ns: int = 0,
        short_by: float = 0.0,
    ) -> None:
        """Begin a trajectory, in place of what these joints do.

        Args:
            now_ns: present time.
            joints: which.
            points: in the order of time; none: hold.
            begin_ns: moment that the points count from; 0: at once. Points that are past by then are left out.
            short_by: rad, by how much it ends short of its goal: a fault.
        """
        if points:
            self._wait(now_ns, lambda at, now: self._follow(at, now, joints, points, begin_ns or at, short_by))
        else:
            self.hold(now_ns, joints)

    def forward(self, now_ns: int, positions: Mapping[str, float]) -> None:
        """Set positions at once [rad]."""

        def command(_at: int, _now: JointSample) -> None:
            for name, position in positions.items():
                self._tracks[self._index[name]] = _held(position)

        self._wait(now_ns, command)

    def hold(self, now_ns: int, joints: Sequence[str]) -> None:
        """Stay where the joints are."""

        def command(_at: int, now: JointSample) -> None:
            for index in (self._index[name] for name in joints):
                self._tracks[index] = _held(now.position[index])

        self._wait(now_ns, command)

    def setpoints(self, now: JointSample) -> list[float]:
        """Return where every joint is to be at this moment [rad]; moments must not go back.

        Args:
            now: where the joints are.
        """
        while self._waiting and self._waiting[0][0] <= now.stamp_ns:
            at, command = self._waiting.popleft()
            command(at, now)
        return [track.at(now.stamp_ns)[0] for track in self._tracks]

    def moving(self, now_ns: int) -> bool:
        """Return whether a trajectory is under way, and not yet where it ends."""
        return any(abs(track.at(now_ns)[0] - track.positions[-1]) > _THERE_RAD for track in self._tracks)

    def jump(self, by_ns: int) -> None:
        """Go on at another time: the clock jumped."""
        self._tracks = [replace(track, start_ns=track.start_ns + by_ns) for track in self._tracks]
        self._waiting = deque((at + by_ns, command) for at, command in self._waiting)

    def _wait(self, now_ns: int, command: _Command) -> None:
        self._waiting.append((now_ns + self._delay_ns, command))

    def _follow(
        self,
        at_ns: int,
        now: JointSample,
        joints: Sequence[str],
        points: Sequence[Waypoint],
        begin_ns: int,
        short_by: float,
    ) -> None:
        late = (at_ns - begin_ns) / NS
        ahead = [point for point in points if point.time > late] or [points[-1]]
        times = [max(point.time - late, 1e-6) for point in ahead]
        for column, index in enumerate(self._index[name] for name in joints):
            here, speed = now.position[index], now.velocity[index]
            positions = [point.position[column] for point in ahead]
            velocities = [None if point.velocity is None else point.velocity[column] for point in ahead]
            way = positions[-1] - here
            part = max(0.0, 1.0 - short_by / abs(way)) if short_by > 0.0 and way else 1.0
            self._tracks[index] = _Track(
                at_ns,
                (0.0, *times),
                (here, *(here + (position - here) * part for position in positions)),
                (speed, *(None if velocity is None else velocity * part for velocity in velocities)),
            )


def _held(position: float) -> _Track:
    return _Track(0, (0.0,), (position,), (0.0,))


def _hermite(p0: float, v0: float, p1: float, v1: float, length: float, part: float) -> tuple[float, float]:
    """Return position and velocity on the cubic with these ends, ``part`` in [0, 1] of the way in time."""
    way, m0, m1 = p1 - p0, v0 * length, v1 * length
    a, b = m0 + m1 - 2 * way, 3 * way - 2 * m0 - m1
    position = p0 + part * (m0 + part * (b + part * a))
    return position, (m0 + part * (2 * b + part * 3 * a)) / length
