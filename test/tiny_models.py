"""Tiny checkpoints with the real architecture, made once for all tests of a process."""

from __future__ import annotations

from pathlib import Path

import pytest

SAYS = "<answer>submit(30,5)</answer>"
"""What the speaking one answers to everything."""
ENDLESS = "a,b,"
"""What the endless one begins to say; it goes on with b, and never ends."""


@pytest.fixture(scope="session")
def tiny_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Qwen2.5-VL of random weights; what it says depends on what it is shown, and means nothing."""
    return _made(tmp_path_factory.mktemp("models") / "tiny", "")


@pytest.fixture(scope="session")
def speaking_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Qwen2.5-VL that answers ``SAYS``."""
    return _made(tmp_path_factory.mktemp("models") / "speaking", SAYS)


@pytest.fixture(scope="session")
def endless_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Qwen2.5-VL that never comes to an end."""
    return _made(tmp_path_factory.mktemp("models") / "endless", ENDLESS)


def _made(folder: Path, says: str) -> Path:
    for package in ("torch", "transformers", "tokenizers", "safetensors"):
        pytest.importorskip(package)
    import torch

    from hvs_ros.mock.tiny_checkpoint import write_tiny_checkpoint

    # Threads that wait for one another on a busy machine are slower than one.
    torch.set_num_threads(1)
    return write_tiny_checkpoint(folder, says=says)
