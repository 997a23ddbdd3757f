"""What of a robot's commands a twin takes on another way, and servos on a bus that are a twin's joints."""

from __future__ import annotations

import importlib.util
import math
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from twin_robots import PAN_TILT, pan_tilt

from hvs_ros.mock.twin.stand_in import stand_in
from hvs_ros.neck.robot import Commands, NeckJoint, Robot


def commanded(backend: str, topic: str) -> Robot:
    return replace(PAN_TILT, commands=Commands(backend, topic), torso_commands=Commands("forward_position", "/torso"))


@pytest.mark.parametrize("installed", [True, False])
def test_the_topic_beside_it_stands_in_for_an_action_that_is_not_installed(
    monkeypatch: pytest.MonkeyPatch, installed: bool
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name if installed else None)
    robot = commanded("follow_joint_trajectory", "/a/head_controller/follow_joint_trajectory")
    topic = commanded("joint_trajectory", "/a/head_controller/joint_trajectory")
    assert stand_in(robot) == (robot if installed else topic)


def test_a_port_in_dev_is_left_to_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", "7")
    port = Path(stand_in(commanded("dynamixel", "/dev/ttyUSB0")).commands.topic)
    assert port.is_relative_to(tempfile.gettempdir())
    assert port.parts[-2:] == ("7", "ttyUSB0")
    own = commanded("dynamixel", "/home/me/bus")
    assert stand_in(own) == own


class TestServos:
    """Through the manufacturer's library, as the back end uses it."""

    joints = (NeckJoint("pan", sign=-1, offset=0.5), NeckJoint("tilt"))

    @pytest.fixture
    def twin(self) -> Any:
        pytest.importorskip("mujoco")
        from hvs_ros.mock.twin.twin import Twin

        return Twin(pan_tilt(), PAN_TILT.turn, time.monotonic_ns())

    def servos(self, twin: Any, port: Path) -> Any:
        from hvs_ros.nodes.twin_servos import TwinServos

        commands = Commands("dynamixel", str(port), {"ids": [3, 5]})
        return TwinServos(commands, self.joints, twin, time.monotonic_ns)

    def test_they_are_the_joints_of_the_twin(self, twin: Any, tmp_path: Path) -> None:
        pytest.importorskip("dynamixel_sdk")
        from hvs_ros.nodes.commands.dynamixel_servos import PRESENT_POSITION, TORQUE_ENABLE, ServoBus, number

        port = tmp_path / "ports" / "ttyUSB0"
        servos = self.servos(twin, port)
        bus = ServoBus(str(port), 57600, [3, 5])
        bus.open()

        def ticks() -> dict[int, int]:
            return {servo: number(data) for servo, data in bus.read(PRESENT_POSITION, 4).items()}

        try:
            # pan's driver is at 0 where the URDF's angle is 0.5.
            wait_for(lambda: are_near(ticks(), {3: 2048 + round(0.5 / math.tau * 4096), 5: 2048}))
            for servo in (3, 5):
                bus.write(servo, TORQUE_ENABLE, 1, 1)
            bus.write_goals({3: 2048, 5: 2048 - 200})
            wait_for(lambda: are_near(ticks(), {3: 2048, 5: 2048 - 200}))
            assert twin.state(time.monotonic_ns()).position == pytest.approx((0.5, -200 / 4096 * math.tau), abs=5e-3)
        finally:
            bus.close()
            servos.close()
        assert not port.is_symlink()

    def test_a_port_that_a_killed_twin_left_is_taken_over_and_one_in_use_is_not(
        self, twin: Any, tmp_path: Path
    ) -> None:
        from hvs_ros.mock.twin.physics import TwinError

        port = tmp_path / "ttyUSB0"
        port.symlink_to(tmp_path / "gone")
        servos = self.servos(twin, port)
        with pytest.raises(TwinError, match=rf"cannot be at {port} \(File exists\)"):
            self.servos(twin, port)
        assert port.exists()
        servos.close()
        assert not port.is_symlink()


def are_near(ticks: dict[int, int], wanted: dict[int, int]) -> bool:
    """Return whether servos are where they should be, but for the droop of a joint that carries something."""
    return all(abs(ticks.get(servo, 0) - position) <= 3 for servo, position in wanted.items())


def wait_for(condition: Callable[[], bool], limit_s: float = 15.0) -> None:
    end = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)
