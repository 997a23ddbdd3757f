from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("onnxscript")

from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError
from hvs_ros.policy.onnx_model import export, needs, trace
from hvs_ros.policy.onnx_model.export import export_model
from hvs_ros.policy.onnx_model.manifest import read_manifest
from hvs_ros.policy.onnx_model.needs import export_needs
from hvs_ros.policy.onnx_model.precision import Precision
from hvs_ros.policy.qwen.checkpoint import CheckpointError

SCRIPT = """
import sys
from hvs_ros.policy.onnx_model.export import export_model
export_model(sys.argv[1], sys.argv[2], "int4", progress=lambda line: print(line, flush=True))
"""


@pytest.mark.timeout(300)  # it takes long on a busy machine
def test_killed_in_the_middle_it_leaves_nothing_that_loads(tiny_checkpoint: Path, tmp_path: Path) -> None:
    out = tmp_path / "exported"
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tiny_checkpoint), str(out)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    with process:
        lines = []
        for line in process.stdout:
            lines.append(line.strip())
            if line.startswith("decoder: tracing"):  # the vision tower is written by now
                process.send_signal(signal.SIGKILL)
                break
    assert process.returncode == -signal.SIGKILL
    assert lines[0].startswith("tiny as int4: needs 0.0") and "GB on the disk" in lines[0]
    assert "vision tower: tracing" in lines
    assert not out.exists()
    (left,) = tmp_path.iterdir()
    assert (left / "vision.onnx").exists()
    with pytest.raises(PolicyError, match="export it first"):
        read_manifest(left)


def test_an_error_leaves_nothing_at_all(tiny_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(trace, "write_vision", lambda *_: None)
    monkeypatch.setattr(trace, "write_decoder", fails)
    (tmp_path / f".exported.partial-{os.getpid() + 1}").mkdir()
    lines: list[str] = []
    with pytest.raises(OSError, match="No space left"):
        export_model(tiny_checkpoint, tmp_path / "exported", progress=lines.append)
    assert [path.name for path in tmp_path.iterdir()] == [f".exported.partial-{os.getpid() + 1}"]
    assert any("is left of an export that was interrupted" in line for line in lines)


def test_refused_before_it_starts(tiny_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PolicyError, match="there is no precision 'int2'; known are fp32, fp16, int8, int4"):
        export_model(tiny_checkpoint, tmp_path / "a", "int2")
    with pytest.raises(PolicyUnavailableError, match="there is no folder"):
        export_model(tmp_path / "nowhere", tmp_path / "a")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(PolicyError, match="is there already: name another folder"):
        export_model(tiny_checkpoint, tmp_path / "full")
    monkeypatch.setattr(needs, "available_memory", lambda: 100_000_000)
    with pytest.raises(PolicyError, match=r"needs 1\.2 GB of memory, 0\.1 GB are available"):
        export_model(tiny_checkpoint, tmp_path / "a")
    monkeypatch.setattr(needs.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 1_000_000}))
    with pytest.raises(PolicyError, match=r"needs 0\.02 GB on the disk of .*, 0\.00 GB are free"):
        export_model(tiny_checkpoint, tmp_path / "a")
    assert not (tmp_path / "a").exists()


def test_weights_that_are_not_all_there(tiny_checkpoint: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    for path in tiny_checkpoint.iterdir():
        if path.suffix != ".safetensors":
            (broken / path.name).write_bytes(path.read_bytes())
    with pytest.raises(CheckpointError, match=r"holds no model\.safetensors"):
        export_model(broken, tmp_path / "a")
    whole = (tiny_checkpoint / "model.safetensors").read_bytes()
    (broken / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CheckpointError, match=r"cannot be read: .*is it complete"):
        export_model(broken, tmp_path / "a")


def test_a_missing_package_is_named(tiny_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    with pytest.raises(PolicyUnavailableError, match=r"needs the package 'onnxscript' .*pip install -e '\.\[export\]'"):
        export.export_model(tiny_checkpoint, tmp_path / "a")


def test_the_needs_of_the_real_model() -> None:
    from dataclasses import replace
    from types import SimpleNamespace

    from hvs_ros.policy.qwen.checkpoint import DecoderShape, VisionShape

    vision = VisionShape(32, 1280, 16, 3420, 2048, 14, 2, 2, 112, (7, 15, 23, 31))
    decoder = DecoderShape(36, 2048, 11008, 16, 2, 151936, 1e-6, 1e6, (16, 24, 24), True, 128000)
    checkpoint: Any = SimpleNamespace(vision=vision, decoder=decoder)
    # Measured with random weights of that size.
    four = export_needs(checkpoint, Precision.INT4)
    assert four.decoder == pytest.approx(1.77e9, rel=0.02)
    assert four.vision == pytest.approx(1.34e9, rel=0.02)
    assert four.embeddings == pytest.approx(0.62e9, rel=0.02)
    assert export_needs(checkpoint, Precision.FP16).disk > 7.9e9
    small: Any = SimpleNamespace(vision=vision, decoder=replace(decoder, layers=2))
    assert export_needs(small, Precision.FP16).memory == export_needs(checkpoint, Precision.FP16).memory
