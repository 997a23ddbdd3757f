"""A ROS domain of one's own, so that no two tests hear each other."""

from __future__ import annotations

import fcntl
import os
import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def claim_domain() -> Iterator[int]:
    """A ROS_DOMAIN_ID that no other test uses now, in this or another run of the tests on this machine.

    HVS_TEST_DOMAINS="20-39" restricts the choice.
    """
    first, last = map(int, os.environ.get("HVS_TEST_DOMAINS", "1-99").split("-"))
    candidates = list(range(first, last + 1))
    random.SystemRandom().shuffle(candidates)
    for number in candidates:
        path = Path(tempfile.gettempdir()) / f"hvs_ros_test_domain_{number}_{os.getuid()}.lock"
        with path.open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield number
            return
    pytest.fail(f"every ROS domain from {first} to {last} is in use by tests")
