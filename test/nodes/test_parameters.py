"""Parameters are declared from a table, checked, and changed only where that is allowed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import rclpy
import yaml
from rclpy.context import Context
from rclpy.node import Node
from rclpy.parameter import Parameter

from hvs_ros.nodes.benchmark_parameters import BenchmarkParameters
from hvs_ros.nodes.head_parameters import HeadParameters
from hvs_ros.nodes.parameters import ParameterError, declare, parameter
from hvs_ros.nodes.recorder_parameters import RecorderParameters
from hvs_ros.nodes.search_parameters import SearchParameters
from hvs_ros.share import share_file

TABLES = {
    "panorama_head": HeadParameters,
    "search_policy": SearchParameters,
    "episode_recorder": RecorderParameters,
    "benchmark": BenchmarkParameters,
}
MANAGED = ("panorama_head", "search_policy")
"""They have ``autostart`` as well."""


@dataclass(frozen=True)
class Table:
    count: int = parameter(3, "How many", low=1, high=9)
    rate: float = parameter(1.5, "How often [1/s]", low=0.0, high=10.0, live=True)
    free: float = parameter(0.0, "Any finite number")
    least: float = parameter(1.0, "At least so much", low=0.5)
    mode: str = parameter("a", "How", choices=("a", "b"), live=True)
    on: bool = parameter(False, "Whether")


@pytest.fixture
def make(domain: int) -> Iterator[Callable[..., Node]]:
    context = Context()
    rclpy.init(context=context, domain_id=domain)
    nodes: list[Node] = []

    def make(**overrides: Any) -> Node:
        given = [Parameter(name, value=value) for name, value in overrides.items()]
        nodes.append(Node(f"node{len(nodes)}", context=context, parameter_overrides=given))
        return nodes[-1]

    yield make
    for node in nodes:
        node.destroy_node()
    rclpy.shutdown(context=context)


def test_defaults_and_given_values(make: Callable[..., Node]) -> None:
    assert declare(make(), Table) == Table()
    given = {"count": 9, "rate": 0.0, "free": -1e300, "least": 1e300, "mode": "b", "on": True}
    assert declare(make(**given), Table) == Table(**given)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("count", 10, "1 to 9"),
        ("count", 2.0, "an integer"),
        ("count", True, "an integer"),
        ("rate", 2, "write 2.0"),
        ("rate", -0.1, "0 to 10"),
        ("rate", float("nan"), "0 to 10"),
        ("free", float("inf"), "finite"),
        ("least", 0.1, "at least 0.5"),
        ("mode", "c", "one of 'a', 'b'"),
        ("mode", 1, "a text"),
        ("on", "yes", "true or false"),
        ("on", 1, "true or false"),
    ],
)
def test_a_bad_value_is_refused_by_name_at_the_start(
    make: Callable[..., Node], name: str, value: Any, reason: str
) -> None:
    with pytest.raises(ParameterError, match=f"parameter '{name}' is .*{reason}"):
        declare(make(**{name: value}), Table)


@pytest.mark.parametrize(("name", "value"), [("rate", 2), ("rate", 99.0), ("rate", "2.0"), ("mode", "c"), ("count", 4)])
def test_a_bad_change_is_refused_by_name(make: Callable[..., Node], name: str, value: Any) -> None:
    node = make()
    seen: list[Table] = []
    declare(node, Table, on_change=seen.append)
    result = node.set_parameters([Parameter(name, value=value)])[0]
    assert not result.successful
    assert name in result.reason
    assert seen == []
    assert node.get_parameter(name).value == getattr(Table(), name)


def test_a_good_change_reaches_the_node(make: Callable[..., Node]) -> None:
    node = make()
    seen: list[Table] = []
    declare(node, Table, on_change=seen.append)
    assert node.set_parameters([Parameter("rate", value=2.0)])[0].successful
    assert node.set_parameters([Parameter("mode", value="b")])[0].successful
    assert seen == [Table(rate=2.0), Table(rate=2.0, mode="b")]


def test_the_node_may_refuse_a_change(make: Callable[..., Node]) -> None:
    def refuse(new: Table) -> None:
        raise ParameterError(f"parameter 'rate' is {new.rate}; not now")

    node = make()
    declare(node, Table, on_change=refuse)
    result = node.set_parameters([Parameter("rate", value=2.0)])[0]
    assert (result.successful, result.reason) == (False, "parameter 'rate' is 2.0; not now")


def test_those_that_are_not_live_may_be_fixed_for_a_time(make: Callable[..., Node]) -> None:
    node, why, seen = make(), ["is fixed while it is hot"], []
    declare(node, Table, on_change=seen.append, fixed=lambda: why[0])
    assert not node.describe_parameter("count").read_only
    result = node.set_parameters([Parameter("count", value=4)])[0]
    assert (result.successful, result.reason) == (False, "parameter 'count' is fixed while it is hot")
    assert node.set_parameters([Parameter("rate", value=2.0)])[0].successful
    why[0] = ""
    assert node.set_parameters([Parameter("count", value=4)])[0].successful
    assert not node.set_parameters([Parameter("mode", value="c")])[0].successful
    assert [(table.count, table.rate) for table in seen] == [(3, 2.0), (4, 2.0)]


def test_two_tables_in_one_node(make: Callable[..., Node]) -> None:
    node = make(**{"policy.count": 5})
    assert declare(node, Table).count == 3
    assert declare(node, Table, prefix="policy.").count == 5
    assert node.set_parameters([Parameter("policy.rate", value=2.0)])[0].successful
    assert not node.set_parameters([Parameter("policy.rate", value=-2.0)])[0].successful


def test_descriptions_and_ranges_are_declared(make: Callable[..., Node]) -> None:
    node = make()
    declare(node, Table)
    count = node.describe_parameter("count")
    assert (count.description, count.read_only) == ("How many", True)
    assert (count.integer_range[0].from_value, count.integer_range[0].to_value) == (1, 9)
    rate = node.describe_parameter("rate")
    assert not rate.read_only
    assert (rate.floating_point_range[0].from_value, rate.floating_point_range[0].to_value) == (0.0, 10.0)
    assert node.describe_parameter("mode").additional_constraints == "one of a, b"


@pytest.mark.parametrize("node, table", TABLES.items(), ids=TABLES)
def test_every_parameter_is_described_bounded_and_in_config(node: str, table: type[Any]) -> None:
    given = yaml.safe_load(share_file("config", f"{node}.yaml").read_text(encoding="utf-8"))
    (values,) = (content["ros__parameters"] for content in given.values())
    managed = {"autostart": True} if node in MANAGED else {}
    assert values == managed | dataclasses.asdict(table()), "config/ holds the defaults"
    for field in dataclasses.fields(table):
        rule = field.metadata["rule"]
        assert rule.description
        if type(field.default) in (int, float):
            assert rule.low is not None and rule.high is not None, f"{field.name} has no range"
