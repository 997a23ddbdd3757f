"""What tests of several rooms share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ros_domain import claim_domain


@pytest.fixture
def domain() -> Iterator[int]:
    """A ROS domain of the test's own."""
    with claim_domain() as number:
        yield number
