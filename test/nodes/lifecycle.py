"""A managed node as its manager sees it: through ROS's lifecycle services."""

from __future__ import annotations

from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from ros_graph import Graph, wait_until

from hvs_ros.nodes.convert import time_ns

_WAYS = {
    ("unconfigured", "inactive"): ["configure"],
    ("unconfigured", "active"): ["configure", "activate"],
    ("inactive", "unconfigured"): ["cleanup"],
    ("inactive", "active"): ["activate"],
    ("active", "inactive"): ["deactivate"],
    ("active", "unconfigured"): ["deactivate", "cleanup"],
}


class Lifecycle:
    """Manages one node.

    Args:
        graph: to call from.
        name: of the node, with its namespace.
    """

    def __init__(self, graph: Graph, name: str) -> None:
        self._graph, self._name = graph, name.strip("/")
        self._told: list[DiagnosticArray] = graph.collect(DiagnosticArray, "/diagnostics")

    @property
    def state(self) -> str:
        return str(self._graph.call(GetState, f"{self._name}/get_state", GetState.Request()).current_state.label)

    def services(self) -> list[str]:
        """Return the services that it offers, those of actions included."""
        namespace, _, name = self._name.rpartition("/")
        return [kind[0] for kind in self._graph.node.get_service_names_and_types_by_node(name, f"/{namespace}")]

    def change(self, *labels: str) -> bool:
        """Make transitions, and return whether the last one succeeded."""
        success = True
        for label in labels:
            request = ChangeState.Request(transition=Transition(label=label))
            success = self._graph.call(ChangeState, f"{self._name}/change_state", request).success
        return success

    def bring(self, state: str) -> None:
        """Bring it to a state, from whichever it is in."""
        for label in _WAYS.get((self.state, state), []):
            assert self.change(label), label
        assert self.state == state

    def set(self, name: str, value: Any) -> str:
        """Set a parameter and return why it cannot be, empty if it is."""
        request = SetParameters.Request(parameters=[Parameter(name, value=value).to_parameter_msg()])
        result = self._graph.call(SetParameters, f"{self._name}/set_parameters", request).results[0]
        return "" if result.successful else str(result.reason)

    def wait_for_status(self, text: str) -> DiagnosticStatus:
        """Wait until it says this from now on, and return what it says."""
        since = self._graph.node.get_clock().now().nanoseconds

        def said() -> DiagnosticStatus | None:
            for array in self._told:
                for status in array.status:
                    if status.name == self._name and text in status.message and time_ns(array.header.stamp) >= since:
                        return status
            return None

        return wait_until(said, what=f"'{text}' on /diagnostics")
