"""``hvs check-signs`` with a head that is a stand-in: what is asked, what is recorded, and when nothing is."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hvs_ros.angles import Direction
from hvs_ros.neck.robot_file import load_robot
from hvs_ros.neck.sign_check import passed
from hvs_ros.panorama import Camera, Panorama, ViewSampler
from hvs_ros.search.view import Arrival, MoveOutcome, View

pytest.importorskip("rclpy")
pytest.importorskip("hvs_interfaces")

Hvs = Callable[..., tuple[int, str, str]]
CAMERA = Camera(320, 240, 69.0)


def surroundings() -> ViewSampler:
    rng = np.random.default_rng(5)
    pixels = np.full((512, 1024, 3), 90, np.uint8)
    for _ in range(500):
        x, y, w, h = (int(rng.integers(0, most)) for most in (1024, 512, 100, 80))
        pixels[y : y + h, x : x + w] = rng.integers(0, 255, 3)
    return ViewSampler(Panorama.from_array(pixels), CAMERA)


class StandIn:
    """A head whose joints are yaw and pitch; with ``yaw_sign`` -1 it really turns the other way than they say."""

    def __init__(self, yaw_sign: int = 1, outcome: MoveOutcome = MoveOutcome.REACHED) -> None:
        self._sampler, self._sign, self._outcome = surroundings(), yaw_sign, outcome
        self.direction = Direction(0.0, 0.0)
        self.speeds: list[float] = []

    def turn_to(self, direction: Direction, max_velocity: float = 0.0) -> Arrival:
        self.speeds.append(max_velocity)
        self.direction = direction.normalized()
        return Arrival(self._outcome, self.direction, message="the brake is on")

    def look(self) -> View:
        image = self._sampler.render(self._sign * self.direction.yaw_deg, self.direction.pitch_deg)
        return View(image, self.direction, 0, CAMERA.hfov_deg)

    def joints(self) -> dict[str, float]:
        yaw = math.remainder(math.radians(self.direction.yaw_deg), 2 * math.pi)
        return {"pan": -yaw, "tilt": -math.radians(self.direction.pitch_deg)}


@pytest.fixture
def check(hvs: Hvs, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., tuple[int, str]]:
    """Run the verb on a pan-tilt unit with a stand-in and an operator's answers; None: there is no terminal."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr("hvs_ros.cli.head_specs.require_packages", lambda *_, **__: None)
    limits = {"yaw_min": -1.5, "yaw_max": 1.5, "pitch_min": -0.7, "pitch_max": 0.7, "yaw_continuous": False}

    @contextmanager
    def graph(*_: Any, **__: Any) -> Iterator[SimpleNamespace]:
        yield SimpleNamespace(node=None, trouble=lambda: "", capabilities=SimpleNamespace(**limits))

    monkeypatch.setattr("hvs_ros.cli.check_signs.robot_graph", graph)

    def run(head: StandIn, answers: list[str] | None, *more: str) -> tuple[int, str]:
        @contextmanager
        def watched(*_: Any) -> Iterator[StandIn]:
            yield head

        monkeypatch.setattr("hvs_ros.nodes.watched_head.watched_head", watched)
        monkeypatch.setattr("sys.stdin.isatty", lambda: answers is not None, raising=False)
        left = iter(answers or [])
        monkeypatch.setattr("builtins.input", lambda _: next(left))
        code, out, err = hvs("check-signs", "--robot", "pan_tilt", *more)
        assert not err
        return code, out

    return run


def test_four_times_yes_lets_the_head_move_at_full_speed(check: Callable[..., tuple[int, str]]) -> None:
    head = StandIn()
    code, out = check(head, ["y", "yes", "y", "what?", "Y", "y"])
    assert code == 0 and "passed: pan_tilt moves at full speed" in out
    assert out.count("the camera saw the same") == 4 and "ITS OWN left" in out
    assert passed(load_robot("pan_tilt"))
    assert max(head.speeds) <= 0.2 and min(head.speeds) > 0.0


def test_a_no_names_the_joint_and_records_nothing(check: Callable[..., tuple[int, str]]) -> None:
    code, out = check(StandIn(), ["y", "y", "y", "n", "y"])
    assert code == 1 and "up: look at `sign:` of tilt" in out and "NOT PASSED" in out
    assert not passed(load_robot("pan_tilt"))


def test_the_camera_is_believed_more_than_four_times_yes(check: Callable[..., tuple[int, str]]) -> None:
    code, out = check(StandIn(yaw_sign=-1), ["y"] * 5)
    assert code == 1 and out.count("THE CAMERA SAW THE OPPOSITE") == 2
    assert "left and right: look at `sign:` of pan" in out
    assert not passed(load_robot("pan_tilt"))


def test_who_does_not_want_it_to_move_is_heard(check: Callable[..., tuple[int, str]]) -> None:
    head = StandIn()
    code, out = check(head, ["n"])
    assert code == 0 and "nothing was moved" in out and not head.speeds


@pytest.mark.parametrize("more", [["--confirm"], ["--twin"]])
def test_nobody_asked_nothing_recorded(
    check: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch, more: list[str]
) -> None:
    code, out = check(StandIn(), None, *more)
    assert code == 0 and "nothing is recorded" in out
    assert not passed(load_robot("pan_tilt"))


def test_a_head_that_does_not_arrive_ends_it(
    hvs: Hvs, check: Callable[..., tuple[int, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(AssertionError, match="not settled: the brake is on"):
        check(StandIn(outcome=MoveOutcome.NOT_SETTLED), None, "--confirm")
