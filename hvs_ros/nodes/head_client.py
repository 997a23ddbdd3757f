"""A head behind the graph, as the search loop needs it: turn, and then look.

Threading. ``turn_to`` and ``look`` are called by the search's own thread and wait on one condition; the executor's
threads fill in what arrives (pictures, capabilities, answers of the move action) and notify it. Every wait has a limit,
and a ``Stop`` ends it at once; when that happens in the middle of a move, the move is canceled, so that the head holds.

What a view shows is known from the move before it: its result says where the head looks, and from which stamp on
pictures show that. A picture from before that moment is never used. The first view of a search comes after a move by
nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from hvs_interfaces.action import MoveHead
from hvs_interfaces.msg import HeadCapabilities, HeadPose
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile

from hvs_ros.angles import Direction, ros_angles, search_turn_deg
from hvs_ros.nodes.action_caller import DISCOVERY_POLL_S, ActionCaller, RemoteGoal
from hvs_ros.nodes.camera_info import info_camera
from hvs_ros.nodes.convert import NS, duration_message, pose_direction, time_ns
from hvs_ros.nodes.images import ImageError
from hvs_ros.nodes.search_messages import move_outcome
from hvs_ros.nodes.search_stop import Stop
from hvs_ros.nodes.search_views import Shot, ViewTopics
from hvs_ros.panorama.camera import CameraError
from hvs_ros.search.episode import Outcome, SearchFailure
from hvs_ros.search.view import Arrival, MoveOutcome, View

ACCEPT_LIMIT_S = 2.0
ACCEPT_ATTEMPTS = 3
STOP_LIMIT_S = 3.0
"""How long a canceled move may take to end."""
UNANSWERED_STOP_LIMIT_S = 0.5
"""The same for a move that the head has not even accepted."""
WATCH_PERIOD_S = 0.5
NO_IMAGE_S = 5.0
"""After so long without any picture the log names the publishers."""
ASK_AGAIN_S = 2.0
"""A view that was published just before somebody listened is asked for once more."""
AFTERMATH_S = 0.5
"""When a move ends early, the reason (another scene, a head that leaves) may arrive after it."""
SHORT_DEG = 3.0
"""A head that says REACHED so far from the goal is not believed without a word."""
LEAD_NS = NS
"""A picture stamped so far ahead of the head's own time is not one of this moment."""
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@dataclass(frozen=True)
class HeadLimits:
    """How long a head may take, in seconds.

    Attributes:
        appear_s: until its action is there.
        move_s: for a move, settling included.
        view_s: from the end of a move to its view.
        silence_s: without any sign of life.
        settle_s: extra age that a view must have after the head has settled.
    """

    appear_s: float = 10.0
    move_s: float = 30.0
    view_s: float = 10.0
    silence_s: float = 4.0
    settle_s: float = 0.0


class HeadClient:
    """Implements ``hvs_ros.search.loop.Head`` on the head contract's topics and action.

    Args:
        node: spun by a multi-threaded executor.
        head: prefix of the head's names.
        transport: of the pictures, "raw" or "compressed".
        limits: how long it may take.
        changed: what everything here waits on.

    Attributes:
        pose: where the head was at the end of its last move; its stamp is zero before the first.
        optical_frame: of the last view.
    """

    def __init__(
        self, node: Node, head: str, transport: str, limits: HeadLimits, changed: threading.Condition
    ) -> None:
        self._log = node.get_logger()
        self._limits = limits
        self._changed = changed
        self._mover = ActionCaller(node, MoveHead, f"{head}/move", changed)
        self._views = ViewTopics(node, head, transport, changed)
        node.create_subscription(
            HeadCapabilities,
            f"{head}/capabilities",
            self._on_capabilities,
            LATCHED,
            callback_group=MutuallyExclusiveCallbackGroup(),
        )
        node.create_timer(
            WATCH_PERIOD_S,
            self._watch,
            callback_group=MutuallyExclusiveCallbackGroup(),
            clock=Clock(clock_type=ClockType.STEADY_TIME),
        )
        self._capabilities: HeadCapabilities | None = None
        self._scene: str | None = None
        self._stop: Stop | None = None
        self._served = False
        self._moved = _Moved()
        self._received_before = 0
        self.pose = HeadPose()
        self.optical_frame = ""

    @property
    def base_frame(self) -> str:
        """The frame that the head's angles refer to; empty while it is not known."""
        if self._capabilities is not None:
            return str(self._capabilities.header.frame_id)
        return str(self.pose.header.frame_id)

    @property
    def present(self) -> bool:
        """A head is in the graph."""
        return self._mover.server_seen

    def begin(self, stop: Stop) -> None:
        """Begin a search that ``stop`` may end."""
        with self._changed:
            self._scene = None if self._capabilities is None else self._capabilities.scene
            self._stop, self._served, self._moved, self._received_before = stop, False, _Moved(), 0
            self.pose, self.optical_frame = HeadPose(), ""
        self._views.listen(True)
        self._views.match()

    def end(self) -> None:
        """The search is over; pictures are no longer kept."""
        with self._changed:
            self._stop = None
        self._views.listen(False)

    def close(self) -> None:
        """Destroy what rclpy does not know that the node owns."""
        self._mover.close()

    def turn_to(self, goal: Direction) -> Arrival:
        """Turn and wait until the move has ended.

        Raises:
            SearchFailure: no head answers, or the search was stopped.
        """
        yaw, pitch = ros_angles(goal)
        arrival = self._move(MoveHead.Goal(mode=MoveHead.Goal.ABSOLUTE, yaw=yaw, pitch=pitch))
        short = goal.angle_to_deg(arrival.direction)
        if arrival.outcome is MoveOutcome.REACHED and short > SHORT_DEG:
            text = f"the head says REACHED, but looks at {arrival.direction}, {short:.1f} degrees off the goal {goal}"
            self._log.warning(text)
            arrival = replace(arrival, message="; ".join(part for part in (arrival.message, text) if part))
        return arrival

    def look(self) -> View:
        """Return the first view since the last move, however it ended.

        Raises:
            SearchFailure: there is none, no head answers, or the search was stopped.
        """
        if self._moved.view_ns is None:
            self._ask()
        began = asked = time.monotonic()
        warned, unusable = False, ""
        lone: Shot | None = None
        while True:
            shot = self._shot()
            # A picture without its camera_info gets a second round.
            if shot is not None and (shot.info is not None or lone is not None):
                try:
                    return self._view(shot)
                except ImageError as error:
                    unusable = f"; a picture of it could not be used: {error}"
                    self._views.forget(shot)
            lone = shot
            now = time.monotonic()
            if now - began > NO_IMAGE_S and not warned and self._views.received == self._received_before:
                warned = True
                self._log.warning(f"no picture for {NO_IMAGE_S:g} s: {self._views.describe()}")
            if now - began > self._limits.view_s:
                raise SearchFailure(Outcome.VIEW_TIMEOUT, self._why_no_view() + unusable)
            if now - asked > ASK_AGAIN_S:
                self._views.match()
                since = self._moved.view_ns
                self._ask()
                # The head has not moved: a late picture from before this request shows the direction as well.
                self._moved = replace(self._moved, view_ns=since)
                asked = time.monotonic()

    def _ask(self) -> None:
        """Have the head show a view of where it looks: by a move by nothing."""
        arrival = self._move(MoveHead.Goal(mode=MoveHead.Goal.RELATIVE))
        if not arrival.outcome.arrived:
            raise SearchFailure(
                Outcome.HEAD_FAILED, f"the head shows no view: {arrival.outcome.name}: {arrival.message}"
            )

    def _shot(self) -> Shot | None:
        """Wait a moment for a view that may be used."""
        earliest = (self._moved.view_ns or 0) + round(self._limits.settle_s * NS)
        until = time.monotonic() + WATCH_PERIOD_S
        with self._changed:
            while True:
                self._check_stop()
                shot = self._views.first(earliest, self._moved.now_ns() + LEAD_NS)
                left = until - time.monotonic()
                if left <= 0 or (shot is not None and shot.info is not None):
                    return shot
                self._changed.wait(left)

    def _view(self, shot: Shot) -> View:
        image = self._views.picture(shot)
        self.optical_frame = shot.message.header.frame_id
        return View(
            image=image,
            direction=pose_direction(self.pose),
            stamp_ns=shot.stamp_ns,
            hfov_deg=self._hfov_deg(shot),
            made="" if self._capabilities is None else self._capabilities.view,
        )

    def _hfov_deg(self, shot: Shot) -> float:
        info = shot.info or self._views.last_info
        if info is not None:
            if shot.info is None:
                self._log.warning("no camera_info has the stamp of the picture; the last one is used", once=True)
            try:
                return info_camera(info).hfov_deg
            except CameraError as error:
                self._log.warning(f"camera_info: {error}; the head's capabilities are used", once=True)
        if self._capabilities is not None and self._capabilities.hfov > 0.0:
            return abs(search_turn_deg(self._capabilities.hfov))
        raise SearchFailure(
            Outcome.VIEW_TIMEOUT,
            "the field of view is not known: no usable camera_info, and no hfov in the head's capabilities;"
            f" {self._views.describe_info()}",
        )

    def _why_no_view(self) -> str:
        text = f"the head is at rest, but no view of it arrived within {self._limits.view_s:g} s: "
        with self._changed:
            newest = self._views.newest_ns
            if newest is None or self._views.received == self._received_before:
                return text + self._views.describe()
            off = (newest - (self._moved.view_ns or 0)) / NS
        when = f"{-off:.2f} s before" if off < 0 else f"{off:.2f} s after"
        return (
            f"{text}the newest picture is stamped {when} the moment from which pictures show the direction;"
            " do the camera and the head use the same clock?"
        )

    def _move(self, goal: MoveHead.Goal) -> Arrival:
        self._wait_for_head()
        if goal.mode == MoveHead.Goal.ABSOLUTE:
            self._received_before = self._views.received
        goal.timeout = duration_message(self._limits.move_s)
        remote = self._send(goal)
        if not remote.accepted:
            raise SearchFailure(
                Outcome.HEAD_FAILED, f"{self._mover.name} rejected the move and cannot say why; see the head's log"
            )
        if self._wait(remote, lambda: remote.ended, self._limits.move_s + STOP_LIMIT_S):
            return self._arrive(remote.result)
        self._hold(remote)
        text = f"the head did not end the move within {self._limits.move_s:g} s; it was canceled"
        if remote.result is None:
            return Arrival(MoveOutcome.NO_RESPONSE, pose_direction(self.pose), message=f"{text}, without an answer")
        return replace(self._arrive(remote.result), outcome=MoveOutcome.NOT_SETTLED, message=text)

    def _accepted(self, remote: RemoteGoal) -> bool:
        return self._wait(remote, lambda: remote.accepted is not None, ACCEPT_LIMIT_S)

    def _send(self, goal: MoveHead.Goal) -> RemoteGoal:
        """Send the goal until the head has answered: a response may be lost while DDS still discovers."""
        for _ in range(ACCEPT_ATTEMPTS):
            remote = self._mover.send(goal, self._on_feedback)
            if self._accepted(remote):
                return remote
            # If it is accepted after all, it ends at once.
            self._mover.cancel(remote)
        raise SearchFailure(
            Outcome.HEAD_UNAVAILABLE,
            f"{self._mover.name} neither accepts nor rejects a move; {ACCEPT_ATTEMPTS} were sent, each"
            f" {ACCEPT_LIMIT_S:g} s after the other",
        )

    def _arrive(self, result: MoveHead.Result) -> Arrival:
        outcome = move_outcome(result.outcome)
        message = result.message
        if outcome.arrived and not time_ns(result.view_stamp):
            outcome = MoveOutcome.FAULT
            message = (
                "the result has no view_stamp, so that no picture could be trusted: a fault of the head's node, or its"
                " clock stands at 0 (use_sim_time without /clock?)"
            )
        if not outcome.arrived and outcome is not MoveOutcome.REFUSED:
            self._await_reason()
        with self._changed:
            self.pose = result.pose
            self._moved = _Moved(time_ns(result.view_stamp), time_ns(result.pose.header.stamp))
        return Arrival(outcome, pose_direction(result.pose), time_ns(result.view_stamp), message)

    def _await_reason(self) -> None:
        """A move ended early: the search may be about to be stopped for a better known reason."""
        end = time.monotonic() + AFTERMATH_S
        while time.monotonic() < end and self._stop is not None:
            self._check_stop()
            self._watch()
            with self._changed:
                self._changed.wait(DISCOVERY_POLL_S)

    def _wait_for_head(self) -> None:
        end = time.monotonic() + self._limits.appear_s
        while not self._mover.server_seen:
            self._check_stop()
            if time.monotonic() > end:
                raise SearchFailure(
                    Outcome.HEAD_UNAVAILABLE,
                    f"no head: the action {self._mover.name} did not appear within {self._limits.appear_s:g} s;"
                    " start a head, or remap to the one that runs",
                )
            with self._changed:
                self._changed.wait(DISCOVERY_POLL_S)
        if not self._served:
            self._mover.expect_life()
            self._served = True

    def _wait(self, remote: RemoteGoal, done: Callable[[], bool], limit_s: float) -> bool:
        """Wait for the condition; when the search is stopped meanwhile, hold the head and raise the reason."""
        end = time.monotonic() + limit_s
        with self._changed:
            while not done() and not self._stopped and time.monotonic() < end:
                self._changed.wait(end - time.monotonic())
        if not self._stopped:
            return done()
        self._hold(remote)
        if remote.result is not None:
            self.pose = remote.result.pose
        self._check_stop()
        return False

    def _hold(self, remote: RemoteGoal) -> None:
        """Cancel a move and wait until the head says that it has ended."""
        self._mover.cancel(remote)
        dead = self._stop is not None and self._stop.failure is not None and _is_head_gone(self._stop.failure)
        limit_s = 0.0 if dead else STOP_LIMIT_S if remote.accepted else UNANSWERED_STOP_LIMIT_S
        end = time.monotonic() + limit_s
        with self._changed:
            while not remote.ended and time.monotonic() < end:
                self._changed.wait(end - time.monotonic())
        if not remote.ended:
            self._mover.abandon(remote)
            self._log.error(f"{self._mover.name} did not confirm that the canceled move has ended; does the head hold?")

    @property
    def _stopped(self) -> bool:
        return self._stop is not None and self._stop.failure is not None

    def _check_stop(self) -> None:
        if self._stop is not None:
            self._stop.check()

    def _watch(self) -> None:
        """Notice a head that is gone: at once when it said goodbye, after a silence when it could not."""
        stop = self._stop
        if stop is None or not self._served or self._stopped:
            return
        silence = self._mover.silence_s()
        if not self._mover.server_seen:
            stop.set(Outcome.HEAD_UNAVAILABLE, f"the head is gone: nobody offers {self._mover.name} any more")
        elif silence > self._limits.silence_s:
            stop.set(
                Outcome.HEAD_UNAVAILABLE, f"the head does not answer: {self._mover.name} is silent for {silence:.1f} s"
            )

    def _on_feedback(self, feedback: MoveHead.Feedback) -> None:
        if time_ns(feedback.pose.header.stamp) > time_ns(self.pose.header.stamp):
            self.pose = feedback.pose

    def _on_capabilities(self, capabilities: HeadCapabilities) -> None:
        with self._changed:
            self._capabilities = capabilities
            stop, before = self._stop, self._scene
            if stop is not None and before is None:
                self._scene = capabilities.scene
        if stop is not None and before is not None and before != capabilities.scene:
            stop.set(Outcome.SCENE_CHANGED, f"the head is in scene '{capabilities.scene}' now; it was in '{before}'")


@dataclass(frozen=True)
class _Moved:
    """The end of the last move.

    Attributes:
        view_ns: pictures with this stamp or a later one show the direction; None before the first move.
        ended_ns: when it ended, by the head's clock.
        ended_s: when, on the steady clock.
    """

    view_ns: int | None = None
    ended_ns: int = 0
    ended_s: float = field(default_factory=time.monotonic)

    def now_ns(self) -> int:
        """Return the head's time now, as far as it can be known from here."""
        return max(self.view_ns or 0, self.ended_ns) + round((time.monotonic() - self.ended_s) * NS)


def _is_head_gone(failure: SearchFailure) -> bool:
    return failure.outcome is Outcome.HEAD_UNAVAILABLE
