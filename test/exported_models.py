"""Tiny models exported to ONNX, each made once for all tests of a process."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

Exported = Callable[[Path, str], Path]
"""Returns the folder that a checkpoint was exported to, by checkpoint and precision."""


@pytest.fixture(scope="session")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Exported:
    """Exports what is asked for, unless it is there already."""
    for package in ("torch", "onnx", "onnxscript", "onnxruntime"):
        pytest.importorskip(package)
    from hvs_ros.policy.onnx_model import trace
    from hvs_ros.policy.onnx_model.export import export_model

    folder = tmp_path_factory.mktemp("exported")
    towers: dict[str, Path] = {}

    def export(checkpoint: Path, precision: str) -> Path:
        out = folder / f"{checkpoint.name}_{precision}"
        if out.exists():
            return out
        tower = towers.get(checkpoint.name)
        with pytest.MonkeyPatch.context() as patch:
            if tower is not None and precision != "fp32":
                # All but fp32 have the same vision tower, and tracing is what takes long.
                patch.setattr(trace, "write_vision", lambda _w, _s, _p, path, _told: copy(tower, path.parent))
            export_model(checkpoint, out, precision)
        if precision != "fp32":
            towers[checkpoint.name] = out
        return out

    def copy(source: Path, target: Path) -> None:
        for path in source.glob("vision.onnx*"):
            shutil.copyfile(path, target / path.name)

    return export
