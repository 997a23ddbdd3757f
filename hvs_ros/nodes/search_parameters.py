"""What the search policy's node can be told, and the settings of the policy itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

from hvs_ros.nodes.head_mover import HeadLimits
from hvs_ros.nodes.parameters import parameter

SETTINGS_PREFIX = "policy."


@dataclass(frozen=True)
class SearchParameters:
    """Beside these, ``policy.NAME`` is the setting NAME of the chosen policy."""

    policy: str = parameter("signs", "Which policy decides: a name from `hvs policies`, or module:Class")
    decision_timeout: float = parameter(120.0, "Limit for one decision of the policy [s]", low=0.01, high=3600.0)
    load_timeout: float = parameter(600.0, "Limit for loading the policy [s]", low=0.01, high=86400.0)
    draw_cross: bool = parameter(True, "Draw the green centre cross into what the policy sees")
    queue: int = parameter(0, "So many goals wait while a search is on; 0: they are refused", low=0, high=1000)

    head: str = parameter("head", "Prefix of the head's topics and actions; they can be remapped one by one too")
    image_transport: str = parameter("raw", "Which of the head's pictures to take", choices=("raw", "compressed"))
    settle_time: float = parameter(0.0, "Extra age of a view after the head has settled [s]", low=0.0, high=60.0)
    head_timeout: float = parameter(10.0, "Limit for a head to appear [s]", low=0.0, high=3600.0)
    move_timeout: float = parameter(30.0, "Limit of one move, settling included [s]", low=0.1, high=3600.0)
    view_timeout: float = parameter(10.0, "Limit from the end of a move to its view [s]", low=0.1, high=3600.0)
    head_silence: float = parameter(4.0, "A head that says nothing for so long is gone [s]", low=1.0, high=3600.0)

    def head_limits(self) -> HeadLimits:
        """Return how long the head may take."""
        return HeadLimits(self.head_timeout, self.move_timeout, self.view_timeout, self.head_silence, self.settle_time)


def declare_settings(node: Node, fixed: Callable[[], str]) -> None:
    """Declare what was given as ``policy.NAME``; the policy itself checks it.

    Args:
        node: whose parameters they become.
        fixed: returns why they cannot be changed now, e.g. "is fixed while ..."; empty when they can.
    """
    descriptor = ParameterDescriptor(description="A setting of the policy", dynamic_typing=True)
    for name, given in sorted(node._parameter_overrides.items()):
        if name.startswith(SETTINGS_PREFIX):
            node.declare_parameter(name, given.value, descriptor)

    def changed(given: list[Parameter]) -> SetParametersResult:
        names = [item.name for item in given if item.name.startswith(SETTINGS_PREFIX)]
        why = fixed() if names else ""
        return SetParametersResult(successful=not why, reason=why and f"parameter '{names[0]}' {why}")

    node.add_on_set_parameters_callback(changed)


def given_settings(node: Node) -> dict[str, Any]:
    """Return the policy's settings as {NAME: value}."""
    given: dict[str, Any] = dict(node.get_parameters_by_prefix(SETTINGS_PREFIX.rstrip(".")))
    values = {name: parameter.value for name, parameter in sorted(given.items())}
    return {name: list(value) if _is_array(value) else value for name, value in values.items()}


def _is_array(value: Any) -> bool:
    return not isinstance(value, (str, bytes)) and hasattr(value, "__iter__")
