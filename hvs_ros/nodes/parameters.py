"""Parameters as a dataclass: every one with a type, a description and, where it makes sense, a range.

A node writes down what it can be told::

    @dataclass(frozen=True)
    class Parameters:
        width: int = parameter(1920, "Width of a view [pixels]", low=16, high=8192)
        motion: str = parameter("instant", "How the head moves", choices=("instant", "profile"))
        publish_rate: float = parameter(0.0, "Views per second; 0: only at rest", low=0.0, high=60.0, live=True)

    values = declare(self, Parameters)

rclpy checks types and ranges, but from the outside its refusals are exceptions of several kinds, some without a useful
text, and it knows no choices. Here each becomes a ``ParameterError`` that names the parameter, what was given and what
is expected. An integer for a double is refused too, as ROS itself does, but with the cure: a decimal point. Parameters
are fixed at start unless they are declared ``live``; those of a managed node are fixed while it is configured.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import sys
import typing
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

T = TypeVar("T")
V = TypeVar("V", bool, int, float, str)

_KINDS: dict[type, Parameter.Type] = {
    bool: Parameter.Type.BOOL,
    int: Parameter.Type.INTEGER,
    float: Parameter.Type.DOUBLE,
    str: Parameter.Type.STRING,
}
_NAMES = {bool: "true or false", int: "an integer", float: "a number with a decimal point", str: "a text"}


class ParameterError(ValueError):
    """A value that a parameter cannot have; the message names the parameter, the value and what is expected."""


@dataclasses.dataclass(frozen=True)
class _Rule:
    description: str
    low: float | None
    high: float | None
    choices: tuple[Any, ...]
    live: bool


def parameter(
    default: V,
    description: str,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: Sequence[V] = (),
    live: bool = False,
) -> V:
    """Return a dataclass field that ``declare`` makes a ROS parameter of.

    Args:
        default: value unless the user gives another.
        description: what it does, with its unit.
        low: least value.
        high: greatest value.
        choices: the only values allowed.
        live: may be changed while the node runs.
    """
    rule = _Rule(description, low, high, tuple(choices), live)
    field: V = dataclasses.field(default=default, metadata={"rule": rule})
    return field


def declare(
    node: Node,
    table: type[T],
    *,
    prefix: str = "",
    on_change: Callable[[T], None] | None = None,
    fixed: Callable[[], str] | None = None,
) -> T:
    """Declare the table's fields as parameters of the node and return their values.

    Args:
        node: whose parameters they become.
        table: a dataclass whose fields were made by ``parameter``.
        prefix: put before every name, e.g. ``"policy."``.
        on_change: is given the new values after a parameter was changed; it may raise ``ParameterError`` to refuse
            them.
        fixed: returns why parameters that are not live cannot be changed now, e.g. "is fixed while ..."; empty when
            they can. None: never.

    Raises:
        ParameterError: a given value is of the wrong type or out of range.
    """
    fields = _fields(table)
    overrides = node._parameter_overrides
    for name, (kind, rule, default) in fields.items():
        full = prefix + name
        if full in overrides:
            check(full, overrides[full].value, kind, rule)
        node.declare_parameter(full, default, _descriptor(kind, rule, changeable=rule.live or fixed is not None))
    values = {name: node.get_parameter(prefix + name).value for name in fields}
    current = [table(**values)]

    def changed(given: list[Parameter]) -> SetParametersResult:
        news: dict[str, Any] = {}
        try:
            for item in given:
                name = item.name[len(prefix) :] if item.name.startswith(prefix) else ""
                if name in fields:
                    kind, rule, _ = fields[name]
                    if fixed is not None and not rule.live and (why := fixed()):
                        raise ParameterError(f"parameter '{item.name}' {why}")
                    check(item.name, item.value, kind, rule)
                    news[name] = item.value
            if news:
                after = dataclasses.replace(current[0], **news)  # type: ignore[type-var]  # T is a dataclass
                if on_change is not None:
                    on_change(after)
                current[0] = after
        except ParameterError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    node.add_on_set_parameters_callback(changed)
    return current[0]


def check(name: str, value: object, kind: type, rule: _Rule) -> None:
    """Check one value.

    Raises:
        ParameterError: it is of the wrong type, out of range, or not one of the choices.
    """
    if type(value) is not kind:
        cure = f": write {value}.0" if kind is float and type(value) is int else ""
        raise ParameterError(f"parameter '{name}' is {value!r}; {_NAMES[kind]} is expected{cure}")
    if rule.choices and value not in rule.choices:
        raise ParameterError(
            f"parameter '{name}' is {value!r}; one of {', '.join(map(repr, rule.choices))} is expected"
        )
    if isinstance(value, (int, float)):
        low, high = _bounds(rule)
        # Written so that NaN fails too.
        if not low <= value <= high or not math.isfinite(value):
            raise ParameterError(f"parameter '{name}' is {value!r}; {_range_text(rule)} is expected")


def warn_unknown(node: Node) -> None:
    """Log every parameter that was given to the node but is none of its own: a typing error stays unseen otherwise."""
    known = set(node._parameters)
    for name in sorted(set(node._parameter_overrides) - known):
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"; is '{near[0]}' meant?" if near else ""
        node.get_logger().warning(f"parameter '{name}' is not known and has no effect{hint}")


def _fields(table: type[Any]) -> dict[str, tuple[type, _Rule, Any]]:
    kinds = typing.get_type_hints(table)
    return {
        field.name: (kinds[field.name], field.metadata["rule"], field.default) for field in dataclasses.fields(table)
    }


def _bounds(rule: _Rule) -> tuple[float, float]:
    return (-math.inf if rule.low is None else rule.low, math.inf if rule.high is None else rule.high)


def _or(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value


def _range_text(rule: _Rule) -> str:
    if rule.low is None and rule.high is None:
        return "a finite number"
    if rule.high is None:
        return f"at least {rule.low:g}"
    if rule.low is None:
        return f"at most {rule.high:g}"
    return f"{rule.low:g} to {rule.high:g}"


def _descriptor(kind: type, rule: _Rule, *, changeable: bool) -> ParameterDescriptor:
    low, high = rule.low, rule.high
    descriptor = ParameterDescriptor(
        type=_KINDS[kind].value,
        description=rule.description,
        read_only=not changeable,
        # rclpy's own refusal of a wrong type does not name the parameter; left to `changed`, it does.
        dynamic_typing=changeable,
        additional_constraints=f"one of {', '.join(map(str, rule.choices))}" if rule.choices else "",
    )
    if low is None and high is None:
        return descriptor
    if kind is int:
        whole = IntegerRange(from_value=int(_or(low, -(2**63))), to_value=int(_or(high, 2**63 - 1)))
        descriptor.integer_range = [whole]
    elif kind is float:
        largest = sys.float_info.max
        real = FloatingPointRange(from_value=float(_or(low, -largest)), to_value=float(_or(high, largest)))
        descriptor.floating_point_range = [real]
    return descriptor
