"""What the tests of nodes share: a ROS domain for each test, node processes, and a graph to talk to them from."""

from __future__ import annotations

import fcntl
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import rclpy
from rclpy.context import Context
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter

WAIT_S = 15.0
"""Limit of every wait in these tests; on an idle machine they take milliseconds."""


def wait_until(condition: Callable[[], Any], limit_s: float = WAIT_S, what: str = "it") -> Any:
    """Return the condition's first true value."""
    end = time.monotonic() + limit_s
    while not (value := condition()):
        assert time.monotonic() < end, f"waited {limit_s:g} s for {what}"
        time.sleep(0.005)
    return value


@contextmanager
def claim_domain() -> Iterator[int]:
    """A ROS_DOMAIN_ID that no other test uses now, in this or another run of the tests on this machine.

    HVS_TEST_DOMAINS="20-39" restricts the choice.
    """
    first, last = map(int, os.environ.get("HVS_TEST_DOMAINS", "1-99").split("-"))
    candidates = list(range(first, last + 1))
    random.SystemRandom().shuffle(candidates)
    for number in candidates:
        path = Path(tempfile.gettempdir()) / f"hvs_ros_test_domain_{number}_{os.getuid()}.lock"
        with path.open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield number
            return
    pytest.fail(f"every ROS domain from {first} to {last} is in use by tests")


@pytest.fixture
def domain() -> Iterator[int]:
    """A ROS domain of the test's own."""
    with claim_domain() as number:
        yield number


class NodeProcess:
    """A node in a process of its own.

    Attributes:
        log: file with everything it printed.
    """

    def __init__(self, module: str, arguments: list[str], domain: int, log: Path) -> None:
        self.log = log
        self._left: list[Path] = []
        environment = {"ROS_DOMAIN_ID": str(domain), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
        with log.open("wb") as out:
            self._process = subprocess.Popen(
                [sys.executable, "-m", module, *arguments],
                stdout=out,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                env=os.environ | environment,
            )

    @property
    def output(self) -> str:
        """What it has printed so far."""
        return self.log.read_text(errors="replace")

    @property
    def running(self) -> bool:
        """It has not ended."""
        return self._process.poll() is None

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self._process.send_signal(number)

    def wait(self, limit_s: float = WAIT_S) -> int:
        """Wait for its end and return the exit code."""
        return self._process.wait(limit_s)

    def stop(self, number: signal.Signals = signal.SIGINT, limit_s: float = 10.0) -> int:
        """Send a signal, wait for the end and return the exit code."""
        self.send(number)
        return self.wait(limit_s)

    def kill(self) -> None:
        """End it without asking; the shared memory that it then leaves behind is removed by ``clean``."""
        if self.running:
            self._left += self._segments()
            self._process.kill()
        self._process.wait(WAIT_S)

    def clean(self) -> None:
        """Remove the shared memory (68 MB) that it left behind, once no node that it talked to runs any more."""
        for segment in self._left:
            segment.unlink(missing_ok=True)

    def _segments(self) -> list[Path]:
        """Return Fast DDS's segments that the process uses, its own and those of whom it talks to."""
        with suppress(OSError):
            maps = Path(f"/proc/{self._process.pid}/maps").read_text()
            return [Path(name) for name in set(re.findall(r"/dev/shm/fastrtps_[0-9a-f]{16}(?:_el)?", maps))]
        return []


class Launcher:
    """Starts nodes in one domain; a context manager that kills those still running at its end and shows what they said.

    Args:
        domain: ROS_DOMAIN_ID.
        folder: for their output.
    """

    def __init__(self, domain: int, folder: Path) -> None:
        self.domain = domain
        self.folder = folder
        self._started: list[NodeProcess] = []

    def __enter__(self) -> Launcher:
        return self

    def __call__(
        self,
        module: str,
        *,
        namespace: str = "",
        remap: dict[str, str] | None = None,
        arguments: Sequence[str] = (),
        **parameters: object,
    ) -> NodeProcess:
        """Start ``python -m module`` with ROS parameters; ``arguments`` follow ``--ros-args``."""
        line = ["--ros-args"]
        if namespace:
            line += ["-r", f"__ns:=/{namespace.strip('/')}"]
        for old, new in (remap or {}).items():
            line += ["-r", f"{old}:={new}"]
        for name, value in parameters.items():
            line += ["-p", f"{name}:={_parameter_text(value)}"]
        log = self.folder / f"{module.rsplit('.', 1)[-1]}_{len(self._started)}.log"
        process = NodeProcess(module, [*line, *arguments], self.domain, log)
        self._started.append(process)
        return process

    def __exit__(self, *_: object) -> None:
        # Asked first: a killed node leaves its shared memory behind.
        for process in self._started:
            if process.running:
                process.send(signal.SIGTERM)
        for process in self._started:
            with suppress(subprocess.TimeoutExpired):
                process.wait(5.0)
            process.kill()
        for process in self._started:
            process.clean()
            if process.output:
                print(f"--- {process.log.name}\n{process.output}")


@pytest.fixture
def start_node(domain: int, tmp_path: Path) -> Iterator[Launcher]:
    """``start_node(module, namespace=..., remap=..., **parameters)`` starts a node in the test's domain."""
    with Launcher(domain, tmp_path) as launcher:
        yield launcher


def _parameter_text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    # Quoted, or YAML makes a number of "1" and null of "".
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


class Graph:
    """A node of the test's own, spinning in the background, to talk to the nodes under test."""

    def __init__(self, domain: int) -> None:
        self.context = Context()
        os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
        rclpy.init(context=self.context, domain_id=domain)
        self.node = Node("test", context=self.context, parameter_overrides=[Parameter("use_sim_time", value=False)])
        self._executor = MultiThreadedExecutor(4, context=self.context)
        self._executor.add_node(self.node)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()

    def _spin(self) -> None:
        while not self._stop.is_set():
            try:
                self._executor.spin_once(timeout_sec=0.1)
            except ExternalShutdownException:
                return

    def collect(self, kind: type, topic: str, qos: Any = 10) -> list[Any]:
        """Subscribe, and return a list that grows with the messages."""
        messages: list[Any] = []
        self.node.create_subscription(kind, topic, messages.append, qos)
        return messages

    def call(self, kind: type, name: str, request: Any, limit_s: float = WAIT_S) -> Any:
        """Call a service and return the response."""
        client = self.node.create_client(kind, name)
        assert client.wait_for_service(limit_s), f"no service {name}"
        future = client.call_async(request)
        return self.result(future, limit_s)

    @staticmethod
    def result(future: Any, limit_s: float = WAIT_S) -> Any:
        """Wait for a future and return its result."""
        done = threading.Event()
        future.add_done_callback(lambda _: done.set())
        assert done.wait(limit_s), f"no answer within {limit_s:g} s"
        return future.result()

    def wait_for_services(self, *names: str, limit_s: float = WAIT_S) -> None:
        """Wait until all these services, or actions given as ``name/_action/send_goal``, are there."""
        wanted = {f"/{name.strip('/')}" for name in names}
        wait_until(
            lambda: wanted <= {name for name, _ in self.node.get_service_names_and_types()},
            limit_s,
            f"the services {sorted(wanted)}",
        )

    def __enter__(self) -> Graph:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the graph."""
        self._stop.set()
        self._executor.wake()
        self._thread.join(WAIT_S)
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


@pytest.fixture
def graph(domain: int) -> Iterator[Graph]:
    """A node of the test's own in the test's domain."""
    with Graph(domain) as graph:
        yield graph
