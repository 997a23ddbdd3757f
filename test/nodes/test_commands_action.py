"""What a trajectory controller says, in words; and where control_msgs is installed, goals that go wrong."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from action_msgs.msg import GoalStatus
from controllers import JOINTS, START, driver
from ros_domain import claim_domain
from ros_graph import Graph, wait_until

from hvs_ros.neck.commands import CommandBackend, CommandError, Verdict
from hvs_ros.neck.robot import Commands
from hvs_ros.neck.trajectory import Trajectory, plan_together
from hvs_ros.nodes.commands.controller_verdict import controller_verdict
from hvs_ros.nodes.commands.registry import BackendSetup, create_backend

TARGET = (0.5, -0.4)
ACTION = "/neck/follow"
DONE, ABORTED, CANCELED = GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_ABORTED, GoalStatus.STATUS_CANCELED


@pytest.mark.parametrize(("accepted", "status"), [(None, None), (True, None)])
def test_no_verdict_while_a_motion_is_under_way(accepted: bool | None, status: int | None) -> None:
    assert controller_verdict(ACTION, ["pan"], accepted, status, 0, "") is None


@pytest.mark.parametrize(
    ("accepted", "status", "code", "text", "says"),
    [
        (False, None, 0, "", "/neck/follow refused the goal.*active.*exactly pan, servo_tilt.*allow_partial"),
        (True, ABORTED, -1, "empty", "INVALID_GOAL.*; it says: empty"),
        (True, ABORTED, -2, "", "INVALID_JOINTS: its joints are others$"),
        (True, ABORTED, -3, "", "OLD_HEADER_TIMESTAMP.*use_sim_time"),
        (True, ABORTED, -4, "pan: 0.2 > 0.1 ", "PATH_TOLERANCE_VIOLATED.*it says: pan: 0.2 > 0.1$"),
        (True, ABORTED, -5, "", "GOAL_TOLERANCE_VIOLATED"),
        (True, ABORTED, 0, "", "/neck/follow aborted the motion$"),
        (True, ABORTED, 77, "motor cold", "failed with the error code 77; it says: motor cold"),
        (True, DONE, -5, "", "GOAL_TOLERANCE_VIOLATED"),
        (True, CANCELED, 0, "", "canceled the motion: somebody else"),
    ],
)
def test_a_failure_in_words(accepted: bool, status: int | None, code: int, text: str, says: str) -> None:
    verdict = controller_verdict(ACTION, ["pan", "servo_tilt"], accepted, status, code, text)
    assert verdict is not None and not verdict.succeeded
    assert re.search(says, verdict.message)


def test_success() -> None:
    assert controller_verdict(ACTION, ["pan"], True, DONE, 0, "Goal reached") == Verdict(True, "Goal reached")


@pytest.fixture(scope="module")
def graph() -> Iterator[Graph]:
    """One for all: every test has names of its own."""
    with claim_domain() as domain, Graph(domain) as graph:
        yield graph


@pytest.fixture
def namespace(request: pytest.FixtureRequest) -> str:
    """A part of every name."""
    return re.sub(r"\W+", "_", request.node.name).strip("_")


def test_without_control_msgs_the_message_says_what_to_do(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "control_msgs.action", None)
    with pytest.raises(CommandError, match=r"'follow_joint_trajectory': .*apt install.*back end joint_trajectory"):
        make(graph, ACTION)


def make(graph: Graph, action: str) -> CommandBackend:
    return create_backend(BackendSetup(graph.node, JOINTS, Commands("follow_joint_trajectory", action)))


def move(start: tuple[float, ...], target: tuple[float, ...]) -> Trajectory:
    return plan_together(start, [0.0, 0.0], target, max_velocity=[1.5] * 2, max_acceleration=[15.0] * 2)


@pytest.fixture
def serve(graph: Graph, namespace: str) -> Iterator[Callable[..., Any]]:
    """Starts a controller and returns it with a back end that has found it."""
    pytest.importorskip("control_msgs")
    from action_controller import ActionController

    ends: list[Callable[[], None]] = []

    def start(**options: Any) -> tuple[ActionController, CommandBackend]:
        action = f"{namespace}/follow"
        controller, backend = ActionController(graph.node, action, **options), make(graph, action)
        ends.extend((backend.close, controller.close))
        wait_until(lambda: not backend.problem(), what="the controller")
        return controller, backend

    yield start
    for end in ends:
        end()


def test_a_motion_that_succeeds(serve: Callable[..., Any]) -> None:
    _, backend = serve()
    backend.execute(move(START, TARGET))
    assert wait_until(backend.verdict, what="the verdict").succeeded


def test_a_goal_that_is_refused(serve: Callable[..., Any]) -> None:
    controller, backend = serve()
    controller.refuses = True
    backend.execute(move(START, TARGET))
    verdict = wait_until(backend.verdict, what="the verdict")
    assert not verdict.succeeded and "/follow refused the goal" in verdict.message
    controller.refuses = False
    backend.execute(move(START, TARGET))
    assert wait_until(backend.verdict, what="the verdict").succeeded


def test_a_goal_that_is_aborted(serve: Callable[..., Any]) -> None:
    controller, backend = serve()
    controller.code = -5
    backend.execute(move(START, TARGET))
    verdict = wait_until(backend.verdict, what="the verdict")
    assert not verdict.succeeded
    assert "GOAL_TOLERANCE_VIOLATED" in verdict.message and "tilt is 0.0123 off" in verdict.message


@pytest.mark.parametrize("preempts", [True, False])
def test_the_older_motion_ends_when_a_newer_one_has_begun(serve: Callable[..., Any], preempts: bool) -> None:
    controller, backend = serve(preempts=preempts)
    backend.execute(move(START, TARGET))
    wait_until(lambda: controller.heard() == 1, what="the first goal")
    backend.execute(move(START, (-0.1, 0.1)))
    wait_until(lambda: len(controller.ends) == 2, what="both ends")
    assert controller.ends[0] in ("preempted", "canceled") and controller.ends[1] == "succeeded"
    assert wait_until(backend.verdict, what="the verdict").succeeded
    assert controller.position() == pytest.approx(driver((-0.1, 0.1)))


def test_a_hold_ends_the_motion_even_before_it_was_accepted(serve: Callable[..., Any]) -> None:
    controller, backend = serve(preempts=False)
    backend.execute(motion := move(START, TARGET))
    backend.hold(START)
    wait_until(lambda: len(controller.ends) == 2, what="both ends")
    time.sleep(motion.duration)
    assert controller.position() == pytest.approx(driver(START), abs=0.01)
    assert sorted(controller.ends) == ["canceled", "succeeded"] and backend.verdict() is None


def test_a_hold_that_is_refused_is_told(serve: Callable[..., Any], capfd: pytest.CaptureFixture[str]) -> None:
    controller, backend = serve()
    backend.execute(move(START, TARGET))
    wait_until(lambda: controller.heard() == 1, what="the goal")
    controller.refuses = True
    backend.hold(START)
    said = ""

    def told() -> bool:
        nonlocal said
        assert backend.verdict() is None
        said += capfd.readouterr().err
        return "/follow refused the goal" in said and "hold: " in said

    wait_until(told, what="the warning")
    assert wait_until(lambda: controller.ends, what="the end") == ["canceled"]


def test_close_cancels_the_motion(serve: Callable[..., Any]) -> None:
    controller, backend = serve()
    backend.execute(move(START, TARGET))
    wait_until(lambda: controller.heard() == 1, what="the goal")
    backend.close()
    wait_until(lambda: controller.ends == ["canceled"], what="the end")
    assert "closed" in backend.problem()
