"""Reads the weights of a checkpoint one by one, so that a model larger than the memory can be exported."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open

from hvs_ros.policy.qwen.checkpoint import CheckpointError

INDEX = "model.safetensors.index.json"
SINGLE = "model.safetensors"

RENAMED = ((re.compile(r"^model\.visual\."), "visual."), (re.compile(r"^model\.language_model\."), "model."))
"""Newer versions of transformers name the weights differently; here they have the names of the published files."""

HEAD = "lm_head.weight"
EMBEDDINGS = "model.embed_tokens.weight"


class Weights:
    """The tensors of a checkpoint by their published names.

    Args:
        folder: the checkpoint.
        tied: the output projection is the embedding table.

    Attributes:
        files: that hold them.

    Raises:
        CheckpointError: they are missing or cannot be read.
    """

    def __init__(self, folder: Path, *, tied: bool) -> None:
        self._folder = folder
        self.files = _files(folder)
        self._stored: dict[str, tuple[Path, str]] = {}
        for path in self.files:
            try:
                with safe_open(path, framework="pt") as opened:
                    for stored in opened.keys():  # noqa: SIM118 - it is no mapping
                        self._stored[_published(stored)] = (path, stored)
            except (OSError, SafetensorError) as error:
                raise CheckpointError(f"{path} cannot be read: {error}; is it complete?") from error
        if HEAD not in self._stored and tied and EMBEDDINGS in self._stored:
            self._stored[HEAD] = self._stored[EMBEDDINGS]

    def require(self, name: str, shape: tuple[int, ...]) -> None:
        """Check that a tensor is there and has that shape.

        Raises:
            CheckpointError: it is not, or it has another one.
        """
        path, stored = self._place(name)
        with safe_open(path, framework="pt") as opened:
            found = tuple(opened.get_slice(stored).get_shape())
        if found != shape:
            raise CheckpointError(f"{path}: {stored} has the shape {found}, config.json says {shape}")

    def read(self, name: str) -> torch.Tensor:
        """Return a tensor as it is stored.

        Raises:
            CheckpointError: it is not there or cannot be read.
        """
        path, stored = self._place(name)
        try:
            with safe_open(path, framework="pt") as opened:
                return opened.get_tensor(stored)  # type: ignore[no-any-return,unused-ignore]
        except (OSError, SafetensorError) as error:
            raise CheckpointError(f"{path}: {stored} cannot be read: {error}") from error

    def _place(self, name: str) -> tuple[Path, str]:
        try:
            return self._stored[name]
        except KeyError:
            raise CheckpointError(f"{self._folder} holds no weights {name}; is the checkpoint complete?") from None


def source_hash(folder: Path, files: list[Path]) -> str:
    """Return a SHA-256 over a checkpoint's configuration and all of its weights, hexadecimal."""
    digest = hashlib.sha256()
    for path in [folder / "config.json", *files]:
        digest.update(path.name.encode() + b"\0")
        with path.open("rb") as opened:
            while chunk := opened.read(1 << 22):
                digest.update(chunk)
    return digest.hexdigest()


def _files(folder: Path) -> list[Path]:
    index = folder / INDEX
    if index.is_file():
        try:
            names = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
        except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
            raise CheckpointError(f"{index} cannot be read: {error}") from error
    else:
        names = [SINGLE]
    missing = [name for name in names if not (folder / name).is_file()]
    if missing:
        raise CheckpointError(f"{folder} holds no {missing[0]}: weights are needed as safetensors, all files of them")
    return [folder / name for name in names]


def _published(name: str) -> str:
    for pattern, replacement in RENAMED:
        name = pattern.sub(replacement, name)
    return name
