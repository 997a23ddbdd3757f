"""The moves of a head behind the graph, each waited for to its end, and a watch on whether the head is still there.

Threading. ``move`` is called by the search's own thread and waits on a condition that the executor's threads notify.
Every wait has a limit, and a ``Stop`` ends it at once; the move under way is then canceled, so that the head holds.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from hvs_interfaces.action import MoveHead
from hvs_interfaces.msg import HeadPose
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from hvs_ros.nodes.action_caller import DISCOVERY_POLL_S, ActionCaller, RemoteGoal
from hvs_ros.nodes.convert import NS, duration_message, pose_direction, time_ns
from hvs_ros.nodes.search_messages import move_outcome
from hvs_ros.nodes.search_stop import Stop
from hvs_ros.search.episode import Outcome, SearchFailure
from hvs_ros.search.view import Arrival, MoveOutcome

ACCEPT_LIMIT_S = 2.0
ACCEPT_ATTEMPTS = 3
STOP_LIMIT_S = 3.0
"""How long a canceled move may take to end."""
UNANSWERED_STOP_LIMIT_S = 0.5
"""The same for a move that the head has not even accepted."""
WATCH_PERIOD_S = 0.5
AFTERMATH_S = 0.5
"""When a move ends early, the reason (another scene, a head that leaves) may arrive after it."""


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


@dataclass(frozen=True)
class Moved:
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


class HeadMover:
    """Moves a head.

    Args:
        node: spun by a multi-threaded executor.
        action: name of its MoveHead action.
        limits: how long it may take.
        changed: what a move waits on.

    Attributes:
        name: of the action, resolved.
        pose: where the head was last heard to be; its stamp is zero before the first move of a search.
        moved: the end of the last move.
    """

    def __init__(self, node: Node, action: str, limits: HeadLimits, changed: threading.Condition) -> None:
        self._log = node.get_logger()
        self._limits = limits
        self._changed = changed
        self._caller = ActionCaller(node, MoveHead, action, changed)
        self._stop: Stop | None = None
        self._served = False  # it has answered in this search
        self.name = self._caller.name
        self.pose = HeadPose()
        self.moved = Moved()
        node.create_timer(
            WATCH_PERIOD_S,
            self._watch,
            callback_group=MutuallyExclusiveCallbackGroup(),
            clock=Clock(clock_type=ClockType.STEADY_TIME),
        )

    @property
    def present(self) -> bool:
        """A head is in the graph."""
        return self._caller.server_seen

    def begin(self, stop: Stop) -> None:
        """Begin a search that ``stop`` may end."""
        with self._changed:
            self._stop, self._served = stop, False
            self.pose, self.moved = HeadPose(), Moved()
        self._caller.expect_life()

    def end(self) -> None:
        """The search is over."""
        with self._changed:
            self._stop = None

    def close(self) -> None:
        """Destroy what rclpy does not know that the node owns."""
        self._caller.close()

    def check_stop(self) -> None:
        """Raise the reason why the search must end, if there is one.

        Raises:
            SearchFailure: the search was stopped.
        """
        if self._stop is not None:
            self._stop.check()

    def move(self, goal: MoveHead.Goal) -> Arrival:
        """Move, and wait until the move has ended, whichever way.

        Raises:
            SearchFailure: no head answers, or the search was stopped.
        """
        self._wait_for_head()
        goal.timeout = duration_message(self._limits.move_s)
        remote = self._send(goal)
        if not remote.accepted:
            raise SearchFailure(
                Outcome.HEAD_FAILED, f"{self.name} rejected the move and cannot say why; see the head's log"
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
        """Send the goal until the head has answered it; a response may be lost."""
        for _ in range(ACCEPT_ATTEMPTS):
            remote = self._caller.send(goal, self._on_feedback)
            if self._accepted(remote):
                return remote
            # If it is accepted after all, it ends at once.
            self._caller.cancel(remote)
        raise SearchFailure(
            Outcome.HEAD_UNAVAILABLE,
            f"{self.name} neither accepts nor rejects a move; {ACCEPT_ATTEMPTS} were sent, each"
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
            # A refused move has not begun: what showed the direction before it still does.
            if outcome is not MoveOutcome.REFUSED or self.moved.view_ns is None:
                self.moved = Moved(time_ns(result.view_stamp), time_ns(result.pose.header.stamp))
        return Arrival(outcome, pose_direction(result.pose), time_ns(result.view_stamp), message)

    def _await_reason(self) -> None:
        """A move ended early: the search may be about to be stopped for a better known reason."""
        end = time.monotonic() + AFTERMATH_S
        while time.monotonic() < end and self._stop is not None:
            self.check_stop()
            self._watch()
            with self._changed:
                self._changed.wait(DISCOVERY_POLL_S)

    def _wait_for_head(self) -> None:
        """Wait until the head has given a sign of life in this search: a dead one stays in the graph for a while."""
        if self._served:
            return
        end = time.monotonic() + self._limits.appear_s
        while not (self.present and self._caller.answers()):
            self.check_stop()
            if time.monotonic() > end:
                what = "is in the graph, but does not answer:" if self.present else "did not appear:"
                raise SearchFailure(
                    Outcome.HEAD_UNAVAILABLE,
                    f"no head within {self._limits.appear_s:g} s: the action {self.name} {what} start a head, or remap"
                    " to the one that runs",
                )
            with self._changed:
                self._changed.wait(DISCOVERY_POLL_S)
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
        self.check_stop()
        return False

    def _hold(self, remote: RemoteGoal) -> None:
        """Cancel a move and wait until the head says that it has ended."""
        self._caller.cancel(remote)
        failure = None if self._stop is None else self._stop.failure
        dead = failure is not None and failure.outcome is Outcome.HEAD_UNAVAILABLE
        limit_s = 0.0 if dead else STOP_LIMIT_S if remote.accepted else UNANSWERED_STOP_LIMIT_S
        end = time.monotonic() + limit_s
        with self._changed:
            while not remote.ended and time.monotonic() < end:
                self._changed.wait(end - time.monotonic())
        if not remote.ended:
            self._caller.abandon(remote)
            self._log.error(f"{self.name} did not confirm that the canceled move has ended; does the head hold?")

    @property
    def _stopped(self) -> bool:
        return self._stop is not None and self._stop.failure is not None

    def _watch(self) -> None:
        """Notice a head that is gone: at once when it said goodbye, after a silence when it could not."""
        stop = self._stop
        if stop is None or not self._served or self._stopped:
            return
        silence = self._caller.silence_s()
        if not self.present:
            stop.set(Outcome.HEAD_UNAVAILABLE, f"the head is gone: nobody offers {self.name} any more")
        elif silence > self._limits.silence_s:
            stop.set(
                Outcome.HEAD_UNAVAILABLE, f"the head does not answer: {self.name} is silent for {silence:.1f} s"
            )

    def _on_feedback(self, feedback: MoveHead.Feedback) -> None:
        if time_ns(feedback.pose.header.stamp) > time_ns(self.pose.header.stamp):
            self.pose = feedback.pose
