"""A managed node: ROS's lifecycle services configure, activate, deactivate and clean it up.

Unconfigured, it has its parameters and nothing else; they may all be changed. Configured, its topics, services and
actions exist; inactive, it does no work and says so to whoever asks for some, since an action that is absent would look
like a node that is dead. Active, it works. With the parameter ``autostart``, which is the default, it configures and
activates itself when it starts, and what then stands in the way ends the process with one line, as for any other node.
Without, it stays controllable: a transition that fails says why in the log and on /diagnostics, and may be tried again.

A node is written like this::

    class Head(ManagedNode):
        def __init__(self) -> None:
            super().__init__("head")
            self._settings = declare(self, Settings, fixed=self.fixed, on_change=self._on_parameters)
            self.autostart()

        def setup(self) -> None: ...     # make publishers, services, actions; load things
        def start(self) -> None: ...     # begin to work
        def halt(self) -> None: ...      # end what is under way, telling self.halt_reason; return when it is at rest
        def teardown(self) -> None: ...  # end what is left; topics, services, timers and actions go by themselves

Threading. Transitions run one at a time, in a thread of the executor, and block nothing but that thread: the lifecycle
services answer meanwhile, a second transition is refused. The autostart runs in the main thread, before the executor.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.lifecycle import LifecycleNode, LifecycleNodeMixin, LifecycleState, TransitionCallbackReturn
from rclpy.node import Node

from hvs_ros.nodes.diagnostics import ERROR, OK, WARN, Diagnostics
from hvs_ros.nodes.node_entities import NodeEntities
from hvs_ros.nodes.parameters import declare, parameter
from hvs_ros.nodes.process import EXPLAINED, StartError

SUCCESS = TransitionCallbackReturn.SUCCESS
CLOSE_LIMIT_S = 3.0
"""How long a transition under way is waited for when the process ends."""
FAREWELL_S = 0.3
"""Before topics and actions go: for last messages to leave, and for results to be asked for."""


@dataclass(frozen=True)
class _Settings:
    autostart: bool = parameter(
        True, "Configure and activate at the start; false: when the lifecycle services ask for it"
    )


class ManagedNode(LifecycleNode):
    """Base of managed nodes; subclasses call ``autostart`` at the end of ``__init__``.

    Args:
        name: of the node.
        hardware_id: what its diagnostics are about.
        options: rclpy's, for who runs it beside other nodes.

    Attributes:
        known: exceptions of ``setup`` and ``start`` that explain themselves, beside ``StartError`` and
            ``ParameterError``: their text is the reason. Any other is a bug and logged with its traceback.
        active: it works. True only after ``start`` has returned, false before ``halt`` is called.
        halt_reason: for ``halt``: why work under way must end, e.g. "panorama_head was deactivated".
        diagnostics: its state; written by ``say``.
    """

    known: ClassVar[tuple[type[Exception], ...]] = ()

    def __init__(self, name: str, *, hardware_id: str = "", **options: Any) -> None:
        # Not LifecycleNode's own: its services share a group with others, which a long transition would keep waiting.
        Node.__init__(self, name, **options)
        LifecycleNodeMixin.__init__(self, callback_group=ReentrantCallbackGroup())
        self.active = False
        self.halt_reason = ""
        self.__wants_autostart = declare(self, _Settings).autostart
        self.__stage = "unconfigured"
        self.__said: tuple[bytes, str] = (OK, "")
        self.__facts: dict[str, object] = {}
        self.__starting = self.__closing = self.__set_up = False
        self.__failure: Exception | None = None
        self.__undo: list[Callable[[], object]] = []
        self.__transition = threading.Lock()
        self.__guard_transitions()
        self.diagnostics = Diagnostics(self, hardware_id)
        self.__entities = NodeEntities(self)

    # What a subclass implements.

    def setup(self) -> None:
        """Make what the node needs: topics, services, actions, timers, whatever it loads.

        Called again after every ``teardown``. It may raise an error that explains itself; what was made until then is
        undone.
        """

    def start(self) -> None:
        """Begin to work. It may raise an error that explains itself; ``halt`` is called then."""

    def halt(self) -> None:
        """End the work under way, telling ``halt_reason``, and return when everything is at rest."""

    def teardown(self) -> None:
        """End what ``setup`` began, other than what rclpy knows the node owns; called only after a whole ``setup``."""

    # What it may use.

    def on_teardown(self, callback: Callable[[], object]) -> None:
        """In ``setup``: have something called after ``teardown``, last first, and also when ``setup`` fails halfway."""
        self.__undo.append(callback)

    @property
    def configured(self) -> bool:
        """``setup`` is done, and ``teardown`` is not."""
        return self.__set_up

    @property
    def closing(self) -> bool:
        """The process ends."""
        return self.__closing

    @property
    def refusal(self) -> str:
        """Why no work is accepted, and what to do; empty while active."""
        if self.__closing:
            return f"{self.get_name()} shuts down"
        if self.active:
            return ""
        name = self.get_fully_qualified_name()
        return f"{self.get_name()} is inactive: activate it ('ros2 lifecycle set {name} activate')"

    def fixed(self) -> str:
        """Why parameters cannot be changed, for ``declare``; empty while unconfigured."""
        if self.__stage == "unconfigured":
            return ""
        name = self.get_fully_qualified_name()
        return f"is fixed while the node is configured; clean it up first ('ros2 lifecycle set {name} cleanup')"

    def say(self, level: bytes, message: str, **values: object) -> None:
        """Tell /diagnostics how it is; while it is not active, that is added and is a warning at least."""
        self.__said = (level, message)
        self.add_facts(**values)

    def add_facts(self, **values: object) -> None:
        """Tell /diagnostics further facts, or none of them any more: None."""
        self.__facts.update(values)
        self.__tell()

    def autostart(self) -> None:
        """Configure and activate, unless the parameter ``autostart`` says no.

        Raises:
            StartError: it cannot, for a reason that a person can act on.
            Exception: it cannot, which is a bug.
        """
        if not self.__wants_autostart:
            name = self.get_fully_qualified_name()
            self.get_logger().info(f"unconfigured, as 'autostart' is false: 'ros2 lifecycle set {name} configure'")
            self.__tell()
            return
        self.__starting = True
        with self.__transition:
            for change in (self.trigger_configure, self.trigger_activate):
                if change() != SUCCESS:
                    error = self.__failure or RuntimeError("a transition failed")
                    if isinstance(error, self.known):
                        raise StartError(str(error)) from error
                    raise error
        self.__starting = False
        self.__tell()

    def close(self) -> None:
        """Halt and take no more work; what ``setup`` made stays until ``destroy_node``, so that results can leave."""
        self.__closing = True
        if self.__transition.acquire(timeout=CLOSE_LIMIT_S):
            try:
                if self.__stage != "finalized":
                    self.trigger_shutdown()
            finally:
                self.__transition.release()
        self.diagnostics.set(WARN, "shut down", lifecycle=self.__stage)

    def destroy_node(self) -> None:
        """Undo ``setup``, then remove the node."""
        self.__tear_down()
        super().destroy_node()

    # rclpy's transitions.

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Configure."""
        self.__enter("configuring")
        try:
            self.setup()
        except Exception as error:
            self.__tear_down()
            return self.__failed("configured", error, back_to="unconfigured")
        self.__set_up = True
        return self.__enter("inactive", super().on_configure(state))

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Activate."""
        self.__enter("activating")
        try:
            self.start()
        except Exception as error:
            self.__halt("could not be activated")
            return self.__failed("activated", error, back_to="inactive")
        self.active = True
        return self.__enter("active", super().on_activate(state))

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Deactivate: nothing new is taken, and what is under way ends."""
        self.__enter("deactivating")
        if not self.__halt("was deactivated"):
            return TransitionCallbackReturn.ERROR
        return self.__enter("inactive", super().on_deactivate(state))

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Clean up: as before it was configured."""
        self.__enter("cleaning up")
        time.sleep(FAREWELL_S)
        self.__tear_down()
        self.__said = (OK, "")
        return self.__enter("unconfigured", super().on_cleanup(state))

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Shut down for good, from any state."""
        self.__enter("shutting down")
        if self.active:
            self.__halt("shuts down")
        if not self.__closing:
            time.sleep(FAREWELL_S)
            self.__tear_down()
        self.__said = (OK, "")
        return self.__enter("finalized", super().on_shutdown(state))

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """After a bug in a transition: as before it was configured."""
        self.active = False
        self.__tear_down()
        return self.__enter("unconfigured", super().on_error(state))

    def __enter(self, stage: str, result: TransitionCallbackReturn = SUCCESS) -> TransitionCallbackReturn:
        self.__stage = stage
        self.__tell()
        return result

    def __tell(self) -> None:
        # A node that starts by itself is "starting" until it has.
        if self.__starting:
            return
        level, message = self.__said
        if self.__stage != "active":
            level = max(level, WARN)
            message = f"{self.__stage}; {message}" if message else self.__stage
        self.diagnostics.set(level, message, lifecycle=self.__stage, **self.__facts)

    def __failed(self, what: str, error: Exception, *, back_to: str) -> TransitionCallbackReturn:
        explained = isinstance(error, (*EXPLAINED, *self.known))
        self.__failure = error
        self.__said = (ERROR, f"it could not be {what}: {error if explained else f'a bug: {error!r}'}")
        if not self.__starting:  # otherwise the error goes up, and is told where it ends
            text = f"could not be {what}: {error}" if explained else f"could not be {what}, which is a bug"
            trace = "" if explained else "\n" + "".join(traceback.format_exception(error))
            self.get_logger().error(text + trace)
        return self.__enter(
            back_to, TransitionCallbackReturn.FAILURE if explained else TransitionCallbackReturn.ERROR
        )

    def __halt(self, why: str) -> bool:
        """Halt; return whether that went well."""
        self.active = False
        self.halt_reason = f"{self.get_name()} {why}"
        return self.__survives(self.halt)

    def __tear_down(self) -> None:
        """Undo ``setup``, whole or not; whatever goes wrong is logged, and the rest undone."""
        if self.__set_up:
            self.__set_up = False
            self.__survives(self.teardown)
        while self.__undo:
            self.__survives(self.__undo.pop())
        self.__entities.destroy_new()

    def __survives(self, step: Callable[[], object]) -> bool:
        try:
            step()
        except Exception as error:
            text = "".join(traceback.format_exception(error))
            self.get_logger().error(f"{step.__qualname__} failed, which is a bug\n{text}")
            return False
        return True

    def __guard_transitions(self) -> None:
        """Answer also when a transition is not possible now: Jazzy's rclpy raises, and whoever asked waits on."""
        service = self._service_change_state
        change = service.callback

        def guarded(request: Any, response: Any) -> Any:
            response.success = False
            if not self.__transition.acquire(blocking=False):
                self.get_logger().warning(f"no transition while it is {self.__stage}")
                return response
            try:
                return change(request, response)
            except rclpy_implementation.RCLError as error:
                self.get_logger().warning(f"no such transition while it is {self.__stage}: {error}")
                return response
            finally:
                self.__transition.release()

        service.callback = guarded
