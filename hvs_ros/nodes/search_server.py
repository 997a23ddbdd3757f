"""The ``search`` action: one search at a time, each in a thread of its own, and a queue.

Threading. Each accepted goal is executed in a thread of the multi-threaded executor and blocks it; that thread runs the
search loop. The policy thinks in a worker thread of its ``PolicyRunner``, and everything else (answers of the head,
pictures, cancellations, further goals) is handled by the executor's other threads, so nothing that the policy does can
keep them waiting. One search at a time: a second goal waits in the queue, if there is room, and holds no thread.

ROS's own rejection of a goal carries no reason, so every goal is accepted; one that cannot start is aborted as REFUSED,
with the reason. A client that disappears does not end its search; ``max_turns`` and the limits do.
"""

from __future__ import annotations

import os
import threading
import time
import traceback
from collections import deque
from dataclasses import dataclass

from hvs_interfaces.action import Search
from hvs_interfaces.msg import SearchState
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup

from hvs_ros.nodes.diagnostics import ERROR, OK, WARN
from hvs_ros.nodes.head_client import HeadClient
from hvs_ros.nodes.managed import ManagedNode
from hvs_ros.nodes.search_messages import OUTCOMES, goal_task
from hvs_ros.nodes.search_parameters import SearchParameters
from hvs_ros.nodes.search_policy_loader import PolicyLoader
from hvs_ros.nodes.search_publisher import SearchPublisher, SearchTopics
from hvs_ros.nodes.search_stop import Stop, StoppableDecider
from hvs_ros.panorama import draw_cross
from hvs_ros.policy.runner import PolicyRunner
from hvs_ros.search.episode import Outcome, SearchFailure, SearchSession
from hvs_ros.search.loop import run_search
from hvs_ros.search.task import Task, TaskError

RESULT_KEPT_S = 30
"""How long the result of a goal can be asked for."""
CANCEL_STATE_LIMIT_S = 1.0
STOP_LIMIT_S = 4.0
POLICY_CLOSE_LIMIT_S = 1.0
FAREWELL_S = 0.3
"""Time for last messages to leave before what sends them goes."""


@dataclass
class _Job:
    """An accepted goal."""

    handle: ServerGoalHandle
    stop: Stop
    cancel_asked: bool = False

    @property
    def key(self) -> bytes:
        return bytes(self.handle.goal_id.uuid)


class SearchServer:
    """Serves ``search``, and owns the policy that it begins to load at once. Closed to goals until ``open``.

    Args:
        node: whose action it is.
        parameters: of the node.
        head: turns and shows views.
        topics: tell the graph.
        runner: of the policy.
        changed: what a search waits on.
    """

    def __init__(
        self,
        node: ManagedNode,
        parameters: SearchParameters,
        head: HeadClient,
        topics: SearchTopics,
        runner: PolicyRunner,
        changed: threading.Condition,
    ) -> None:
        self._node, self._p, self._head, self._topics, self._runner = node, parameters, head, topics, runner
        self._changed = changed
        self._lock = threading.Lock()
        self._jobs: dict[bytes, _Job] = {}
        self._current: _Job | None = None
        self._waiting: deque[_Job] = deque()
        self._coming = 0  # goals whose acceptance is on its way to their sender; rclpy hands them over after that
        self._open = self._closed = False
        self._searches = 0
        self._status = f"loading policy '{parameters.policy}'"
        node.say(WARN, self._status, policy=parameters.policy, searches=0, last_outcome=None)
        self._server = ActionServer(
            node,
            Search,
            "search",
            execute_callback=self._execute,
            goal_callback=self._on_goal,
            handle_accepted_callback=self._accept,
            cancel_callback=self._cancel,
            callback_group=ReentrantCallbackGroup(),
            result_timeout=RESULT_KEPT_S,
        )
        self._topics.idle(node.refusal)
        self._loader = PolicyLoader(runner, self._on_loaded)

    def open(self) -> None:
        """Take goals."""
        with self._lock:
            self._open = True
            self._topics.idle(self._status)

    def stop(self, why: str, *, idle: bool) -> None:
        """Take no more goals, cancel the searches there are, so that the head holds, and wait for their ends.

        Args:
            why: is told to whoever asked for them.
            idle: tell as well that there is no search now; otherwise the last one's end stays the last word.
        """
        end = time.monotonic() + STOP_LIMIT_S
        self._open = False
        while self._coming and time.monotonic() < end:
            time.sleep(0.01)
        with self._lock:
            jobs = list(self._jobs.values())
        for job in jobs:
            job.stop.set(Outcome.CANCELED, why)
        while self._jobs and time.monotonic() < end:
            time.sleep(0.01)
        if idle:
            self._topics.idle(why)
        if jobs:
            time.sleep(FAREWELL_S)

    def close(self) -> None:
        """Close the policy, and remove the action."""
        self._closed = True
        closing = threading.Thread(target=self._runner.close, name="close_policy", daemon=True)
        closing.start()
        closing.join(POLICY_CLOSE_LIMIT_S)
        self._server.destroy()

    def _on_loaded(self, reason: str) -> None:
        if self._closed:
            return
        if reason:
            self._node.get_logger().error(f"{reason}; the next goal tries again")
            self._node.say(ERROR, reason)
        else:
            about = self._runner.describe()
            told = "".join(f", {name} {value}" for name, value in about.items())
            self._node.get_logger().info(f"policy '{self._p.policy}' is ready{told}")
            self._node.say(OK, "ready", **{f"policy.{name}": value for name, value in about.items()})
        with self._lock:
            self._status = reason or "ready"
            # A goal that came meanwhile waits for the policy: that search is on, and says so itself.
            if self._current is None and self._open:
                self._topics.idle(self._status)

    # Goals come and go in the executor's threads.

    def _on_goal(self, _goal: Search.Goal) -> GoalResponse:
        with self._lock:
            if self._node.closing:
                return GoalResponse.REJECT
            self._coming += 1
        return GoalResponse.ACCEPT

    def _accept(self, handle: ServerGoalHandle) -> None:
        job = _Job(handle, Stop(self._changed, lambda: self._wake_policy(job)))
        refusal = ""
        with self._lock:
            self._coming -= 1
            self._jobs[job.key] = job
            if not self._open:
                refusal = self._node.refusal
            elif self._current is None:
                self._current = job
            elif len(self._waiting) < self._p.queue:
                self._waiting.append(job)
                return
            else:
                full = f" and {len(self._waiting)} more wait" if self._waiting else ""
                refusal = f"another search is on{full}; wait for its end, cancel it, or set the parameter 'queue'"
        if refusal:
            handle.execute(lambda _: self._leave(job, self._refused(job, refusal)))
        else:
            handle.execute()

    def _cancel(self, handle: ServerGoalHandle) -> CancelResponse:
        job = self._jobs.get(bytes(handle.goal_id.uuid))
        if job is None:
            return CancelResponse.REJECT
        job.cancel_asked = True
        with self._lock:
            waiting = job in self._waiting
            if waiting:
                self._waiting.remove(job)
        if waiting:
            handle.execute(lambda _: self._leave(job, self._end(job, Outcome.CANCELED, "canceled before it began")))
        else:
            job.stop.set(Outcome.CANCELED, "canceled by the client")
        return CancelResponse.ACCEPT

    def _leave(self, job: _Job, result: Search.Result) -> Search.Result:
        """Forget a goal that has ended, and begin the next."""
        job.stop.finish()
        with self._lock:
            del self._jobs[job.key]
            if self._current is not job:
                return result
            self._current = self._waiting.popleft() if self._waiting else None
            following = self._current
        if following is not None:
            following.handle.execute()
        return result

    def _wake_policy(self, job: _Job) -> None:
        # A goal that waits has no policy to wake. Loading goes on: what comes of it is for the next search as well.
        if self._current is job and self._loader.ended:
            self._runner.cancel()

    # A search runs in a thread of its own from here on.

    def _execute(self, handle: ServerGoalHandle) -> Search.Result:
        job = self._jobs[bytes(handle.goal_id.uuid)]
        try:
            result = self._search(job, goal_task(handle.request))
        except TaskError as error:
            result = self._refused(job, str(error))
        except Exception as error:
            self._node.get_logger().error(f"the search failed, which is a bug\n{traceback.format_exc()}")
            handle.abort()
            result = Search.Result(message=f"the search failed, which is a bug: {error!r}")
        return self._leave(job, result)

    def _search(self, job: _Job, task: Task) -> Search.Result:
        search_id = job.handle.request.search_id or _new_id()
        watcher = SearchPublisher(self._topics, self._head, job.handle, task, search_id)
        self._searches += 1
        self._node.say(OK, f"searching: {task.instruction}", searches=self._searches)
        self._runner.reset()
        self._head.begin(job.stop)
        try:
            watcher.tell(SearchState.LOOKING, "waiting for the policy to load")
            self._loader.wait(job.stop, self._p.load_timeout)
            job.stop.check()
            ended = run_search(
                task,
                self._head,
                StoppableDecider(self._runner, job.stop),
                (watcher,),
                mark=draw_cross if self._p.draw_cross else None,
                mark_name="green cross" if self._p.draw_cross else "",
            )
        except SearchFailure as failure:
            session = SearchSession(task)
            session.fail(failure)
            ended = session.result
            watcher.on_end(ended)
        except Exception as error:
            watcher.tell(SearchState.DONE, f"the search failed, which is a bug: {error!r}")
            raise
        finally:
            job.stop.finish()
            self._head.end()
        self._tell_end(search_id, ended.outcome, ended.message)
        assert watcher.result is not None
        return self._end(job, ended.outcome, ended.message, watcher.result)

    def _tell_end(self, search_id: str, outcome: Outcome, message: str) -> None:
        text = f"search {search_id}: {outcome.value}{f': {message}' if message else ''}"
        failed = not outcome.completed and outcome is not Outcome.CANCELED
        if failed:
            self._node.get_logger().error(text)
        else:
            self._node.get_logger().info(text)
        self._node.say(WARN if failed else OK, text if failed else "ready", last_outcome=outcome.value)

    def _refused(self, job: _Job, reason: str) -> Search.Result:
        self._node.get_logger().warning(f"goal refused: {reason}")
        return self._end(job, Outcome.REFUSED, reason)

    def _end(
        self, job: _Job, outcome: Outcome, message: str, result: Search.Result | None = None
    ) -> Search.Result:
        """Give the goal its final state."""
        if outcome.completed:
            job.handle.succeed()
        elif outcome is Outcome.CANCELED and self._cancel_arrived(job):
            job.handle.canceled()
        else:
            job.handle.abort()
        if result is None:
            result = Search.Result(
                outcome=OUTCOMES[outcome], message=message, search_id=job.handle.request.search_id
            )
        return result

    @staticmethod
    def _cancel_arrived(job: _Job) -> bool:
        """Wait for it: rclpy changes a goal's state only after the cancel callback that woke this thread."""
        end = time.monotonic() + CANCEL_STATE_LIMIT_S
        while job.cancel_asked and not job.handle.is_cancel_requested and time.monotonic() < end:
            time.sleep(0.001)
        return bool(job.handle.is_cancel_requested)


def _new_id() -> str:
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{os.urandom(2).hex()}"
