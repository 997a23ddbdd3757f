"""The twin: joints, their controller and the base under one clock, and where they were in the last seconds.

Whoever wants to know something says when; the twin is simulated up to that moment first. So it needs no thread of its
own, and how often it is asked changes nothing of its motion.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hvs_ros.mock.twin.base import TurningBase
from hvs_ros.mock.twin.controller import JointController, Waypoint
from hvs_ros.mock.twin.physics import CATCH_UP_NS, STEP_NS, CameraPlace, NeckPhysics
from hvs_ros.mock.twin.urdf_chain import Chain
from hvs_ros.neck.joints import NS, Joints, JointSample
from hvs_ros.neck.robot import BaseTurn
from hvs_ros.neck.state import GazeState

REMEMBERED_NS = 3 * NS
_BEYOND_RAD = 1e-3
"""A command so little beyond a limit is at the limit."""


@dataclass(frozen=True)
class TwinFaults:
    """What goes wrong with its joints.

    Attributes:
        stuck_joint: does not move, whatever it is told; empty: none.
        short_by: rad, by how much trajectories end short of their goal.
        ignore_commands: nothing moves, as in a mode in which a vendor's controller does not take commands.
        keep_moving: a trajectory runs to its end, whatever is sent meanwhile.
    """

    stuck_joint: str = ""
    short_by: float = 0.0
    ignore_commands: bool = False
    keep_moving: bool = False


@dataclass(frozen=True)
class Moment:
    """The twin at one moment: joint angles [rad] and the base's heading [rad, left positive]."""

    position: Joints
    heading: float


class Twin:
    """Thread-safe. Times are nanoseconds of the caller's clock.

    Args:
        chain: the joints.
        turn: how the base turns.
        now_ns: present time.
        delay_ns: from a command to its effect.
        start: rad, where the joints are first; None: neutral.

    Attributes:
        joints: names, in the order of every ``Joints`` here.
        start: where the camera is first, in the base frame.

    Raises:
        TwinError: see ``NeckPhysics``.
    """

    def __init__(
        self,
        chain: Chain,
        turn: BaseTurn,
        now_ns: int,
        *,
        delay_ns: int = 0,
        start: Joints | None = None,
    ) -> None:
        self.joints = chain.joints
        self._limits = dict(zip(chain.joints, chain.limits, strict=True))
        self._physics = NeckPhysics(chain, now_ns, start)
        self._now = self._physics.state()
        position = self._now.position
        self._controller = JointController(chain.joints, position, delay_ns)
        self._base = TurningBase(turn.max_velocity * 2, turn.max_acceleration * 2)
        self._lock = threading.RLock()
        self._faults = TwinFaults()
        self._stuck_at: dict[int, float] = {}
        self._past: deque[Moment] = deque([Moment(position, 0.0)], maxlen=REMEMBERED_NS // STEP_NS)
        self.start = self._physics.camera(position)

    @property
    def faults(self) -> TwinFaults:
        """What goes wrong now."""
        return self._faults

    def set_faults(self, now_ns: int, faults: TwinFaults) -> None:
        """Let this go wrong from now on.

        Raises:
            ValueError: the stuck joint is not known.
        """
        if faults.stuck_joint and faults.stuck_joint not in self.joints:
            raise ValueError(f"'{faults.stuck_joint}' is no joint of the twin; there are {', '.join(self.joints)}")
        with self._lock:
            self._advance(now_ns)
            position = self._now.position
            self._stuck_at = {
                index: position[index] for index, name in enumerate(self.joints) if name == faults.stuck_joint
            }
            self._faults = faults

    def follow(self, now_ns: int, joints: Sequence[str], points: Sequence[Waypoint], begin_ns: int = 0) -> bool:
        """Begin a trajectory, see ``JointController.follow``; return whether it is obeyed."""
        with self._lock:
            obeyed = self._obeys(now_ns)
            if obeyed:
                self._controller.follow(now_ns, joints, points, begin_ns=begin_ns, short_by=self._faults.short_by)
            return obeyed

    def forward(self, now_ns: int, positions: Mapping[str, float]) -> bool:
        """Set positions at once [rad]; return whether it is obeyed."""
        with self._lock:
            obeyed = self._obeys(now_ns)
            if obeyed:
                self._controller.forward(now_ns, positions)
            return obeyed

    def hold(self, now_ns: int, joints: Sequence[str]) -> bool:
        """Stay at the present set-points; return whether it is obeyed."""
        with self._lock:
            obeyed = self._obeys(now_ns)
            if obeyed:
                self._controller.hold(now_ns, joints)
            return obeyed

    def turn_base(self, now_ns: int, velocity: float) -> None:
        """Let the base turn [rad/s, left positive]."""
        with self._lock:
            self._advance(now_ns)
            self._base.command(now_ns, velocity)

    def beyond(self, positions: Mapping[str, float]) -> str:
        """Return which of the positions [rad] joints cannot have, for a person; empty: none."""
        outside = [
            f"{name} to {value:.3f} rad, beyond {low:.3f} to {high:.3f}"
            for name, value in positions.items()
            for low, high in (self._limits[name],)
            if not low - _BEYOND_RAD <= value <= high + _BEYOND_RAD
        ]
        return "; ".join(outside)

    def state(self, now_ns: int) -> JointSample:
        """Return where the joints are now and how fast they move."""
        with self._lock:
            self._advance(now_ns)
            return self._now

    def odometry(self, now_ns: int) -> tuple[float, float]:
        """Return the base's heading [rad, not wrapped] and velocity [rad/s] now."""
        with self._lock:
            self._advance(now_ns)
            return self._base.heading, self._base.velocity

    def at(self, stamp_ns: int) -> Moment:
        """Return it at a moment of the last ``REMEMBERED_NS``, or now; older: the oldest that is remembered."""
        with self._lock:
            self._advance(stamp_ns)
            steps = min(max((self._physics.now_ns - stamp_ns) / STEP_NS, 0.0), len(self._past) - 1.0)
            newer = self._past[-1 - math.floor(steps)]
            older = self._past[-1 - math.ceil(steps)]
            part = steps % 1.0
            position = tuple(a + (b - a) * part for a, b in zip(newer.position, older.position, strict=True))
            return Moment(position, newer.heading + (older.heading - newer.heading) * part)

    def in_base(self, stamp_ns: int) -> CameraPlace:
        """Return where the camera was in the base frame."""
        with self._lock:
            return self._physics.camera(self.at(stamp_ns).position)

    def in_world(self, stamp_ns: int) -> CameraPlace:
        """Return where the camera was in the base frame as it stood at the start: the base may have turned."""
        with self._lock:
            moment = self.at(stamp_ns)
            place = self._physics.camera(moment.position)
        if not moment.heading:
            return place
        sine, cosine = math.sin(moment.heading), math.cos(moment.heading)
        turn = np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])
        return CameraPlace(turn @ place.position, turn @ place.rotation)

    def _obeys(self, now_ns: int) -> bool:
        self._advance(now_ns)
        faults = self._faults
        return not (faults.ignore_commands or (faults.keep_moving and self._controller.moving(now_ns)))

    def _advance(self, to_ns: int) -> None:
        """Simulate up to a moment; a clock that jumps takes what is under way with it."""
        physics = self._physics
        gap = to_ns - physics.now_ns
        # What is older than now is remembered; only a clock that was set back asks for more.
        if gap > CATCH_UP_NS or gap < -REMEMBERED_NS:
            self._controller.jump(gap)
            physics.skip(to_ns)
            self._now = physics.state()
        while physics.now_ns + STEP_NS <= to_ns:
            for index, goal in enumerate(self._controller.setpoints(self._now)):
                physics.set_goal(index, self._stuck_at.get(index, goal))
            self._base.step(physics.now_ns, STEP_NS)
            physics.step()
            self._now = physics.state()
            self._past.append(Moment(self._now.position, self._base.heading))


def gaze_of(place: CameraPlace, turned: float) -> GazeState:
    """Return where a camera looks, REP-103, its mount's rotation about the line of sight [rad] undone.

    The rotation of the optical frame, turned back, is Rz(yaw) Ry(pitch) Rx(roll) times the optical frame's own.
    """
    forward, right, down = place.rotation[:, 2], place.rotation[:, 0], place.rotation[:, 1]
    sine, cosine = math.sin(turned), math.cos(turned)
    right, down = right * cosine - down * sine, down * cosine + right * sine
    pitch = math.asin(min(1.0, max(-1.0, -float(forward[2]))))
    return GazeState(
        yaw=math.atan2(forward[1], forward[0]), pitch=pitch, roll=math.atan2(-float(right[2]), -float(down[2]))
    )
