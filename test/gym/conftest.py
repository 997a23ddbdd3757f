"""What the tests of the environment share."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("gymnasium")

from gym_builders import write_scenes


@pytest.fixture(scope="session")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set of two scenes and five episodes."""
    return write_scenes(tmp_path_factory.mktemp("gym") / "scenes")
