"""Starting the nodes of a graph without ROS's launch.

``sim(...)`` and ``real(...)`` are the descriptions of the graphs (``hvs_ros.graphs``). Launch files make launch actions
of them; where launch is not installed, ``Bringup`` starts the same nodes with the same parameters as child processes:

    with Bringup(sim(scenes=Path("scenes"), policy="signs")) as nodes:
        ...                 # use the graph
        nodes.trouble()     # names a node that has ended, with its last words

Children run in sessions of their own: Ctrl-C in a terminal reaches only this process, which then ends them one after
the other, those that command the head first and the head last. If this process is killed they end too
(``hvs_ros.node_process``).
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType, TracebackType

from hvs_ros.child import Child
from hvs_ros.graphs import (
    BENCHMARK,
    HEAD,
    HEAD_NAMESPACE,
    POLICY,
    RECORDER,
    ROBOT_HEAD,
    TWIN,
    TWIN_NAMESPACE,
    real,
    sim,
)
from hvs_ros.node_spec import NodeSpec, Value, parameter_text
from hvs_ros.share import share_file

__all__ = [
    "BENCHMARK",
    "HEAD",
    "HEAD_NAMESPACE",
    "POLICY",
    "RECORDER",
    "ROBOT_HEAD",
    "TWIN",
    "TWIN_NAMESPACE",
    "Bringup",
    "NodeSpec",
    "Value",
    "graph_environment",
    "local_environment",
    "parameter_text",
    "real",
    "sim",
    "to_stderr",
]


def graph_environment(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return what every process of the graph needs in its environment and has not got yet.

    Fast DDS moves pictures through shared memory, in segments large enough for them, unless the user has a profile of
    their own. A process that talks to the nodes wants the same, before ``rclpy.init()``.

    Args:
        environment: of the process; None: this one's.
    """
    have = os.environ if environment is None else environment
    # Fast DDS 2 (Humble, Jazzy) reads the first, Fast DDS 3 (Kilted) the second.
    names = ("FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE")
    if any(have.get(name) for name in names):
        return {}
    return dict.fromkeys(names, str(share_file("config", "fastdds_shm.xml")))


def local_environment(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return ``graph_environment`` and, unless the user has chosen, what keeps the graph on this machine.

    For ``hvs``, whose user may never have thought about who else is on the network; launch files leave that alone.
    """
    have = os.environ if environment is None else environment
    more = graph_environment(have)
    if not have.get("ROS_AUTOMATIC_DISCOVERY_RANGE") and not have.get("ROS_LOCALHOST_ONLY"):
        more["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    return more


def to_stderr(name: str, line: str) -> None:
    """Print a node's line with the node's name in front."""
    print(f"[{name}] {line}", file=sys.stderr, flush=True)


class Bringup:
    """Runs nodes as child processes; a context manager.

    Enter it in a thread that stays, best the main one: Linux takes the end of that thread for the end of the parent.

    Args:
        specs: the nodes, in the order in which they are started.
        log_directory: gets a file with everything that a node prints, for each node; None: no files.
        log_level: of the nodes' own loggers: debug, info, warn, error; empty: ROS's default, info.
        on_line: is given (node, line) for each line that a node prints, from threads of its own.
        environment: over this process's and ``local_environment``.
        local: keep the graph on this machine unless the user has chosen; a robot's drivers may run on another one.
    """

    INTERRUPT_S = 1.5
    """After SIGTERM, how long a node is waited for before the next one is asked to end too."""
    TERMINATE_S = 7.0
    """After the first SIGTERM: another to those still there."""
    KILL_S = 9.0
    """Likewise: SIGKILL."""

    def __init__(
        self,
        specs: Sequence[NodeSpec],
        *,
        log_directory: Path | None = None,
        log_level: str = "",
        on_line: Callable[[str, str], None] = to_stderr,
        environment: Mapping[str, str] | None = None,
        local: bool = True,
    ) -> None:
        self._specs = list(specs)
        self._log_directory = log_directory
        self._log_level = log_level
        self._on_line = on_line
        self._environment = {
            **os.environ,
            **(local_environment() if local else graph_environment()),
            **(environment or {}),
        }
        self._children: list[Child] = []
        self._cleanup = contextlib.ExitStack()

    def __enter__(self) -> Bringup:
        self._cleanup.enter_context(_terminated_like_interrupted())
        folder = Path(self._cleanup.enter_context(tempfile.TemporaryDirectory(prefix="hvs_ros_")))
        try:
            if self._log_directory is not None:
                self._log_directory.mkdir(parents=True, exist_ok=True)
            for spec in self._specs:
                self._children.append(self._start(spec, folder))
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.stop()
        finally:
            self._cleanup.close()

    @property
    def children(self) -> list[Child]:
        """The processes, in the order of the nodes."""
        return list(self._children)

    def trouble(self) -> str:
        """Say which nodes have ended, and their last words; empty: all run. It may be called from any thread."""
        return "; ".join(child.obituary() for child in self._children if not child.running)

    def wait(self, limit_s: float | None = None) -> Child | None:
        """Wait until a node has ended and return it; None when the limit comes first."""
        end = None if limit_s is None else time.monotonic() + limit_s
        while True:
            for child in self._children:
                if not child.running:
                    return child
            if end is not None and time.monotonic() >= end:
                return None
            time.sleep(0.05)

    def stop(self) -> None:
        """End every node, the last started first, within 10 s whatever they do; safe to call again."""
        with _signals_held():
            began = time.monotonic()
            for child in reversed(self._children):
                # What SIGINT would do too, but with a traceback in a node whose Python is just starting.
                child.send(signal.SIGTERM)
                child.wait(self.INTERRUPT_S)
            for number, at in ((signal.SIGTERM, self.TERMINATE_S), (signal.SIGKILL, self.KILL_S)):
                for child in reversed(self._children):
                    child.wait(max(0.0, began + at - time.monotonic()))
                for child in reversed(self._children):
                    if child.running:
                        self._on_line(child.name, f"does not end; {number.name} is sent")
                        child.send(number)
            for child in self._children:
                child.close()

    def _start(self, spec: NodeSpec, folder: Path) -> Child:
        log = None
        if self._log_directory is not None:
            log = self._log_directory / f"{spec.logger}.log"
        command = [sys.executable, "-m", "hvs_ros.node_process", str(os.getpid()), spec.module]
        return Child(
            spec.name,
            [*command, *spec.ros_arguments(spec.write_parameters(folder), self._log_level)],
            environment=self._environment,
            log=log,
            on_line=self._on_line,
        )


@contextlib.contextmanager
def _terminated_like_interrupted() -> Iterator[None]:
    """Let SIGTERM and SIGHUP, where nobody handles them, raise SystemExit: else this process would end at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def leave(number: int, _frame: FrameType | None) -> None:
        sys.exit(128 + number)

    changed = [n for n in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(n) is signal.SIG_DFL]
    for number in changed:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number in changed:
            signal.signal(number, signal.SIG_DFL)


@contextlib.contextmanager
def _signals_held() -> Iterator[None]:
    """Ignore an impatient second Ctrl-C while nodes are ended, which takes 10 s at most."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, signal.SIG_IGN) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
