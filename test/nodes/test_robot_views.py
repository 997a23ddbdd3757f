"""Views of a robot's head whose joint states and pictures do not come as they should."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("pinocchio")

from hvs_ros.nodes import robot_views
from hvs_ros.nodes.head_camera import ViewError
from hvs_ros.nodes.robot_parameters import RobotHeadParameters
from hvs_ros.nodes.robot_views import RobotViews

PERIOD_NS = 33_000_000


class Camera:
    """Has a picture for every moment."""

    def frame_after(self, stamp_ns: int, limit_s: float, stopped: Any) -> Any:
        return None if stopped() else SimpleNamespace(stamp_ns=-(-stamp_ns // PERIOD_NS) * PERIOD_NS)

    def problem(self) -> str:
        return "none"


class Gaze:
    """Knows where the head looked from a moment on."""

    def __init__(self, known_from_ns: float) -> None:
        self._known_from_ns = known_from_ns

    def settled_ns(self) -> int:
        return 10 * PERIOD_NS

    def at(self, stamp_ns: int) -> Any:
        return SimpleNamespace(stamp_ns=stamp_ns, settled=True) if stamp_ns >= self._known_from_ns else None


@pytest.fixture
def views(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(robot_views, "ViewPublisher", lambda *_: SimpleNamespace(set_rate=lambda _: None))
    monkeypatch.setattr(robot_views, "JOINTS_LIMIT_S", 0.01)
    monkeypatch.setattr(RobotViews, "_publish", lambda _, frame, moment: moment)

    def make(gaze: Gaze) -> RobotViews:
        nothing: Any = None
        parameters = RobotHeadParameters(view_timeout=0.2)
        made = RobotViews(nothing, parameters, Camera(), gaze, nothing, nothing)  # type: ignore[arg-type]
        made.switch(on=True)
        return made

    return make


def test_the_first_picture_of_the_settled_head_is_taken(views: Any) -> None:
    assert views(Gaze(0)).shoot(lambda: False).stamp_ns == 10 * PERIOD_NS


def test_a_picture_around_which_joint_states_were_lost_is_passed_over(views: Any) -> None:
    assert views(Gaze(13 * PERIOD_NS)).shoot(lambda: False).stamp_ns == 13 * PERIOD_NS


def test_a_camera_whose_pictures_never_meet_joint_states_is_named(views: Any) -> None:
    with pytest.raises(ViewError, match="same clock"):
        views(Gaze(float("inf"))).shoot(lambda: False)


def test_the_wait_can_be_ended(views: Any) -> None:
    looks = itertools.count()
    assert views(Gaze(float("inf"))).shoot(lambda: next(looks) > 3) is None
