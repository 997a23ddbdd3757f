"""What tests of several rooms share."""

from __future__ import annotations

from collections.abc import Iterator

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
