"""A node that is spun in the background, for programs whose main thread has something else to do."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

import rclpy
from rclpy.context import Context
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from hvs_ros.nodes.node_entities import is_of_destroyed

DRAIN_LIMIT_S = 2.0


@contextmanager
def spinning_node(name: str, namespace: str = "", threads: int = 4) -> Iterator[Node]:
    """Make a node in a context of its own and spin it while the block runs; signals are left to the program.

    Args:
        name: of the node.
        namespace: of it; empty: the root.
        threads: how many callbacks may run at the same time.
    """
    context = Context()
    rclpy.init(context=context, signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = Node(name, namespace=namespace, context=context, use_global_arguments=False)
        executor = MultiThreadedExecutor(threads, context=context)
        executor.add_node(node)
        halt = threading.Event()
        thread = threading.Thread(target=_spin, args=(executor, node, halt), name="executor", daemon=True)
        thread.start()
        try:
            yield node
        finally:
            halt.set()
            executor.wake()
            thread.join(DRAIN_LIMIT_S)
            executor.shutdown(DRAIN_LIMIT_S)
            _hear_last(executor, node)
            node.destroy_node()
    finally:
        rclpy.try_shutdown(context=context)


def _spin(executor: MultiThreadedExecutor, node: Node, halt: threading.Event) -> None:
    while not halt.is_set():
        try:
            executor.spin_once(timeout_sec=1.0)
        except ExternalShutdownException:
            return
        except Exception as error:
            if not is_of_destroyed(error):
                text = traceback.format_exc()
                node.get_logger().error(f"a callback failed, which is a bug; the node goes on\n{text}")


def _hear_last(executor: MultiThreadedExecutor, node: Node) -> None:
    """Wait for the callbacks that are left, and look at their errors: nobody did, so they would be printed at exit."""
    pool = executor._executor
    pool.shutdown(wait=False)
    end = time.monotonic() + DRAIN_LIMIT_S
    for thread in list(pool._threads):
        thread.join(max(0.0, end - time.monotonic()))
    for handler in executor._futures:
        error = handler.exception() if handler.done() else None
        if error is not None and not is_of_destroyed(error):
            text = "".join(traceback.format_exception(error))
            node.get_logger().error(f"a callback failed, which is a bug\n{text}")
