from __future__ import annotations

import json
from pathlib import Path

import pytest

from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError
from hvs_ros.policy.onnx_model.manifest import FILE, VERSION, Manifest, read_manifest
from hvs_ros.policy.onnx_model.precision import Precision


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What looks like an export."""
    (tmp_path / "decoder.onnx").write_bytes(b"12345")
    Manifest("HVS-3B", "ab" * 32, Precision.INT4, {"decoder.onnx": 5}, {"torch": "2.13.0"}).write(tmp_path)
    return tmp_path


def change(folder: Path, **changed: object) -> None:
    path = folder / FILE
    path.write_text(json.dumps({**json.loads(path.read_text()), **changed}))


def test_what_was_written_is_read(folder: Path) -> None:
    read = read_manifest(str(folder))
    assert read == Manifest("HVS-3B", "ab" * 32, Precision.INT4, {"decoder.onnx": 5}, {"torch": "2.13.0"})


def test_no_folder_and_no_export(tmp_path: Path) -> None:
    with pytest.raises(PolicyUnavailableError, match=r"there is no folder .*hvs model export CHECKPOINT --out FOLDER"):
        read_manifest(tmp_path / "nowhere")
    with pytest.raises(PolicyError, match="no exported model: export it first"):
        read_manifest(tmp_path)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(PolicyError, match=f"a checkpoint: export it first, hvs model export {tmp_path}"):
        read_manifest(tmp_path)


def test_another_format(folder: Path) -> None:
    change(folder, version=VERSION + 1)
    with pytest.raises(PolicyError, match=rf"has the format {VERSION + 1} and .* runs format {VERSION}: export"):
        read_manifest(folder)


@pytest.mark.parametrize("changed", [{"kind": "something"}, {"files": 5}, {"precision": "fp7"}])
def test_what_is_no_manifest(folder: Path, changed: dict[str, object]) -> None:
    change(folder, **changed)
    with pytest.raises(PolicyError, match="is no manifest of an exported model"):
        read_manifest(folder)
    (folder / FILE).write_text("{")
    with pytest.raises(PolicyError, match="is no manifest of an exported model"):
        read_manifest(folder)


def test_a_copy_that_is_not_whole(folder: Path) -> None:
    (folder / "decoder.onnx").write_bytes(b"123")
    with pytest.raises(PolicyError, match=r"is not whole: decoder\.onnx has 3 bytes, 5 bytes are expected"):
        read_manifest(folder)
    (folder / "decoder.onnx").unlink()
    with pytest.raises(PolicyError, match=r"decoder\.onnx is missing"):
        read_manifest(folder)
