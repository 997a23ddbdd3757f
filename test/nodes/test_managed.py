"""What every managed node gets from its base: transitions that undo what they did, whatever goes wrong."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from lifecycle import Lifecycle
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from ros_domain import claim_domain
from ros_graph import Graph, wait_until
from std_msgs.msg import String
from std_srvs.srv import Trigger

from hvs_ros.nodes.managed import ManagedNode
from hvs_ros.nodes.process import StartError

SUCCESS, FAILURE, ERROR = (
    TransitionCallbackReturn.SUCCESS,
    TransitionCallbackReturn.FAILURE,
    TransitionCallbackReturn.ERROR,
)
KINDS = ("publishers", "subscriptions", "services", "clients", "timers", "guards", "waitables")


class TorqueError(Exception):
    """An error that the node knows."""


class Recorder(ManagedNode):
    """Writes down what is called, and does wrong what it is told to."""

    known = (TorqueError,)

    def __init__(self, **options: Any) -> None:
        super().__init__("recorder", **options)
        self.calls: list[str] = []
        self.wrong: dict[str, BaseException] = {}
        self.may_start = threading.Event()
        self.may_start.set()
        self.owned = {kind: len(list(getattr(self, kind))) for kind in KINDS}

    def setup(self) -> None:
        self.create_publisher(String, "talk", 1)
        self.create_subscription(String, "talk", lambda _: None, 1)
        self.create_timer(10.0, lambda: None)
        self.on_teardown(lambda: self.calls.append("first undone last"))
        self.on_teardown(lambda: self.calls.append("last undone first"))
        self._call("setup")
        self.create_service(Trigger, "ask", lambda _, answer: answer)

    def start(self) -> None:
        self._call("start")
        assert self.may_start.wait(15.0)

    def halt(self) -> None:
        self._call(f"halt: {self.halt_reason}")

    def teardown(self) -> None:
        self._call("teardown")

    def _call(self, what: str) -> None:
        self.calls.append(what)
        if (error := self.wrong.get(what.split(":")[0])) is not None:
            raise error

    @property
    def is_bare(self) -> bool:
        """It owns what it did after its construction, and no more."""
        return self.owned == {kind: len(list(getattr(self, kind))) for kind in KINDS}


@pytest.fixture(scope="module")
def shared_graph() -> Iterator[Graph]:
    with claim_domain() as domain, Graph(domain) as graph:
        yield graph


@pytest.fixture
def make(shared_graph: Graph) -> Iterator[Callable[..., Recorder]]:
    made: list[Recorder] = []

    def make(**parameters: object) -> Recorder:
        overrides = [Parameter(name, value=value) for name, value in parameters.items()]
        made.append(Recorder(context=shared_graph.context, parameter_overrides=overrides))
        return made[-1]

    yield make
    for node in made:
        node.destroy_node()


def test_a_whole_life_undoes_what_it_did(make: Callable[..., Recorder]) -> None:
    node = make()
    assert node.trigger_configure() == SUCCESS and node.configured and not node.active
    assert not node.is_bare and "inactive" in node.refusal and "activate" in node.refusal
    assert node.trigger_activate() == SUCCESS and node.active and not node.refusal
    assert node.trigger_deactivate() == SUCCESS and not node.active and node.configured
    assert node.trigger_cleanup() == SUCCESS and not node.configured and node.is_bare
    undone = ["teardown", "last undone first", "first undone last"]
    assert node.calls == ["setup", "start", "halt: recorder was deactivated", *undone]
    node.calls.clear()
    assert node.trigger_configure() == node.trigger_activate() == node.trigger_shutdown() == SUCCESS
    assert node.calls == ["setup", "start", "halt: recorder shuts down", *undone] and node.is_bare


def test_the_end_of_the_process_halts_it_but_leaves_its_topics_until_the_last_messages_have_left(
    make: Callable[..., Recorder],
) -> None:
    node = make()
    node.autostart()
    node.close()
    assert node.calls == ["setup", "start", "halt: recorder shuts down"] and not node.is_bare
    assert node.closing and "shuts down" in node.refusal


@pytest.mark.parametrize("error", [StartError("the cable is loose"), TorqueError("the cable is loose")])
def test_what_stands_in_the_way_of_setup_fails_it_and_half_of_it_is_undone(
    make: Callable[..., Recorder], error: Exception
) -> None:
    node = make()
    node.wrong["setup"] = error
    assert node.trigger_configure() == FAILURE
    assert node.calls == ["setup", "last undone first", "first undone last"] and node.is_bare
    node.wrong.clear()
    assert node.trigger_configure() == SUCCESS
    with pytest.raises(StartError, match="the cable is loose"):
        other = make()
        other.wrong["setup"] = error
        other.autostart()


def test_what_stands_in_the_way_of_start_leaves_it_inactive(make: Callable[..., Recorder]) -> None:
    node = make()
    node.wrong["start"] = TorqueError("no torque")
    assert node.trigger_configure() == SUCCESS
    assert node.trigger_activate() == FAILURE and not node.active and node.configured
    assert node.calls[-1] == "halt: recorder could not be activated"
    node.wrong.clear()
    assert node.trigger_activate() == SUCCESS and node.active


@pytest.mark.parametrize("where", ["setup", "start", "halt"])
def test_after_a_bug_it_is_unconfigured_and_may_be_tried_again(make: Callable[..., Recorder], where: str) -> None:
    node = make()
    node.wrong[where] = ZeroDivisionError("a bug")
    results = [node.trigger_configure()]
    if where != "setup":
        results.append(node.trigger_activate())
    if where == "halt":
        results.append(node.trigger_deactivate())
    assert results[-1] == ERROR and not node.active and not node.configured and node.is_bare
    node.wrong.clear()
    assert node.trigger_configure() == node.trigger_activate() == SUCCESS
    with pytest.raises(ZeroDivisionError):
        other = make()
        other.wrong["setup"] = ZeroDivisionError("a bug")
        other.autostart()


def test_a_bug_in_teardown_keeps_nothing_alive(make: Callable[..., Recorder]) -> None:
    node = make()
    node.wrong["teardown"] = ZeroDivisionError("a bug")
    assert node.trigger_configure() == node.trigger_cleanup() == SUCCESS
    assert node.calls[-1] == "first undone last" and node.is_bare


def test_autostart_is_a_parameter(make: Callable[..., Recorder]) -> None:
    node = make(autostart=False)
    node.autostart()
    assert not node.calls and not node.configured
    node = make()
    node.autostart()
    assert node.calls == ["setup", "start"] and node.active


def test_the_services_answer_whatever_is_asked_and_during_a_transition(
    make: Callable[..., Recorder], shared_graph: Graph
) -> None:
    node = make()
    shared_graph._executor.add_node(node)
    managed = Lifecycle(shared_graph, "recorder")
    assert not managed.change("activate") and managed.state == "unconfigured"
    assert not managed.change("fly")
    node.may_start.clear()
    assert managed.change("configure")
    results: list[bool] = []
    activating = threading.Thread(target=lambda: results.append(managed.change("activate")))
    activating.start()
    wait_until(lambda: "start" in node.calls, what="the start")
    assert managed.state == "activating"
    assert not managed.change("cleanup"), "one transition at a time"
    node.may_start.set()
    activating.join(15.0)
    assert results == [True] and managed.state == "active"
    assert "recorder" in managed.wait_for_status("").name
    shared_graph._executor.remove_node(node)
