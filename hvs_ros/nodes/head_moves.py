"""The ``move`` action of a head: every goal gets an outcome with a name and a message.

Threading. A goal is planned where it is accepted, under a lock, so that goals take over from each other in the order
of their arrival; the one it takes over from ends at once. Each goal then waits in its own executor thread until the
head has settled and a view of it has been published; the wait looks every few milliseconds for a cancellation, a newer
goal, the time limit, a stop by the node, a failure of the neck, and whether anybody is left to command the head.
Coroutines would not do: rclpy's executor polls a suspended one without a pause.

ROS's own rejection of a goal carries no reason, so every goal is accepted; one that cannot start is aborted as REFUSED.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from hvs_interfaces.action import MoveHead
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node

from hvs_ros.neck.neck import Moment, Neck, Progress, Reach
from hvs_ros.nodes import convert
from hvs_ros.nodes.head_camera import ViewError
from hvs_ros.nodes.head_state import StatePublisher
from hvs_ros.search.view import MoveOutcome

POLL_S = 0.02
"""How often a waiting goal looks around and sends feedback."""
MOST_RAD = 20 * math.pi
"""A turn by more than ten turns is not meant."""
BRAKE_LIMIT_S = 5.0
"""Longest wait for a stop."""
STANDSTILL_LIMIT_S = 10.0
"""How long the ROS clock may stand still during a move before the move is given up."""
LOOK_AROUND_S = 0.2
"""How often a move looks whether its commander is there."""
ABSENT_LIMIT_S = 0.5
"""Without any client for so long, the commander is gone. A killed one stays in the graph until its lease ends."""

Shoot = Callable[[Callable[[], bool]], Moment | None]
"""Publishes a view and returns its moment; None when the head moves again, or when the argument says to give up."""


@dataclass
class _Move:
    """A goal under way. ``end`` is set once, by whoever ends it before it arrives: (outcome, message)."""

    handle: ServerGoalHandle
    refused: str = ""
    reach: Reach = field(default_factory=lambda: Reach(0.0, 0.0))
    deadline_ns: int = 0
    limit_s: float = 0.0
    end: tuple[int, str] | None = None
    wake: threading.Event = field(default_factory=threading.Event)


class MoveServer:
    """Serves ``move``.

    Args:
        node: whose action it is.
        neck: turns the head.
        state: makes the poses of results.
        reject: a goal out of range is refused, not clamped.
        timeout_s: limit of a move whose goal gives none.
        obstacle: returns why the head cannot move at all; empty when it can.
        shoot: publishes a view.
        on_end: is told every outcome and message.
    """

    def __init__(
        self,
        node: Node,
        neck: Neck,
        state: StatePublisher,
        *,
        reject: bool,
        timeout_s: float,
        obstacle: Callable[[], str],
        shoot: Shoot,
        on_end: Callable[[int, str], None],
    ) -> None:
        self._node, self._neck, self._state = node, neck, state
        self._reject, self._timeout_s = reject, timeout_s
        self._obstacle, self._shoot, self._on_end = obstacle, shoot, on_end
        self._lock = threading.Lock()
        self._moves: dict[bytes, _Move] = {}
        self._coming = 0  # goals whose acceptance is on its way to their sender; rclpy hands them over after that
        self._current: _Move | None = None
        self._closed = False
        results = f"{node.resolve_service_name('move')}/_action/get_result"
        count = getattr(node, "count_clients", None)  # Humble cannot tell
        self._count_clients: Callable[[], int] = (lambda: int(count(results))) if count else lambda: 1
        self._server = ActionServer(
            node,
            MoveHead,
            "move",
            execute_callback=self._execute,
            goal_callback=self._on_goal,
            handle_accepted_callback=self._accept,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            callback_group=ReentrantCallbackGroup(),
        )

    def interrupt(self, why: str, action: Callable[[], None]) -> None:
        """End the move under way as STOPPED and do something before any other move can begin."""
        with self._lock:
            self._supersede(MoveHead.Result.STOPPED, why)
            action()

    def take_neck(self, neck: Neck) -> None:
        """Turn the head by another neck from now on."""
        self.interrupt("the head has another neck now", lambda: setattr(self, "_neck", neck))

    def close(self, limit_s: float = 2.0) -> None:
        """End the move under way, refuse new ones, and wait until every goal has its result."""
        self._closed = True
        self.halt("the head shuts down", limit_s)

    def halt(self, why: str, limit_s: float = 2.0) -> None:
        """End the move under way, hold, and wait until every goal has its result; the obstacle refuses new ones."""
        self.interrupt(why, self._neck.stop)
        end = time.monotonic() + limit_s
        while (self._moves or self._coming) and time.monotonic() < end:
            time.sleep(POLL_S / 2)

    def destroy(self) -> None:
        """Remove the action; before the node is destroyed."""
        self._server.destroy()

    def _supersede(self, outcome: int, message: str) -> None:
        if self._current is not None:
            self._current.end = (outcome, message)
            self._current.wake.set()
            self._current = None

    def _on_goal(self, _goal: MoveHead.Goal) -> GoalResponse:
        with self._lock:
            self._coming += 1
        return GoalResponse.ACCEPT

    def _accept(self, handle: ServerGoalHandle) -> None:
        move = _Move(handle)
        goal = handle.request
        with self._lock:
            self._coming -= 1
            self._moves[bytes(handle.goal_id.uuid)] = move
            move.refused = self._refusal(goal)
            if not move.refused:
                move.reach = self._neck.reach(goal.yaw, goal.pitch, relative=goal.mode == MoveHead.Goal.RELATIVE)
                if move.reach.beyond and self._reject:
                    move.refused = f"out of range, and this head does not clamp: {move.reach.beyond}"
            if not move.refused:
                self._supersede(MoveHead.Result.PREEMPTED, "a newer goal took over")
                self._current = move
                move.limit_s = convert.duration_s(goal.timeout) or self._timeout_s
                move.deadline_ns = self._neck.now().stamp_ns + round(move.limit_s * convert.NS)
                self._neck.move(move.reach, goal.max_velocity or math.inf)
        handle.execute()

    def _refusal(self, goal: MoveHead.Goal) -> str:
        if self._closed:
            return "the head shuts down"
        if why := self._obstacle():
            return why
        if not convert.is_finite(goal.yaw, goal.pitch, goal.max_velocity):
            return f"not a number: yaw {goal.yaw}, pitch {goal.pitch}, max_velocity {goal.max_velocity}"
        if goal.mode not in (MoveHead.Goal.ABSOLUTE, MoveHead.Goal.RELATIVE):
            return f"mode {goal.mode} is neither ABSOLUTE nor RELATIVE"
        if max(abs(goal.yaw), abs(goal.pitch)) > MOST_RAD:
            return f"yaw {goal.yaw:g} and pitch {goal.pitch:g} rad are beyond any sense; are they degrees?"
        if goal.max_velocity < 0.0:
            return f"max_velocity is {goal.max_velocity:g} rad/s; 0, for the head's own, or more is expected"
        if convert.duration_s(goal.timeout) < 0.0:
            return f"timeout is {convert.duration_s(goal.timeout):g} s; 0, for the head's own, or more is expected"
        return ""

    def _execute(self, handle: ServerGoalHandle) -> MoveHead.Result:
        key = bytes(handle.goal_id.uuid)
        move = self._moves[key]
        try:
            return self._run(move)
        except ViewError as error:
            return self._end(move, MoveHead.Result.FAULT, str(error))
        finally:
            with self._lock:
                del self._moves[key]
                if self._current is move:
                    self._current = None

    def _run(self, move: _Move) -> MoveHead.Result:
        outcomes = MoveHead.Result
        if move.refused:
            return self._end(move, outcomes.REFUSED, move.refused)
        standstill, commander = _Standstill(), _Commander(self._count_clients)
        while True:
            progress = self._neck.progress()
            shot = self._shoot(lambda: self._disturbed(move)) if progress.settled and move.end is None else None
            if move.end is not None:
                return self._end(move, *move.end)
            if shot is not None:
                return self._arrived(move, progress, shot)
            if move.handle.is_cancel_requested:
                return self._brake(move, outcomes.STOPPED, "canceled; the head holds where it is")
            if progress.failure is not None:
                return self._brake(move, move_code(progress.failure.outcome), progress.failure.message)
            moment = self._neck.now()
            if moment.stamp_ns >= move.deadline_ns:
                why = f"not at rest at the goal after {move.limit_s:g} s"
                return self._brake(move, outcomes.NOT_SETTLED, "; ".join(filter(None, (why, progress.warning))))
            if standstill.lasts(moment.stamp_ns):
                why = f"the ROS clock has stood still for {STANDSTILL_LIMIT_S:g} s: is /clock published?"
                return self._brake(move, outcomes.NOT_SETTLED, why)
            if commander.gone():
                why = "whoever commanded it has gone without a word; the head holds where it is"
                self._node.get_logger().warning(f"move: {why}")
                return self._brake(move, outcomes.STOPPED, why)
            self._feedback(move, moment)
            move.wake.wait(min(POLL_S, progress.wait_s))

    def _disturbed(self, move: _Move) -> bool:
        """A view need no longer be waited for."""
        return move.end is not None or bool(move.handle.is_cancel_requested)

    def _arrived(self, move: _Move, progress: Progress, shot: Moment) -> MoveHead.Result:
        if progress.warning:
            self._node.get_logger().warning(f"move: {progress.warning}")
        if move.reach.beyond:
            text = f"as near as the head can look: {move.reach.beyond}"
            text = "; ".join(filter(None, (text, progress.warning)))
            return self._end(move, MoveHead.Result.CLAMPED, text, shot)
        return self._end(move, MoveHead.Result.REACHED, progress.warning, shot)

    def _brake(self, move: _Move, outcome: int, message: str) -> MoveHead.Result:
        with self._lock:
            if self._current is move:
                self._neck.stop()
        end = time.monotonic() + BRAKE_LIMIT_S
        problem = ""
        while move.end is None and not self._neck.stopped() and not problem and time.monotonic() < end:
            move.wake.wait(POLL_S)
            problem = self._neck.stop_problem()
        if problem and move.end is None:
            outcome, message = MoveHead.Result.FAULT, f"{message}; {problem}"
        return self._end(move, outcome, message)

    def _feedback(self, move: _Move, moment: Moment) -> None:
        state = moment.state
        move.handle.publish_feedback(
            MoveHead.Feedback(
                pose=self._state.pose(moment),
                yaw_error=move.reach.yaw - state.yaw,
                pitch_error=move.reach.pitch - state.pitch,
            )
        )

    def _end(self, move: _Move, outcome: int, message: str, shot: Moment | None = None) -> MoveHead.Result:
        moment = shot or self._neck.now()
        if move.handle.is_cancel_requested and outcome == MoveHead.Result.STOPPED:
            move.handle.canceled()
        elif outcome in (MoveHead.Result.REACHED, MoveHead.Result.CLAMPED):
            move.handle.succeed()
        else:
            move.handle.abort()
        self._on_end(outcome, message)
        return MoveHead.Result(
            outcome=outcome,
            message=message,
            pose=self._state.pose(moment),
            view_stamp=convert.time_message(moment.stamp_ns),
        )


def move_code(outcome: MoveOutcome) -> int:
    """Return the outcome as MoveHead.action has it."""
    return int(getattr(MoveHead.Result, outcome.name))


class _Standstill:
    """Notices a ROS clock that no longer advances."""

    def __init__(self) -> None:
        self._stamp_ns = -1
        self._since = time.monotonic()

    def lasts(self, stamp_ns: int) -> bool:
        if stamp_ns != self._stamp_ns:
            self._stamp_ns, self._since = stamp_ns, time.monotonic()
        return time.monotonic() - self._since > STANDSTILL_LIMIT_S


class _Commander:
    """Notices that nobody is left who could have sent the goal: an action does not say who that was."""

    def __init__(self, count: Callable[[], int]) -> None:
        self._count = count
        self._looked_s = self._there_s = time.monotonic()
        self._seen = False

    def gone(self) -> bool:
        now = time.monotonic()
        # Until it has been seen, at every turn: one that goes a moment after its goal must have been there once.
        if self._seen and now - self._looked_s < LOOK_AROUND_S:
            return False
        self._looked_s = now
        if self._count() > 0:
            # A goal may arrive before its sender is in the graph.
            self._seen, self._there_s = True, now
        return self._seen and now - self._there_s > ABSENT_LIMIT_S
