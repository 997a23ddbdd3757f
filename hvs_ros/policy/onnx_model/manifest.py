"""What an exported folder says of itself, and the check that it is one and whole.

The manifest is written last, and the folder gets its name after that: where there is a manifest, there is a model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError
from hvs_ros.policy.onnx_model.precision import Precision

FILE = "manifest.json"
KIND = "hvs_ros Qwen2.5-VL in ONNX"
VERSION = 1
"""Of the folder's layout and of the graphs' inputs and outputs; another one cannot be run."""

VISION, DECODER, EMBEDDINGS = "vision.onnx", "decoder.onnx", "embeddings.npy"
CHECKPOINT_FILES = ("config.json", "generation_config.json", "preprocessor_config.json", "tokenizer.json")
"""Of the checkpoint, as they are: how pictures and text become numbers, and how an answer is sampled."""


@dataclass(frozen=True)
class Manifest:
    """An export.

    Attributes:
        model: name of the checkpoint.
        source_sha256: of the checkpoint's configuration and weights.
        precision: of the graphs.
        files: bytes of each file beside this one.
        packages: versions of what made it.
    """

    model: str
    source_sha256: str
    precision: Precision
    files: Mapping[str, int]
    packages: Mapping[str, str] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Write it into the folder."""
        content = {
            "kind": KIND,
            "version": VERSION,
            "model": self.model,
            "source_sha256": self.source_sha256,
            "precision": self.precision.value,
            "files": dict(self.files),
            "packages": dict(self.packages),
        }
        (folder / FILE).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def read_manifest(folder: str | Path) -> Manifest:
    """Read an exported folder's manifest and check that its files are there.

    Raises:
        PolicyUnavailableError: there is no such folder.
        PolicyError: it is no export, of another version, or not whole.
    """
    folder = Path(folder).expanduser()
    if not folder.is_dir():
        raise PolicyUnavailableError(
            f"there is no folder {folder}; give the one that `hvs model export CHECKPOINT --out FOLDER` has made"
        )
    path = folder / FILE
    if not path.is_file():
        what = "a checkpoint" if (folder / "config.json").is_file() else "no exported model"
        how = folder if (folder / "config.json").is_file() else "CHECKPOINT"
        raise PolicyError(f"{folder} is {what}: export it first, hvs model export {how} --out FOLDER")
    manifest = _parsed(path)
    for name, size in manifest.files.items():
        there = (folder / name).stat().st_size if (folder / name).is_file() else None
        if there != size:
            found = "is missing" if there is None else f"has {there} bytes"
            raise PolicyError(
                f"{folder} is not whole: {name} {found}, {size} bytes are expected; copy or export it again"
            )
    return manifest


def _parsed(path: Path) -> Manifest:
    try:
        content: Any = json.loads(path.read_text(encoding="utf-8"))
        if content["kind"] != KIND:
            raise ValueError(f"it describes {content['kind']!r}")
        version = content["version"]
        if version == VERSION:
            return Manifest(
                model=str(content["model"]),
                source_sha256=str(content["source_sha256"]),
                precision=Precision(content["precision"]),
                files={str(name): int(size) for name, size in content["files"].items()},
                packages={str(name): str(found) for name, found in content["packages"].items()},
            )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise PolicyError(f"{path} is no manifest of an exported model: {what}; export the model again") from error
    raise PolicyError(
        f"{path.parent} has the format {version!r} and this hvs_ros runs format {VERSION}: export the model again"
    )
