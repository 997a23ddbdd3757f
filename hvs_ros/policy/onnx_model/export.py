"""Exports a Qwen2.5-VL checkpoint to ONNX: ``hvs model export``.

torch traces the graphs without weights; weights are read, converted and written one at a time. So it runs on a CPU and
in little more memory than the largest weight needs. Everything is written to a folder beside the one asked for, which
gets its name when it is whole.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError
from hvs_ros.policy.onnx_model.manifest import CHECKPOINT_FILES, DECODER, EMBEDDINGS, VISION, Manifest
from hvs_ros.policy.onnx_model.needs import GIGA, check_room, export_needs
from hvs_ros.policy.onnx_model.precision import Precision
from hvs_ros.policy.qwen.checkpoint import Checkpoint, read_checkpoint

if TYPE_CHECKING:
    from hvs_ros.policy.onnx_model.weights import Weights

NEEDED = ("torch", "onnx", "onnxscript", "onnx_ir", "safetensors")
"""Packages of the extra ``export``; the runtime has none of them."""
NAMED = ("hvs_ros", "torch", "onnx", "onnxscript", "onnx-ir", "numpy")
"""Packages whose versions are kept with an export."""
ROWS = 8192
"""Of the embedding table, converted at once."""

Progress = Callable[[str], None]


def export_model(
    source: str | Path, out: str | Path, precision: str = "fp16", *, progress: Progress = lambda _line: None
) -> Manifest:
    """Export a checkpoint.

    Args:
        source: folder of the checkpoint.
        out: folder to make; it must not be there, or be empty.
        precision: "fp32", "fp16", "int8" or "int4".
        progress: is given lines to show.

    Returns:
        What the folder now says of itself.

    Raises:
        PolicyError: it cannot be exported so; ``out`` is then as before.
        PolicyUnavailableError: a package or the checkpoint is missing.
    """
    chosen = Precision.named(precision)
    out = Path(os.path.abspath(Path(out).expanduser()))
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise PolicyError(f"{out} is there already: name another folder, or remove it")
    checkpoint = read_checkpoint(source)
    _require_packages()
    from hvs_ros.policy.onnx_model.weights import Weights, source_hash

    out.parent.mkdir(parents=True, exist_ok=True)
    weights = Weights(checkpoint.folder, tied=checkpoint.decoder.tied)
    needs = export_needs(checkpoint, chosen)
    progress(f"{checkpoint.name} as {chosen.value}: needs {needs}")
    check_room(needs, out.parent)
    for left in sorted(out.parent.glob(f".{out.name}.partial-*")):
        progress(f"{left} is left of an export that was interrupted or is under way; it can be removed if it is not")
    partial = out.parent / f".{out.name}.partial-{os.getpid()}"
    partial.mkdir()
    try:
        _write(checkpoint, weights, chosen, partial, progress)
        progress("checksum of the checkpoint")
        digest = source_hash(checkpoint.folder, weights.files)
        files = {path.name: path.stat().st_size for path in sorted(partial.iterdir())}
        exported = Manifest(checkpoint.name, digest, chosen, files, _versions())
        exported.write(partial)
        # Without this, a power cut could leave the name and not the content.
        _flush(partial)
        partial.rename(out)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    progress(f"{out}: {sum(files.values()) / GIGA:.2f} GB in {len(files) + 1} files")
    return exported


def _write(checkpoint: Checkpoint, weights: Weights, precision: Precision, folder: Path, progress: Progress) -> None:
    from hvs_ros.policy.onnx_model.trace import write_decoder, write_vision

    for name in CHECKPOINT_FILES:
        if (checkpoint.folder / name).is_file():
            shutil.copyfile(checkpoint.folder / name, folder / name)
    if not (folder / "preprocessor_config.json").is_file():
        shutil.copyfile(checkpoint.folder / "processor_config.json", folder / "processor_config.json")
    progress("vision tower: tracing")
    write_vision(weights, checkpoint.vision, precision, folder / VISION, _shares("vision tower", progress))
    progress("decoder: tracing")
    write_decoder(weights, checkpoint.decoder, precision, folder / DECODER, _shares("decoder", progress))
    progress("embeddings: writing")
    _write_embeddings(checkpoint, weights, precision, folder / EMBEDDINGS)


def _write_embeddings(checkpoint: Checkpoint, weights: Weights, precision: Precision, path: Path) -> None:
    from hvs_ros.policy.onnx_model.weights import EMBEDDINGS as NAME

    shape = (checkpoint.decoder.vocabulary, checkpoint.decoder.hidden)
    weights.require(NAME, shape)
    table = weights.read(NAME)
    written = np.lib.format.open_memmap(path, "w+", np.float16 if precision.half else np.float32, shape)
    for row in range(0, shape[0], ROWS):
        written[row : row + ROWS] = table[row : row + ROWS].float().numpy()
    written.flush()


def _shares(what: str, progress: Progress) -> Callable[[int, int], None]:
    """Return what tells of every tenth that is written."""
    told = 0

    def written(done: int, total: int) -> None:
        nonlocal told
        tenths = 10 * done // max(1, total)
        if tenths > told:
            told = tenths
            progress(f"{what}: {10 * tenths} % of {total / GIGA:.2f} GB written")

    return written


def _require_packages() -> None:
    for name in NEEDED:
        try:
            importlib.import_module(name)
        except (ImportError, OSError) as error:  # torch raises OSError where one of its libraries is missing
            raise PolicyUnavailableError(
                f"exporting a model needs the package '{name}' ({error}): the extra 'export' of hvs_ros, "
                "pip install -e '.[export]' in its folder"
            ) from error


def _versions() -> dict[str, str]:
    found = {}
    for name in NAMED:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:  # a source checkout on PYTHONPATH
            found[name] = "unknown"
    return found


def _flush(folder: Path) -> None:
    for path in [*folder.iterdir(), folder]:
        opened = os.open(path, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
