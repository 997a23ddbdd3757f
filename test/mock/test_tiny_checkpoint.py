from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hvs_ros.mock.tiny_checkpoint import main, write_tiny_checkpoint
from hvs_ros.policy.contract import PolicyUnavailableError
from hvs_ros.policy.qwen.checkpoint import read_checkpoint


def test_it_has_the_real_architecture(tiny_checkpoint: Path) -> None:
    read = read_checkpoint(tiny_checkpoint)
    assert read.vision.window == 112 and read.vision.full_attention == (1,) and read.vision.depth == 2
    assert sum(read.decoder.mrope_sections) * 2 == read.decoder.head_width and read.decoder.tied
    assert read.generation.repetition_penalty == 1.05 and len(read.generation.end) == 2
    assert sum(file.stat().st_size for file in tiny_checkpoint.iterdir()) < 2e6


def test_a_seed_is_a_model(tiny_checkpoint: Path, tmp_path: Path) -> None:
    weights = [
        (write_tiny_checkpoint(tmp_path / str(seed), seed=seed) / "model.safetensors").read_bytes() for seed in (0, 1)
    ]
    assert weights[0] == (tiny_checkpoint / "model.safetensors").read_bytes() != weights[1]


def test_it_is_written_from_the_command_line(
    speaking_checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "a")]) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "a")
    weights = [folder / "model.safetensors" for folder in (tmp_path / "a", speaking_checkpoint)]
    assert weights[0].read_bytes() == weights[1].read_bytes()
    assert main([str(tmp_path / "b"), "--says", "1 1 1 2"]) == 1
    assert "would come twice" in capsys.readouterr().err


def test_a_missing_package_is_one_line_with_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(PolicyUnavailableError, match=r"'torch'.*\.\[export\]") as caught:
        write_tiny_checkpoint(tmp_path)
    assert "\n" not in str(caught.value)
