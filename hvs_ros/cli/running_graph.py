"""The nodes of a graph, started for as long as episodes are run through it, and nobody else beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hvs_ros.cli.error import VerbError
from hvs_ros.cli.graph import claimed, enter_domain, require_ros
from hvs_ros.node_spec import NodeSpec

if TYPE_CHECKING:
    from hvs_ros.nodes.benchmark_graph import GraphBackend

Say = Callable[[str], None]


@contextmanager
def running_graph(
    specs: Sequence[NodeSpec],
    name: str,
    *,
    domain: int | None,
    namespace: str,
    log_level: str,
    record: bool,
    say: Say,
) -> Iterator[GraphBackend]:
    """Start the nodes, wait until they are ready, and end them when the block ends.

    Args:
        specs: the nodes.
        name: of the node that talks to them.
        domain: ROS domain; None: as the environment says.
        namespace: that the nodes are in; empty: the root.
        log_level: of the nodes.
        record: a recorder is among them.
        say: is told what takes long, and what nodes print.

    Raises:
        VerbError: there is no ROS, somebody else is in the domain, or the nodes do not become ready.
    """
    require_ros()
    from hvs_ros.bringup import Bringup

    entered = enter_domain(domain)  # this process talks to the nodes as well
    from hvs_ros.nodes.benchmark_graph import GraphBackend, GraphError, refuse_crowd
    from hvs_ros.nodes.spinning import spinning_node

    try:
        with claimed(entered, namespace), spinning_node(name, namespace) as node:
            refuse_crowd(node)
            with (
                Bringup(specs, log_level=log_level, on_line=lambda who, line: say(f"[{who}] {line}")) as nodes,
                GraphBackend(node, record=record, trouble=nodes.trouble) as backend,
            ):
                backend.wait_until_ready(say)
                yield backend
    except GraphError as error:
        raise VerbError(str(error)) from error
