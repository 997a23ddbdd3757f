"""Runs episodes through the ROS graph: the head is put into the scene, then the searcher is asked to search.

Threading: ``GraphBackend`` blocks in whatever thread runs the benchmark, while an executor spins its node in others.
Every wait has a limit, and ``cancel`` ends it. What is missing or doubled is said by name: two systems in one ROS
domain would answer each other's goals, and the results of both would be worthless.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from hvs_interfaces.srv import LoadScene
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node

from hvs_ros.angles import ros_angles
from hvs_ros.benchmark.episodes import Episode
from hvs_ros.benchmark.record import SearchRecord, TurnRecord
from hvs_ros.benchmark.run import Listener
from hvs_ros.bringup import POLICY
from hvs_ros.nodes.benchmark_recordings import Recordings
from hvs_ros.nodes.search_client import SearchClient, SearchClientError
from hvs_ros.search.episode import Outcome

POLL_S = 0.1
DISCOVERY_S = 1.0
"""For processes on one machine to hear of each other."""
SAY_AFTER_S = 5.0
"""What is waited for is named after so long, and again every so often."""


class GraphError(Exception):
    """The graph is not fit for a benchmark; the message says what is missing or doubled, and what to do."""


@dataclass(frozen=True)
class GraphLimits:
    """How long to wait, in seconds.

    Attributes:
        ready_s: for head, searcher and recorder to appear.
        load_s: for a head to enter a scene.
        bag_s: for the recorder to say where it records.
        cancel_s: for a search that is canceled to end; whoever interrupts a run waits for it.
    """

    ready_s: float = 60.0
    load_s: float = 60.0
    bag_s: float = 5.0
    cancel_s: float = 3.0


def refuse_crowd(node: Node, watch_s: float = DISCOVERY_S) -> None:
    """Make sure that nobody offers yet what nodes that are about to be started will offer.

    Args:
        node: spun in other threads; the names are relative to it.
        watch_s: how long others have to be discovered.

    Raises:
        GraphError: somebody does.
    """
    end = time.monotonic() + watch_s
    while time.monotonic() < end:
        _refuse_more_than(0, node)
        time.sleep(POLL_S)


def action_servers(node: Node, action: str) -> int:
    """Return how many nodes offer an action."""
    service = f"{node.resolve_service_name(action)}/_action/send_goal"
    if hasattr(node, "count_services"):
        return int(node.count_services(service))
    return servers_one_by_one(node, service)


def servers_one_by_one(node: Node, service: str) -> int:
    """Return how many nodes offer a service, as Humble, which does not count, can tell."""
    count = 0
    for name, namespace in node.get_node_names_and_namespaces():
        with contextlib.suppress(RuntimeError):  # the node has gone meanwhile
            offered = node.get_service_names_and_types_by_node(name, namespace)
            count += service in (offer for offer, _ in offered)
    return count


def _refuse_more_than(most: int, node: Node) -> None:
    for action in ("search", "head/move"):
        if action_servers(node, action) > most:
            raise GraphError(
                f"another system offers the action {node.resolve_service_name(action)} in this ROS domain: give this"
                " one a domain of its own (--domain or ROS_DOMAIN_ID), or a --namespace"
            )


class GraphBackend:
    """Runs episodes on the nodes that are there (see ``hvs_ros.benchmark.run.Backend``).

    Args:
        node: spun in other threads; names below are relative to it.
        record: a recorder is part of the graph; its bags are named in the records.
        limits: how long to wait.
        trouble: returns what is wrong with the processes of the graph, where they are known; empty: nothing.
    """

    def __init__(
        self,
        node: Node,
        *,
        record: bool = False,
        limits: GraphLimits | None = None,
        trouble: Callable[[], str] = lambda: "",
    ) -> None:
        self._node = node
        self._limits = limits or GraphLimits()
        self._trouble = trouble
        self._canceled = threading.Event()
        self._client = SearchClient(node, cancel_limit_s=self._limits.cancel_s)
        self._load = node.create_client(LoadScene, "head/load_scene", callback_group=MutuallyExclusiveCallbackGroup())
        self._attempts: dict[str, int] = {}
        self.recordings = Recordings(node) if record else None

    def wait_until_ready(self, say: Callable[[str], None]) -> None:
        """Wait until everything is there, once.

        Args:
            say: is told what is waited for, when that takes long.

        Raises:
            GraphError: something is missing at the end of the limit, or there twice.
        """
        began = said = time.monotonic()
        while missing := self._missing():
            if self._canceled.is_set():
                return
            if problem := self._trouble():
                raise GraphError(problem)
            now = time.monotonic()
            if now - began > self._limits.ready_s:
                raise GraphError(
                    f"gave up after {self._limits.ready_s:g} s: {', '.join(missing)} did not appear; are the nodes "
                    "running, in the same ROS_DOMAIN_ID and namespace?"
                )
            if now - said > SAY_AFTER_S:
                said = now
                say(f"waiting for {', '.join(missing)}")
            self._canceled.wait(POLL_S)
        _refuse_more_than(1, self._node)

    def run(self, episode: Episode, listener: Listener) -> SearchRecord:
        """Load the scene, search, and return what happened.

        Raises:
            GraphError: another system has appeared beside this one.
        """
        if self._canceled.is_set():
            return SearchRecord(Outcome.CANCELED, "canceled before it began")
        if problem := self._trouble():  # nobody starts that node again
            return SearchRecord(Outcome.POLICY_UNAVAILABLE if POLICY in problem else Outcome.HEAD_UNAVAILABLE, problem)
        _refuse_more_than(1, self._node)
        failure = self._enter(episode)
        if failure is not None:
            return failure
        search_id = self._search_id(episode)
        if self.recordings is not None:
            self.recordings.expect(search_id)
        told = 0

        def on_turn(turn: TurnRecord) -> None:
            nonlocal told
            told = turn.number
            listener.on_turn(turn)

        try:
            record = self._client.search(
                episode.task.instruction,
                kind=episode.task.kind,
                max_turns=episode.task.max_turns,
                search_id=search_id,
                on_turn=on_turn,
                server_limit_s=self._limits.ready_s,
            )
        except SearchClientError as error:
            return SearchRecord(Outcome.POLICY_TIMEOUT, self._trouble() or str(error))
        # On a busy machine it may take seconds to hear of others: what they may have disturbed is not kept.
        _refuse_more_than(1, self._node)
        # The result may overtake the feedback of the last turn.
        for turn in record.turns[told:]:
            listener.on_turn(turn)
        if self.recordings is None:
            return record
        recording = self.recordings.of(search_id, self._limits.bag_s)
        if recording is None:
            listener.on_note(f"{episode.episode_id} has no bag: the recorder does not answer")
            return record
        if recording.path is None:
            listener.on_note(f"{episode.episode_id} has no bag: {recording.message}")
        return replace(record, bag=recording.path)

    def cancel(self) -> None:
        """End the search under way, and let no other begin."""
        self._canceled.set()
        self._client.cancel()

    def close(self) -> None:
        """Leave the graph; the node stays."""
        self._client.close()

    def __enter__(self) -> GraphBackend:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _missing(self) -> list[str]:
        wanted = {"the head (head/load_scene)": self._load.service_is_ready()}
        for action in ("head/move", "search"):
            wanted[f"the action {action}"] = action_servers(self._node, action) > 0
        if self.recordings is not None:
            wanted["the recorder (recorder/episodes)"] = self.recordings.recorders() > 0
        return [name for name, there in wanted.items() if not there]

    def _enter(self, episode: Episode) -> SearchRecord | None:
        """Put the head into the scene; return how that failed, or None."""
        if not self._load.wait_for_service(self._limits.ready_s if not self._trouble() else 0.0):
            return SearchRecord(Outcome.HEAD_UNAVAILABLE, self._trouble() or f"nobody offers {self._load.srv_name}")
        yaw, pitch = ros_angles(episode.start)
        future = self._load.call_async(LoadScene.Request(scene=str(episode.address), yaw=yaw, pitch=pitch))
        end = time.monotonic() + self._limits.load_s
        done = threading.Event()
        future.add_done_callback(lambda _: done.set())
        while not done.wait(POLL_S):
            problem = self._trouble()
            if self._canceled.is_set() or problem or time.monotonic() > end:
                future.cancel()
                if self._canceled.is_set():
                    return SearchRecord(Outcome.CANCELED, "canceled while the scene was loaded")
                late = f"{self._load.srv_name} did not answer within {self._limits.load_s:g} s"
                return SearchRecord(Outcome.HEAD_UNAVAILABLE, problem or late)
        answer: Any = future.result()
        if not answer.success:
            return SearchRecord(Outcome.HEAD_FAILED, answer.message)
        return None

    def _search_id(self, episode: Episode) -> str:
        """Return the episode's id, with a number when it is run again: every attempt has a bag of its own."""
        attempt = self._attempts[episode.episode_id] = self._attempts.get(episode.episode_id, 0) + 1
        return episode.episode_id if attempt == 1 else f"{episode.episode_id}~{attempt}"
