"""A robot's base as far as its gaze needs it: where it points, and turning it by velocity commands.

Commands go out from a thread of their own and only while the base turns: a busy executor must not leave it turning, and
nobody else who drives the base is disturbed between turns. If the executor stalls, odometry becomes old, and the turn
ends. Every end, whatever its reason, is a velocity of zero, repeated in case one is lost.
"""

from __future__ import annotations

import math
import threading
import time
from typing import Any

from geometry_msgs.msg import Twist, TwistStamped
from nav_msgs.msg import Odometry
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy

from hvs_ros.neck.heading import HeadingHistory, yaw_of
from hvs_ros.neck.heading_controller import (
    ODOMETRY_LIMIT_S,
    HeadingController,
    SeenHeading,
    TurnFailure,
    TurnState,
)
from hvs_ros.neck.robot import BaseTurn
from hvs_ros.nodes.convert import NS, time_message, time_ns

try:
    from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
except ImportError:  # Humble
    from rclpy.qos_event import PublisherEventCallbacks, SubscriptionEventCallbacks

PERIOD_S = 0.05
ZEROS = 3
"""So often is zero commanded at the end of a turn."""
CLOSE_LIMIT_S = 2.0
CLOCK_LIMIT_NS = NS
"""Odometry whose stamp is so far from the node's clock is stamped when it arrives."""


class BaseDriver:
    """Turns a base and knows its heading. Thread-safe; nothing here waits for anything but ``close``.

    Headings are radians, left positive, not wrapped; 0 is where the base pointed at the first odometry.

    Args:
        node: spun by an executor in some other thread.
        turn: topics and limits.
        odometry_limit_s: it does not turn with older odometry.
    """

    def __init__(self, node: Node, turn: BaseTurn, odometry_limit_s: float = ODOMETRY_LIMIT_S) -> None:
        self._node = node
        self._turn = turn
        self._odometry_limit_s = odometry_limit_s
        self._lock = threading.Lock()
        self._history = HeadingHistory()
        self._controller = HeadingController(turn, odometry_limit_s)
        self._arrived: float | None = None
        self._unusable = ""
        self._thread: threading.Thread | None = None
        self._zeros = 0
        self._closed = threading.Event()
        kind = TwistStamped if turn.stamped else Twist
        # An executor that waits for events of what is being destroyed stumbles; without events it does not.
        self._publisher = node.create_publisher(
            kind, turn.cmd_vel, 1, event_callbacks=PublisherEventCallbacks(use_default_callbacks=False)
        )
        # Best effort hears reliable publishers too.
        self._subscription = node.create_subscription(
            Odometry,
            turn.odom,
            self._on_odometry,
            QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT),
            callback_group=MutuallyExclusiveCallbackGroup(),
            event_callbacks=SubscriptionEventCallbacks(use_default_callbacks=False),
        )

    def heading(self) -> float | None:
        """Return where the base points [rad]; None before the first odometry."""
        with self._lock:
            latest = self._history.latest()
            return None if latest is None else latest.heading

    def destination(self) -> float | None:
        """Return where it will point [rad] when the turn under way has ended; without one, where it points."""
        with self._lock:
            if self._controller.state is TurnState.TURNING:
                return self._controller.target
            latest = self._history.latest()
            return None if latest is None else latest.heading

    def at(self, stamp_ns: int) -> float | None:
        """Return where it pointed [rad] at a moment of the ROS clock; None where that is not known (any more)."""
        with self._lock:
            return self._history.at(stamp_ns)

    def rate(self) -> float:
        """Return how fast it turns [rad/s]; 0 while that is not known."""
        with self._lock:
            return self._history.rate()

    def turn_to(self, heading: float, timeout: float | None = None) -> None:
        """Begin to turn, in place of the turn under way.

        Args:
            heading: rad, not wrapped.
            timeout: s; None: twice what such a turn takes, and 5 s.

        Raises:
            ValueError: the heading is no finite number.
        """
        if not math.isfinite(heading):
            raise ValueError(f"the base cannot turn to {heading}")
        with self._lock:
            if self._closed.is_set():
                return
            self._controller.start(heading, time.monotonic(), timeout)
            if self._thread is None:
                self._thread = threading.Thread(target=self._drive, name="base", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """End the turn; zero is commanded before this returns. Without a turn nothing is commanded."""
        with self._lock:
            if self._thread is not None:
                self._controller.stop(time.monotonic())
                self._publish(0.0)
                self._zeros = 1

    def state(self) -> TurnState:
        """Return what has become of the last turn; IDLE before the first, and after ``stop``."""
        with self._lock:
            return self._controller.state

    def failure(self) -> TurnFailure | None:
        """Return why the last turn has failed; None: it has not."""
        with self._lock:
            return self._controller.failure

    def message(self) -> str:
        """Return the same for a person; empty: it has not failed."""
        with self._lock:
            return self._controller.message

    def problem(self) -> str:
        """Return why the base cannot be turned now; empty: it can."""
        with self._lock:
            arrived, unusable = self._arrived, self._unusable
        if arrived is None or time.monotonic() - arrived > self._odometry_limit_s:
            since = "" if arrived is None else f" for {time.monotonic() - arrived:.1f} s"
            return f"no odometry from {self._subscription.topic_name}{since}: {unusable or self._publishers()}"
        if self._publisher.get_subscription_count() == 0:
            return f"nobody listens to velocity commands on {self._publisher.topic_name}"
        return ""

    def close(self) -> None:
        """Stop the base, wait until that has been said often enough, and give everything back."""
        self._closed.set()
        self.stop()
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join(CLOSE_LIMIT_S)
        self._node.destroy_subscription(self._subscription)
        self._node.destroy_publisher(self._publisher)

    def _drive(self) -> None:
        due = time.monotonic()
        while True:
            with self._lock:
                if not self._command(time.monotonic()):
                    self._thread = None
                    return
            due = max(due + PERIOD_S, time.monotonic())
            time.sleep(max(0.0, due - time.monotonic()))

    def _command(self, now: float) -> bool:
        """Publish the next command; return whether there are more to come."""
        if self._controller.state is TurnState.TURNING:
            self._zeros = 0
            velocity = self._controller.update(now, self._seen())
            if self._controller.state is TurnState.TURNING:
                self._publish(velocity)
                return True
        self._publish(0.0)
        self._zeros += 1
        return self._zeros < ZEROS

    def _seen(self) -> SeenHeading | None:
        latest = self._history.latest()
        if latest is None or self._arrived is None:
            return None
        return SeenHeading(self._arrived, latest.heading, self._history.rate())

    def _publish(self, velocity: float) -> None:
        message: Any = TwistStamped() if self._turn.stamped else Twist()
        twist = message.twist if self._turn.stamped else message
        twist.angular.z = velocity
        if self._turn.stamped:
            message.header.stamp = time_message(self._node.get_clock().now().nanoseconds)
        self._publisher.publish(message)

    def _on_odometry(self, message: Odometry) -> None:
        rotation = message.pose.pose.orientation
        yaw = yaw_of(rotation.x, rotation.y, rotation.z, rotation.w)
        if yaw is None:
            self._unusable = "its orientation is no rotation (all zeros, or not a number)"
            return
        now = int(self._node.get_clock().now().nanoseconds)
        stamp = time_ns(message.header.stamp)
        if abs(stamp - now) > CLOCK_LIMIT_NS:
            self._node.get_logger().warning(
                f"{self._turn.odom} is stamped {(stamp - now) / NS:.1f} s off this node's clock; it is taken as of its"
                " arrival",
                once=True,
            )
            stamp = now
        with self._lock:
            resets = self._history.resets
            self._history.add(stamp, yaw)
            self._arrived = time.monotonic()
            reset = self._history.resets > resets
        if reset:
            self._node.get_logger().warning(f"{self._turn.odom} has jumped; the heading goes on from where it was")

    def _publishers(self) -> str:
        publishers = self._node.get_publishers_info_by_topic(self._subscription.topic_name)
        if not publishers:
            return "nobody publishes it"
        kinds = sorted({info.topic_type for info in publishers} - {"nav_msgs/msg/Odometry"})
        if kinds:
            return f"it is of type {', '.join(kinds)} instead of nav_msgs/msg/Odometry"
        return "it is published, but nothing arrives"
