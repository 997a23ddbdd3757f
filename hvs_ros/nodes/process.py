"""Runs a node as a process that starts, or says in one line why not, and that ends quietly.

rclpy's own signal handlers shut the context down at once, so that a node can neither finish a goal nor say goodbye.
Here SIGINT and SIGTERM only wake the main thread, which has nothing else to do: callbacks run in the executor, which
spins in a thread of its own. The node's ``close`` is called while the executor still spins, so that it can end goals
and publish a last state; then spinning stops and everything is taken down. A watchdog ends the process if any of this
hangs, and a second one, which needs no Python, if that cannot: rarely, when two nodes go at the same moment, Fast DDS
waits for ever and lets no other thread run.

An exception in a callback is logged and the node goes on: a bug in one callback must not leave a head uncontrollable.
Not logged is the one that says that something was destroyed meanwhile, as a managed node does when it is cleaned up.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Protocol, TextIO, runtime_checkable

import rclpy
from rclpy.exceptions import NameValidationException
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args, try_shutdown

from hvs_ros.bringup import graph_environment
from hvs_ros.nodes.node_entities import is_of_destroyed
from hvs_ros.nodes.parameters import ParameterError, warn_unknown
from hvs_ros.share import ShareError

SHUTDOWN_LIMIT_S = 8.0
"""From the signal to the end of the process, whatever hangs."""
DRAIN_LIMIT_S = 4.0
"""Part of it: how long callbacks under way are waited for after ``close``."""
SWITCH_INTERVAL_S = 0.0005
"""How long a thread may keep the others of a node from running. With Python's own 5 ms the executor, which is busy by
itself at some hundred messages a second, leaves each callback waiting so long that they pile up: half a second, for the
joint states of a head in motion.
"""
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StartError(Exception):
    """A node cannot start, for a reason that a person can act on: it becomes one line, not a traceback."""


EXPLAINED: tuple[type[Exception], ...] = (StartError, ParameterError, NameValidationException)
"""Errors at the start whose text is all that there is to say."""


@runtime_checkable
class Closable(Protocol):
    """A node that has something to finish before it goes."""

    def close(self) -> None:
        """End goals, publish the last state, close files.

        Called once, in the main thread, while callbacks still run. It may take seconds, not more.
        """
        ...


def run_node(
    factory: Callable[[], Node],
    args: Sequence[str] | None = None,
    *,
    threads: int = 8,
    known: tuple[type[Exception], ...] = (),
) -> int:
    """Start the node, run it until SIGINT or SIGTERM, and return the exit code: 0, or 1 if it could not start.

    Call it from the main thread, where signals are delivered, and end the process with what it returns: SIGINT and
    SIGTERM stay ignored.

    Args:
        factory: makes the node; rclpy is initialised by then.
        args: command line with the program's name first; None: ``sys.argv``.
        threads: how many callbacks may run, or wait, at the same time.
        known: exceptions of the factory that explain themselves, beside ``StartError`` and ``ParameterError``.
    """
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    line = list(sys.argv if args is None else args)
    name = Path(line[0]).stem if line else "node"
    watchdog = threading.Timer(SHUTDOWN_LIMIT_S, _bite, args=(name,))
    watchdog.daemon = True
    node: Node | None = None
    try:
        node = _start(factory, line)
        ended = _run_until_signal(node, threads, watchdog)
    except KeyboardInterrupt:  # while it started
        return 0
    except (*EXPLAINED, *known) as error:
        _say(name, str(error))
        return 1
    finally:
        # For good: Python's own handlers would let an impatient second Ctrl-C cut the interpreter's end short.
        _handle_signals(signal.SIG_IGN)
        if node is not None:
            node.destroy_node()
        try_shutdown()
    if ended:
        # Otherwise it stays: the interpreter waits for its threads at exit.
        watchdog.cancel()
        faulthandler.cancel_dump_traceback_later()
    return 0


def _start(factory: Callable[[], Node], line: list[str]) -> Node:
    _handle_signals(_interrupt)
    try:
        os.environ.update(graph_environment())
    except ShareError as error:
        print(f"[WARN] pictures may travel slowly: {error}", file=sys.stderr)
    try:
        rclpy.init(args=line, signal_handler_options=SignalHandlerOptions.NO)
        rest = remove_ros_args(line)
    except RuntimeError as error:
        raise StartError(f"the ROS arguments are not understood: {error}") from error
    if len(rest) > 1:
        raise StartError(f"unknown argument {rest[1]!r}: parameters are given as --ros-args -p name:=value")
    node = factory()
    warn_unknown(node)
    return node


def _run_until_signal(node: Node, threads: int, watchdog: threading.Timer) -> bool:
    """Run the node; return whether all its callbacks have ended."""
    stop, halt = threading.Event(), threading.Event()
    executor = MultiThreadedExecutor(threads)
    executor.add_node(node)
    spinner = threading.Thread(target=_spin, args=(executor, node, halt, stop), name="executor", daemon=True)
    _handle_signals(lambda *_: stop.set())
    spinner.start()
    stop.wait()
    watchdog.start()
    faulthandler.dump_traceback_later(SHUTDOWN_LIMIT_S + 1.0, exit=True, file=_nowhere())
    try:
        if isinstance(node, Closable):
            node.close()
    finally:
        halt.set()
        # Only work makes spin_once return; a wake-up alone makes it wait again.
        executor.create_task(lambda: None)
        spinner.join()
        # What callbacks use must not be destroyed under them, and shutdown() does not wait for them in Jazzy.
        ended = _drain(executor, DRAIN_LIMIT_S)
        executor.shutdown(0)
    return ended


def _drain(executor: MultiThreadedExecutor, limit_s: float) -> bool:
    """Wait until every callback that the spinning handed out has ended; return whether all have.

    The executor's own count begins only when a callback does. One that still waits for a thread of the pool would find
    the executor destroyed, and its error would be printed at exit. So it is the pool that is waited for.
    """
    end = time.monotonic() + limit_s
    pool = executor._executor
    pool.shutdown(wait=False)
    threads = list(pool._threads)
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    return not any(thread.is_alive() for thread in threads)


def _spin(executor: MultiThreadedExecutor, node: Node, halt: threading.Event, stop: threading.Event) -> None:
    # The executor keeps some callbacks twice, and raises their error as often.
    reported: deque[Exception] = deque(maxlen=16)
    while not halt.is_set() and node.context.ok():
        try:
            executor.spin_once()
        except ExternalShutdownException:
            break
        except Exception as error:
            if is_of_destroyed(error):
                node.get_logger().debug(f"a callback ended early: {error}")
            elif not any(error is earlier for earlier in reported):
                reported.append(error)
                text = "".join(traceback.format_exception(error))
                node.get_logger().error(f"a callback failed, which is a bug; the node goes on\n{text}")
    stop.set()


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    """During start-up the main thread is busy; a signal interrupts it."""
    raise KeyboardInterrupt


def _handle_signals(handler: Callable[[int, FrameType | None], None] | signal.Handlers) -> None:
    for number in SIGNALS:
        signal.signal(number, handler)


def _nowhere() -> TextIO:
    """Return where nobody reads; open until the process ends."""
    return Path(os.devnull).open("w")


def _bite(name: str) -> None:
    _say(name, f"did not end within {SHUTDOWN_LIMIT_S:g} s of the signal; something hangs, the process ends anyway")
    sys.stderr.flush()
    os._exit(1)


def _say(name: str, message: str) -> None:
    print(f"[FATAL] [{name}]: {message}", file=sys.stderr)
