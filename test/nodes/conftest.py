"""What the tests of nodes share: node processes, and a graph to talk to them from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from node_launcher import Launcher
from ros_graph import Graph


@pytest.fixture
def start_node(domain: int, tmp_path: Path) -> Iterator[Launcher]:
    """``start_node(module, namespace=..., remap=..., **parameters)`` starts a node in the test's domain."""
    with Launcher(domain, tmp_path) as launcher:
        yield launcher


@pytest.fixture
def graph(domain: int) -> Iterator[Graph]:
    """A node of the test's own in the test's domain."""
    with Graph(domain) as graph:
        yield graph
