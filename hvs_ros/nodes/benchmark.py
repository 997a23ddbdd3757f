"""Runs every episode of some scenes through the graph, scores them, and ends.

Threading: the run blocks in a thread of its own, which begins when the executor spins; what the graph says arrives in
the executor's threads. At the end the thread wakes the main one with the signal that everybody else would use, so there
is one way to shut down. The exit code is 0 when every episode ran to its end.

Which camera and which policy take part is learnt from the graph itself: that is what the results were made with.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Sequence

from hvs_interfaces.msg import HeadCapabilities, SearchState
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node

from hvs_ros.angles import search_turn_deg
from hvs_ros.benchmark.episodes import FreeTask, Selection, SelectionError, plan_episodes
from hvs_ros.benchmark.progress import PlainProgress
from hvs_ros.benchmark.results_file import ResultsError, ResultsFile
from hvs_ros.benchmark.run import BenchmarkRun, Patience, RunReport
from hvs_ros.benchmark.settings import RunSettings, installed_versions
from hvs_ros.benchmark.summary import summarize
from hvs_ros.nodes.benchmark_graph import GraphBackend, GraphError, GraphLimits
from hvs_ros.nodes.benchmark_parameters import BenchmarkParameters
from hvs_ros.nodes.diagnostics import ERROR, OK, Diagnostics
from hvs_ros.nodes.parameters import declare
from hvs_ros.nodes.process import run_node
from hvs_ros.nodes.qos import latched
from hvs_ros.panorama.annotation import SceneError
from hvs_ros.panorama.scene import load_scenes
from hvs_ros.search.scoring import ScoringMode
from hvs_ros.search.task import TaskKind
from hvs_ros.share import ShareError, sample_scenes, user_path

CLOSE_LIMIT_S = 5.0
"""For the search under way to end when the node is shut down."""


class Benchmark(Node):
    """The node.

    Attributes:
        exit_code: of the process, once the run has ended.
    """

    def __init__(self) -> None:
        super().__init__("benchmark")
        self._p = p = declare(self, BenchmarkParameters)
        self.exit_code = 1
        self._mode = ScoringMode(p.scoring)
        free = FreeTask(p.instruction, TaskKind(p.target)) if p.instruction else None
        selection = Selection(tuple(p.select.split()), None, p.starts or None, p.episodes or None)
        folder = user_path(p.scenes) if p.scenes else sample_scenes()
        self._episodes = plan_episodes(
            load_scenes(folder), selection, free_task=free, max_turns=p.max_turns or None
        )
        self._diagnostics = Diagnostics(self, folder.name)
        self._graph = GraphFacts(self)
        self._backend = GraphBackend(
            self, record=p.record, limits=GraphLimits(ready_s=p.ready_timeout, load_s=p.load_timeout)
        )
        self._run: BenchmarkRun | None = None
        self._thread = threading.Thread(target=self._work, name="benchmark", daemon=True)
        self._closing = False
        self._begin = self.create_timer(0.0, self._on_spinning, callback_group=MutuallyExclusiveCallbackGroup())

    def close(self) -> None:
        """Cancel the search under way; what is done is kept."""
        self._closing = True
        self._backend.cancel()
        if self._run is not None:
            self._run.stop()
        if self._thread.is_alive():
            self._thread.join(CLOSE_LIMIT_S)

    def destroy_node(self) -> None:
        """Remove what rclpy does not know the node owns, then the node."""
        self._backend.close()
        super().destroy_node()

    def _on_spinning(self) -> None:
        self._begin.cancel()
        self._thread.start()

    def _work(self) -> None:
        try:
            self._finish(self._run_all())
        except (GraphError, ResultsError) as error:
            self._fail(str(error))
        except Exception:
            self._fail(f"the run failed, which is a bug\n{traceback.format_exc()}")
        finally:
            if not self._closing:
                os.kill(os.getpid(), signal.SIGINT)

    def _run_all(self) -> RunReport:
        p = self._p
        self._diagnostics.set(OK, "waiting for the graph", episodes=len(self._episodes))
        self._backend.wait_until_ready(self._say)
        results = self._results()
        try:
            self._run = BenchmarkRun(
                self._episodes,
                self._backend,
                results,
                PlainProgress(self._say, self._mode),
                Patience(attempts=p.attempts, failures_in_a_row=p.failures_in_a_row),
            )
            self._diagnostics.set(OK, "running")
            if self._closing:
                self._run.stop()
            return self._run.run()
        finally:
            if results is not None:
                results.close()

    def _results(self) -> ResultsFile | None:
        if not self._p.results:
            return None
        path = user_path(self._p.results)
        settings = self._graph.settings(self._p.ready_timeout, self._p.max_turns or None)
        if self._p.resume and path.exists():
            return ResultsFile.resume(path, settings)
        return ResultsFile.create(path, settings)

    def _finish(self, report: RunReport) -> None:
        from rich.console import Console

        from hvs_ros.benchmark.table import results_table

        title = f"Policy '{self._graph.policy}', {len(report.results)} of {report.total} episodes"
        Console(width=110).print(results_table(summarize(report.results, self._mode), title))
        if self._p.results:
            self._say(f"results: {self._p.results}")
        if report.gave_up:
            self._fail(report.gave_up)
        elif report.complete:
            self.exit_code = 0
            self._diagnostics.set(OK, "all episodes ran")
        elif not report.interrupted:
            self._fail("some episodes did not run to their end; the same command runs them again")

    def _fail(self, reason: str) -> None:
        self.get_logger().error(reason)
        self._diagnostics.set(ERROR, reason)

    def _say(self, line: str) -> None:
        print(line, flush=True)


class GraphFacts:
    """What head and searcher say about themselves."""

    def __init__(self, node: Node) -> None:
        self._changed = threading.Condition()
        self._capabilities: HeadCapabilities | None = None
        self._state: SearchState | None = None
        for kind, topic, keep in (
            (HeadCapabilities, "head/capabilities", self._on_capabilities),
            (SearchState, "search/state", self._on_state),
        ):
            node.create_subscription(kind, topic, keep, latched(), callback_group=MutuallyExclusiveCallbackGroup())

    @property
    def policy(self) -> str:
        """Name of the policy, as far as it is known."""
        return "" if self._state is None else str(self._state.policy)

    def settings(self, limit_s: float, max_turns: int | None) -> RunSettings:
        """Return what a run on this graph is done with.

        Raises:
            GraphError: head or searcher have not said it within the limit.
        """
        self._wait(lambda: self._capabilities is not None, limit_s, "the head's capabilities (head/capabilities)")
        self._wait(lambda: bool(self.policy), limit_s, "the searcher's state (search/state)")
        head, state = self._capabilities, self._state
        assert head is not None and state is not None
        hfov_deg = round(abs(search_turn_deg(head.hfov)), 6)
        return RunSettings(
            policy=state.policy,
            policy_settings=json.loads(state.parameters or "{}"),
            camera={"width": head.width, "height": head.height, "hfov_deg": hfov_deg},
            view={"sampling": head.view},
            max_turns=max_turns,
            run="graph",
            motion="profile" if head.max_velocity else "instant",
            versions=installed_versions(state.policy),
        )

    def _wait(self, condition: Callable[[], bool], limit_s: float, what: str) -> None:
        with self._changed:
            if not self._changed.wait_for(condition, limit_s):
                raise GraphError(f"{what} did not arrive within {limit_s:g} s")

    def _on_capabilities(self, message: HeadCapabilities) -> None:
        with self._changed:
            self._capabilities = message
            self._changed.notify_all()

    def _on_state(self, message: SearchState) -> None:
        with self._changed:
            self._state = message
            self._changed.notify_all()


def main(args: Sequence[str] | None = None) -> int:
    """Run the node as a process; return 0 when every episode ran to its end."""
    made: list[Benchmark] = []

    def make() -> Node:
        made.append(Benchmark())
        return made[0]

    code = run_node(make, args, known=(SceneError, SelectionError, ShareError))
    return code or (made[0].exit_code if made else 1)


if __name__ == "__main__":
    sys.exit(main())
