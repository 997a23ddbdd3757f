"""Tells the graph about one search: command, turn and state, and the goal's feedback.

It is a watcher of the search loop and runs in the search's thread. What it publishes refers to the head's frames,
which it reads from the head client of the same thread.
"""

from __future__ import annotations

import threading
import time

from hvs_interfaces.action import Search
from hvs_interfaces.msg import HeadPose, SearchCommand, SearchState
from hvs_interfaces.msg import Turn as TurnMessage
from rclpy.action.server import ServerGoalHandle
from rclpy.node import Node

from hvs_ros.nodes.convert import header
from hvs_ros.nodes.head_client import HeadClient
from hvs_ros.nodes.qos import latched
from hvs_ros.nodes.search_messages import KINDS, OUTCOMES, PHASES, command_message, result_message, turn_message
from hvs_ros.search.decision import Decision
from hvs_ros.search.episode import SearchResult, Turn
from hvs_ros.search.loop import Phase, Watcher
from hvs_ros.search.task import Task
from hvs_ros.search.view import Observation

_WAITING_FOR = {
    Phase.LOOKING: "waiting for a view",
    Phase.THINKING: "the policy decides",
    Phase.MOVING: "the head turns",
}


class SearchTopics:
    """The topics of a node that searches.

    Args:
        node: whose topics they are.
        head: knows the frames.
        policy: the policy's name.
        parameters: its settings, as JSON without secrets.
    """

    def __init__(self, node: Node, head: HeadClient, policy: str, parameters: str) -> None:
        self._node, self._head = node, head
        self._policy, self._parameters = policy, parameters
        self.commands = node.create_publisher(SearchCommand, "search/command", 10)
        self.turns = node.create_publisher(TurnMessage, "search/turn", 10)
        # With a depth of 1 a state that follows quickly replaces one that is still on its way.
        self._states = node.create_publisher(SearchState, "search/state", latched(20))
        self._lock = threading.Lock()

    def now_ns(self) -> int:
        """Return the ROS time."""
        return int(self._node.get_clock().now().nanoseconds)

    def idle(self, message: str) -> None:
        """Say that there is no search, and why."""
        self.publish(self.state(SearchState.IDLE, message))

    def state(self, state: int, message: str) -> SearchState:
        """Return a state without a search in it."""
        return SearchState(
            header=header(self.now_ns(), self._head.base_frame),
            state=state,
            policy=self._policy,
            parameters=self._parameters,
            message=message,
        )

    def publish(self, state: SearchState) -> None:
        """Publish a state, latched."""
        with self._lock:
            self._states.publish(state)


class SearchPublisher(Watcher):
    """Tells about one search.

    Args:
        topics: to publish on.
        head: of the search.
        goal: whose feedback it gives.
        task: what is searched for.
        search_id: which search.
    """

    def __init__(
        self, topics: SearchTopics, head: HeadClient, goal: ServerGoalHandle, task: Task, search_id: str
    ) -> None:
        self._topics, self._head, self._goal, self._task = topics, head, goal, task
        self._search_id = search_id
        self._started_ns, self._began_s = topics.now_ns(), time.monotonic()
        self._pose = HeadPose()
        self._command = SearchCommand()
        self._turns: list[TurnMessage] = []
        self.turn = 0
        self.result: Search.Result | None = None

    def tell(self, state: int, message: str, outcome: int = 0) -> None:
        """Publish a state of this search, and give it as feedback."""
        text = self._topics.state(state, message)
        text.started = header(self._started_ns, "").stamp
        text.search_id, text.turn, text.outcome = self._search_id, self.turn, outcome
        text.instruction, text.target = self._task.instruction, KINDS[self._task.kind]
        text.max_turns = self._task.max_turns
        self._topics.publish(text)
        last = self._turns[-1] if self._turns else TurnMessage()
        self._goal.publish_feedback(Search.Feedback(state=text, turn=last))

    def on_phase(self, phase: Phase, turn: int) -> None:
        """Publish the state."""
        self.turn = turn
        self.tell(PHASES[phase], _WAITING_FOR[phase])

    def on_view(self, observation: Observation) -> None:
        """Keep where the head looked."""
        self._pose = self._head.pose

    def on_decision(self, observation: Observation, decision: Decision) -> None:
        """Publish the command."""
        self._command = command_message(
            decision.action,
            search_id=self._search_id,
            turn=observation.turn,
            stamp_ns=self._topics.now_ns(),
            frame_id=self._head.base_frame,
        )
        self._topics.commands.publish(self._command)

    def on_turn(self, turn: Turn) -> None:
        """Publish the turn; the next state's feedback carries it."""
        message = turn_message(
            turn,
            command=self._command,
            pose=self._pose,
            achieved=self._pose if turn.arrival is None else self._head.pose,
            stamp_ns=self._topics.now_ns(),
            frame_id=self._head.optical_frame,
        )
        self._turns.append(message)
        self._topics.turns.publish(message)

    def on_end(self, result: SearchResult) -> None:
        """Publish the last state, and keep the result for the goal."""
        self.result = result_message(
            result,
            search_id=self._search_id,
            achieved=self._head.pose,
            turns=self._turns,
            duration_s=time.monotonic() - self._began_s,
        )
        self.tell(SearchState.DONE, result.message, OUTCOMES[result.outcome])
