"""The moves of ``hvs check-signs``, one after the other, each compared with what the camera saw of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hvs_ros.angles import ros_angles, search_direction, search_turn_deg, wrap_rad
from hvs_ros.neck.limits import GazeLimits
from hvs_ros.neck.robot import Robot
from hvs_ros.neck.seen_turn import seen_turn
from hvs_ros.neck.sign_check import PlannedMove, plan_sign_moves
from hvs_ros.neck.sign_findings import WatchedMove, advice
from hvs_ros.nodes.watched_head import WatchedHead, turned_most
from hvs_ros.search.episode import Outcome, SearchFailure
from hvs_ros.search.view import View

SLOW_RAD_S = 0.2
"""Slow enough to be watched; a head that is slower by itself stays so."""


class SignSession:
    """One check.

    Args:
        head: that moves.
        capabilities: hvs_interfaces/HeadCapabilities.
        robot: whose YAML is checked.
        tell: says a line to the operator.
        ask: asks the operator and returns the answer; None: there is nobody.

    Attributes:
        moves: as made.
        denied: names of the moves that the operator did not see as they should be.
    """

    def __init__(
        self,
        head: WatchedHead,
        capabilities: Any,
        robot: Robot,
        tell: Callable[[str], None],
        ask: Callable[[str], bool] | None,
    ) -> None:
        self._head, self._tell, self._ask = head, tell, ask
        limits = GazeLimits(capabilities.yaw_min, capabilities.yaw_max, capabilities.pitch_min, capabilities.pitch_max)
        self._planned = plan_sign_moves(limits)
        # The driver's names of the joints are in joint_states, the URDF's in the YAML.
        self._names = {joint.wire_name: joint.name for joint in robot.joints}
        self.moves: list[WatchedMove] = []
        self.denied: list[str] = []

    @property
    def contradicted(self) -> bool:
        """The camera saw something else than the joints say."""
        return any(move.sight.wrong for move in self.moves)

    def advice(self) -> list[str]:
        """Return what to look at in the robot's YAML."""
        return advice(self.moves, self.denied)

    def run(self) -> None:
        """Make every move from the same start.

        Raises:
            SearchFailure: the head did not do what it was told.
        """
        for number, planned in enumerate(self._planned, 1):
            self._turn(planned.start)
            before, joints = self._head.look(), self._head.joints()
            self._tell(f"{number}/{len(self._planned)}, {planned.move.name}: watch, {planned.move.sees}")
            self._turn(planned.target)
            after = self._head.look()
            self._judge(planned, before, after, turned_most(joints, self._head.joints()))
            if self._ask is not None and not self._ask(f"did {planned.move.sees.partition(';')[0]}?"):
                self.denied.append(planned.move.name)
        if self._planned:
            self._turn(self._planned[0].start)
        else:
            self._tell("this head can hardly turn to any side: there is nothing to check")

    def _judge(self, planned: PlannedMove, before: View, after: View, joints: list[str]) -> None:
        (from_yaw, from_pitch), (to_yaw, to_pitch) = (ros_angles(view.direction) for view in (before, after))
        told = (wrap_rad(to_yaw - from_yaw), to_pitch - from_pitch)
        seen = seen_turn(before.image, after.image, after.hfov_deg, from_pitch)
        named = tuple(self._names.get(joint, joint) for joint in joints)
        watched = WatchedMove(planned.move, told, seen, named)
        self.moves.append(watched)
        moved = f"the joints ({', '.join(named[:2]) or 'none'}) turned the head by {_turn_text(*told)}"
        saw = f", by the pictures it turned by {_turn_text(seen.yaw, seen.pitch)}" if seen.clear else ""
        self._tell(f"    {moved}{saw}: {watched.sight.value}")

    def _turn(self, angles: tuple[float, float]) -> None:
        arrival = self._head.turn_to(search_direction(*angles), SLOW_RAD_S)
        if not arrival.outcome.arrived:
            raise SearchFailure(Outcome.HEAD_FAILED, f"the head: {arrival.outcome.value}: {arrival.message}")


def _turn_text(yaw: float, pitch: float) -> str:
    across, up = search_turn_deg(yaw), search_turn_deg(pitch)
    parts = [
        f"{abs(degrees):.1f}° {names[degrees < 0]}"
        for degrees, names in ((across, ("right", "left")), (up, ("up", "down")))
        if abs(degrees) >= 1.0
    ]
    return " and ".join(parts) or "nothing"
