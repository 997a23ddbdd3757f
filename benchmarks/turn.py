#!/usr/bin/env python3
"""What a turn of a search costs beside thinking, next to the bare transport of the same picture.

    python benchmarks/turn.py               1920x1080 and 1280x720
    python benchmarks/turn.py --strict      fail if look takes more than twice the bare transport

Bare: a picture of that size goes from one process to another, reliable, from publish() to the callback. Turn: the same
picture comes from panorama_head, and a policy that does not think turns the head 37 degrees each turn; its times are
those that the node itself reports. Both take turns in one run, so that whatever else the machine does hits both.
Everything uses the shared-memory profile of config/, as the nodes do.

    look        from the end of a move to the view in the policy's hands: paired, decoded, marked
    machinery   from the policy's decision to the next view in its hands: goal, move, rendering, transport, look
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from array import array
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np

from hvs_ros.bringup import Bringup, local_environment, sim

SIZES = ((1920, 1080), (1280, 720))
POLICY = "hvs_ros.mock.policy:ScriptedPolicy"
TARGET = 2.0
TOPIC = "bare_transport"


@dataclass
class Times:
    """Milliseconds of one size."""

    bare: list[float] = field(default_factory=list)
    look: list[float] = field(default_factory=list)
    machinery: list[float] = field(default_factory=list)
    render: list[float] = field(default_factory=list)


def main() -> int:
    options = _options()
    if options.publish:
        return _publish(*options.publish)
    os.environ.update(local_environment())
    os.environ.setdefault("ROS_DOMAIN_ID", str(options.domain))
    failed = False
    for width, height in SIZES:
        times = _measure(width, height, options)
        _report(width, height, times)
        failed |= statistics.median(times.look) > TARGET * statistics.median(times.bare)
    return int(failed and options.strict)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=4, help="bare and search take turns so often")
    parser.add_argument("--turns", type=int, default=25, help="turns, and bare pictures, a round")
    parser.add_argument("--domain", type=int, default=87, help="ROS_DOMAIN_ID unless it is set")
    parser.add_argument("--strict", action="store_true", help="fail if look takes more than twice the bare transport")
    parser.add_argument("--publish", type=int, nargs=3, metavar=("WIDTH", "HEIGHT", "COUNT"), help=argparse.SUPPRESS)
    return parser.parse_args()


def _measure(width: int, height: int, options: argparse.Namespace) -> Times:
    from hvs_ros.nodes.search_client import SearchClient

    times = Times()
    with tempfile.TemporaryDirectory() as folder:
        _draw_panorama(Path(folder) / "panorama.jpg")
        nodes = sim(
            scenes=folder,
            policy=POLICY,
            parameters={
                "panorama_head": {"width": width, "height": height},
                "search_policy": {"policy.script": "rotate(37,0)"},
            },
        )
        with Bringup(nodes), SearchClient() as client, _Bare() as bare:
            client.search("warm up", max_turns=3, server_limit_s=60.0)
            for _ in range(options.rounds):
                times.bare += bare.measure(width, height, options.turns)
                record = client.search("turn round", max_turns=options.turns + 1)
                if len(record.turns) != options.turns + 1:
                    raise SystemExit(f"the search ended early: {record.outcome.value}: {record.message}")
                for before, turn in zip(record.turns, record.turns[1:], strict=False):
                    times.look.append(1e3 * turn.times.look_s)
                    times.machinery.append(1e3 * (before.times.move_s + turn.times.look_s))
        times.render = _render_alone(Path(folder) / "panorama.jpg", width, height)
    return times


class _Bare:
    """Receives pictures from a process that does nothing but publish them."""

    def __enter__(self) -> _Bare:
        import rclpy
        from rclpy.context import Context
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.node import Node
        from sensor_msgs.msg import Image

        self._context = Context()
        rclpy.init(context=self._context)
        self._node = Node("bare_transport", context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._taken: list[float] = []
        self._node.create_subscription(Image, TOPIC, self._on_image, _qos())
        return self

    def __exit__(self, *_: object) -> None:
        import rclpy

        self._executor.shutdown()
        self._node.destroy_node()
        rclpy.try_shutdown(context=self._context)

    def measure(self, width: int, height: int, count: int) -> list[float]:
        self._taken.clear()
        command = [sys.executable, __file__, "--publish", str(width), str(height), str(count)]
        with subprocess.Popen(command) as publisher:
            while publisher.poll() is None:
                self._executor.spin_once(timeout_sec=0.1)
        if len(self._taken) < count // 2:
            raise SystemExit(f"only {len(self._taken)} of {count} bare pictures arrived")
        return list(self._taken)

    def _on_image(self, message: object) -> None:
        stamp = message.header.stamp  # type: ignore[attr-defined]
        self._taken.append((time.monotonic_ns() - stamp.sec * 10**9 - stamp.nanosec) / 1e6)


def _publish(width: int, height: int, count: int) -> int:
    import rclpy
    from sensor_msgs.msg import Image

    rclpy.init()
    node = rclpy.create_node("bare_publisher")
    publisher = node.create_publisher(Image, TOPIC, _qos())
    until = time.monotonic() + 10.0
    while publisher.get_subscription_count() == 0 and time.monotonic() < until:
        time.sleep(0.02)
    time.sleep(0.3)
    pixels = np.random.default_rng(1).integers(0, 256, width * height * 3, np.uint8)
    message = Image(height=height, width=width, encoding="bgr8", step=width * 3)
    message.data = array("B", pixels.tobytes())
    for _ in range(count):
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(time.monotonic_ns(), 10**9)
        publisher.publish(message)
        time.sleep(0.1)
    time.sleep(0.3)
    node.destroy_node()
    rclpy.shutdown()
    return 0


def _qos() -> object:
    from rclpy.qos import QoSProfile, ReliabilityPolicy

    return QoSProfile(depth=5, reliability=ReliabilityPolicy.RELIABLE)


def _draw_panorama(path: Path) -> None:
    rng = np.random.default_rng(2)
    small = rng.integers(0, 256, (128, 256, 3), np.uint8)
    cv2.imwrite(str(path), cv2.resize(small, (4096, 2048), interpolation=cv2.INTER_CUBIC))


def _render_alone(path: Path, width: int, height: int) -> list[float]:
    from hvs_ros.panorama import Camera, ViewSampler, open_panorama

    sampler = ViewSampler(open_panorama(path), Camera(width, height, 100.0))
    times = []
    for turn in range(30):
        began = time.perf_counter()
        sampler.render(37.0 * turn, 0.0)
        times.append(1e3 * (time.perf_counter() - began))
    return times[3:]


def _report(width: int, height: int, times: Times) -> None:
    bare = statistics.median(times.bare)
    print(f"\n{width}x{height}, milliseconds          median     p90   x bare transport")
    for name, values in (
        ("bare transport", times.bare),
        ("look", times.look),
        ("machinery", times.machinery),
        ("rendering alone", times.render),
    ):
        median = statistics.median(values)
        p90 = statistics.quantiles(values, n=10)[8]
        print(f"  {name:<26} {median:9.1f} {p90:9.1f} {median / bare:8.2f}")


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main())
