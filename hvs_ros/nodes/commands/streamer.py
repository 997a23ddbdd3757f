"""A thread that sends set-points as long as there are any.

It is no timer of the node's: those wait for a free thread of the executor, and a hold must not.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import cast

from rclpy.clock import ROSClock
from rclpy.node import Node

from hvs_ros.neck.joints import Joints
from hvs_ros.neck.trajectory import Trajectory
from hvs_ros.nodes.commands.set_points import SetPoints

END_LIMIT_S = 1.0


def motion_clock(node: Node) -> Callable[[], float]:
    """Return the clock of motions [s]: a simulation's where there is one, or else a steady one, which nobody sets."""
    clock = cast(ROSClock, node.get_clock())
    return lambda: float(clock.now().nanoseconds) * 1e-9 if clock.ros_time_is_active else time.monotonic()


class Streamer:
    """Sleeps while there is nothing to send. Thread-safe.

    Args:
        set_points: what to send.
        send: sends a set-point; called by one thread at a time, never after ``close``.
        period: s.
    """

    def __init__(self, set_points: SetPoints, send: Callable[[Joints], None], period: float) -> None:
        self._set_points = set_points
        self._send = send
        self._period = period
        self._changed = threading.Condition()
        self._news = False
        self._open = True
        self._thread = threading.Thread(target=self._run, name="set-points", daemon=True)
        self._thread.start()

    def execute(self, trajectory: Trajectory) -> None:
        """Stream a motion, in place of the one under way."""
        with self._changed:
            self._set_points.execute(trajectory)
            self._wake()

    def hold(self, position: Joints) -> None:
        """Send a position before this returns, and a while longer."""
        with self._changed:
            self._set_points.hold(position)
            self._send_next()
            self._wake()

    def close(self) -> None:
        """Send nothing any more."""
        with self._changed:
            self._open = False
            self._wake()
        self._thread.join(END_LIMIT_S)

    def _wake(self) -> None:
        self._news = True
        self._changed.notify_all()

    def _send_next(self) -> bool:
        """Send the next set-point, if there is one. Under the lock, so that nothing older can follow a hold."""
        point = self._set_points.next() if self._open else None
        if point is not None:
            self._send(point)
        return point is not None

    def _run(self) -> None:
        due = time.monotonic()
        with self._changed:
            while self._open:
                self._news = False
                sent = self._send_next()
                # One period after the last, and not two at once after a pause.
                due = max(due + self._period, time.monotonic())
                while self._open and not self._news and (not sent or time.monotonic() < due):
                    self._changed.wait(due - time.monotonic() if sent else None)
                if self._news:
                    due = time.monotonic()
