"""What tests of several rooms share."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from ros_domain import claim_domain
from tiny_models import endless_checkpoint, speaking_checkpoint, tiny_checkpoint  # noqa: F401  (fixtures)

# How long an example takes says how busy the machine is; one that hangs is ended by the timeout of its test.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")


@pytest.fixture
def domain() -> Iterator[int]:
    """A ROS domain of the test's own."""
    with claim_domain() as number:
        yield number


@pytest.hookimpl(hookwrapper=True)
def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> Generator[None, Any, None]:
    """Let a file skip itself where launch_testing is installed.

    That imports every test file to see what it is, where a skip is not expected: it would take the folder with it.
    """
    outcome = yield
    if outcome.excinfo is not None and issubclass(outcome.excinfo[0], pytest.skip.Exception):
        outcome.force_result(pytest.Module.from_parent(parent, path=module_path))
