"""The nodes that make up a simulation, and starting them without ROS's launch.

``sim(...)`` is the one description of the graph. launch/sim.launch.py makes launch actions of it; where launch is not
installed, ``Bringup`` starts the same nodes with the same parameters as child processes:

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
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, TracebackType

from hvs_ros.child import Child
from hvs_ros.share import share_file, user_path

Value = bool | int | float | str | Sequence[bool] | Sequence[int] | Sequence[float] | Sequence[str]
"""What a ROS parameter can be."""

HEAD, POLICY, RECORDER, BENCHMARK = "panorama_head", "search_policy", "episode_recorder", "benchmark"
HEAD_NAMESPACE = "head"


@dataclass(frozen=True)
class NodeSpec:
    """A node of the graph.

    Attributes:
        executable: its name for ``ros2 run hvs_ros``; its module in hvs_ros.nodes has the same.
        namespace: without slashes at the ends; empty: the root.
        parameter_files: read in this order, each over the one before.
        parameters: over the files.
        remappings: (from, to).
    """

    executable: str
    namespace: str = ""
    parameter_files: tuple[Path, ...] = ()
    parameters: Mapping[str, Value] = field(default_factory=dict)
    remappings: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """The node's name."""
        return self.executable

    @property
    def full_name(self) -> str:
        """Namespace and name, e.g. ``/head/panorama_head``."""
        return "/".join(("", self.namespace, self.name)) if self.namespace else f"/{self.name}"

    @property
    def logger(self) -> str:
        """The name of the node's logger."""
        return self.full_name.strip("/").replace("/", ".")

    @property
    def module(self) -> str:
        """What ``python -m`` runs."""
        return f"hvs_ros.nodes.{self.executable}"

    def ros_arguments(self, log_level: str = "") -> list[str]:
        """Return the command line that gives the node its name, parameters and remappings."""
        line = ["--ros-args", "-r", f"__node:={self.name}"]
        if self.namespace:
            line += ["-r", f"__ns:=/{self.namespace}"]
        for old, new in self.remappings:
            line += ["-r", f"{old}:={new}"]
        for path in self.parameter_files:
            line += ["--params-file", str(path)]
        for name, value in self.parameters.items():
            line += ["-p", f"{name}:={parameter_text(value)}"]
        if log_level:
            # Its own logger's: rclpy's inner ones would bury it.
            line += ["--log-level", f"{self.logger}:={log_level}"]
        return line


def sim(
    *,
    scenes: str | Path,
    scene: str = "",
    policy: str = "",
    record: str | Path | None = None,
    benchmark: bool = False,
    results: str | Path | None = None,
    namespace: str = "",
    parameter_files: Sequence[str | Path] = (),
    parameters: Mapping[str, Mapping[str, Value]] | None = None,
) -> list[NodeSpec]:
    """Return the nodes of a simulation, in the order in which they are started.

    Args:
        scenes: folder of scenes or panoramas.
        scene: the one to start in; empty: the first.
        policy: who decides, see ``hvs policies``; empty: as the parameter files say, which is ``signs``.
        record: folder for a bag of each episode; None: no recorder.
        benchmark: a node runs every episode of the scenes, and ends.
        results: file that it appends each result to; None: it only prints them.
        namespace: put before every name, so that several simulations run side by side.
        parameter_files: ROS parameter files, read by every node after its own file in config/.
        parameters: more parameters by executable, over the files, e.g. ``{"panorama_head": {"motion": "profile"}}``.

    Raises:
        ShareError: a node's file in config/ is missing.
        ValueError: parameters are given for a node that is not started.
    """
    root = namespace.strip("/")
    given = {executable: dict(values) for executable, values in (parameters or {}).items()}
    folder = str(user_path(scenes).absolute())

    def node(executable: str, inner: str = "", **own: Value) -> NodeSpec:
        return NodeSpec(
            executable=executable,
            namespace="/".join(part for part in (root, inner) if part),
            parameter_files=(
                share_file("config", f"{executable}.yaml"),
                *(user_path(path).absolute() for path in parameter_files),
            ),
            parameters={**own, **given.pop(executable, {})},
        )

    specs = [node(HEAD, HEAD_NAMESPACE, scenes=folder, scene=scene)]
    if record is not None:
        specs.append(node(RECORDER, directory=str(user_path(record).absolute())))
    specs.append(node(POLICY, **({"policy": policy} if policy else {})))
    if benchmark:
        kept = {} if results is None else {"results": str(user_path(results).absolute())}
        specs.append(node(BENCHMARK, scenes=folder, record=record is not None, **kept))
    if given:
        raise ValueError(f"parameters for {', '.join(given)}, but the nodes are {', '.join(s.name for s in specs)}")
    return specs


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


def parameter_text(value: Value) -> str:
    """Return a parameter's value as ``-p name:=...`` takes it, which is YAML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        # Quoted, or YAML would make a number of "1" and null of "".
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, (int, float)):
        return _number_text(value)
    return "[" + ", ".join(parameter_text(item) for item in value) + "]"


def _number_text(value: int | float) -> str:
    text = repr(value)
    if isinstance(value, float):
        special = {"inf": ".inf", "-inf": "-.inf", "nan": ".nan"}.get(text)
        if special:
            return special
        if "." not in text:
            # 1e-05 is a text to YAML 1.1; 1.0e-05 is a number.
            mantissa, _, exponent = text.partition("e")
            text = f"{mantissa}.0e{exponent}"
    return text


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
    """

    INTERRUPT_S = 1.5
    """After SIGINT, how long a node is waited for before the next one is asked to end too."""
    TERMINATE_S = 7.0
    """After the first SIGINT: SIGTERM to those still there."""
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
    ) -> None:
        self._specs = list(specs)
        self._log_directory = log_directory
        self._log_level = log_level
        self._on_line = on_line
        self._environment = {**os.environ, **local_environment(), **(environment or {})}
        self._children: list[Child] = []
        self._cleanup = contextlib.ExitStack()

    def __enter__(self) -> Bringup:
        self._cleanup.enter_context(_terminated_like_interrupted())
        try:
            if self._log_directory is not None:
                self._log_directory.mkdir(parents=True, exist_ok=True)
            for spec in self._specs:
                self._children.append(self._start(spec))
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
                child.send(signal.SIGINT)
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

    def _start(self, spec: NodeSpec) -> Child:
        log = None
        if self._log_directory is not None:
            log = self._log_directory / f"{spec.logger}.log"
        command = [sys.executable, "-m", "hvs_ros.node_process", str(os.getpid()), spec.module]
        return Child(
            spec.name,
            [*command, *spec.ros_arguments(self._log_level)],
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
