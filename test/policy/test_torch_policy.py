from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_models import SAYS

from hvs_ros.angles import Direction
from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError
from hvs_ros.policy.registry import create_policy, policy_settings
from hvs_ros.policy.runner import PolicyRunner
from hvs_ros.search.action import Submit
from hvs_ros.search.decision import ParseStatus
from hvs_ros.search.episode import Outcome
from hvs_ros.search.loop import run_search
from hvs_ros.search.task import Task, TaskKind
from hvs_ros.search.view import Arrival, MoveOutcome, View

ADDRESS = "hvs_ros.policy.torch_policy:TorchPolicy"


class Head:
    """A head that turns at once, and sees something else wherever it looks."""

    def __init__(self) -> None:
        self.direction = Direction(0, 0)

    def look(self) -> View:
        seed = int(self.direction.yaw_deg * 100 + self.direction.pitch_deg) % 2**32
        image = np.random.default_rng(seed).integers(0, 256, (180, 320, 3), np.uint8)
        return View(image, self.direction, 1, 100.0)

    def turn_to(self, goal: Direction) -> Arrival:
        self.direction = goal
        return Arrival(MoveOutcome.REACHED, goal, 1)


def torch_policy(folder: Path, **settings: Any) -> Any:
    return create_policy(ADDRESS, {"model": str(folder), "device": "cpu", "max_tokens": 16, **settings})


@pytest.mark.parametrize("kind", TaskKind)
def test_a_whole_search(speaking_checkpoint: Path, kind: TaskKind) -> None:
    runner = PolicyRunner(lambda: torch_policy(speaking_checkpoint))
    for _ in range(2):
        result = run_search(Task("find the exit sign", kind), Head(), runner)
        assert result.outcome is Outcome.SUBMITTED, result.message
        assert result.submitted == Direction(30, 5)
        decision = result.turns[0].decision
        assert decision.raw == SAYS and decision.action == Submit(30, 5)
        assert "320x180 seen as 308x168, 66 image tokens" in decision.made and "device cpu" in decision.made
        assert decision.usage.image_tokens == 66 and (decision.usage.prompt_tokens or 0) > 100
    runner.close()


def test_what_means_nothing_uses_up_the_turns(tiny_checkpoint: Path) -> None:
    runner = PolicyRunner(lambda: torch_policy(tiny_checkpoint, max_tokens=4))
    result = run_search(Task("find the exit sign", max_turns=7), Head(), runner)
    assert result.outcome is Outcome.TURNS_EXHAUSTED and len(result.turns) == 7, result.message
    statuses = {turn.decision.status for turn in result.turns}
    assert statuses <= {ParseStatus.NO_ANSWER, ParseStatus.TRUNCATED}
    runner.close()


def test_the_device_in_use_is_reported(speaking_checkpoint: Path) -> None:
    policy = torch_policy(speaking_checkpoint, precision="bfloat16", attention="eager", temperature=0.5)
    told = policy.describe()
    assert told["model"] == "speaking" and told["device"] == "cpu" and told["precision"] == "bfloat16"
    assert told["attention"] == "eager" and str(told["runtime"]).startswith("torch ")
    assert told["sampling"] == "temperature 0.5 with repetition penalty 1.05 and at most 16 tokens"
    result = run_search(Task("find it"), Head(), PolicyRunner(lambda: policy))
    assert result.outcome is Outcome.SUBMITTED, result.message


def test_its_settings_are_listed() -> None:
    settings = policy_settings(ADDRESS)
    assert settings["device"] == "auto" and settings["require_gpu"] is False and settings["max_tokens"] == 1024


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"device": "tpu"}, "device is 'tpu'; give auto, cpu or cuda"),
        ({"precision": "int3"}, "precision is 'int3'"),
        ({"attention": "much"}, "attention is 'much'"),
        ({"require_gpu": True, "device": "cpu"}, "require_gpu is true and device is 'cpu'"),
        ({"threads": -1}, "threads is -1"),
        ({"threads": "many"}, "threads is 'many'; give a whole number"),
        ({"max_tokens": 0}, "max_tokens is 0"),
        ({"sped": 1}, "no setting sped"),
    ],
)
def test_settings_that_cannot_be_are_named(tiny_checkpoint: Path, settings: dict[str, Any], reason: str) -> None:
    with pytest.raises(PolicyError, match=reason):
        torch_policy(tiny_checkpoint, **settings)


@pytest.mark.parametrize(
    "settings",
    [{"require_gpu": True, "device": "auto"}, {"device": "cuda"}, {"four_bit": True, "device": "auto"}],
)
def test_without_the_gpu_it_needs_it_says_what_to_install(tiny_checkpoint: Path, settings: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(PolicyUnavailableError, match=r"GPU.*install a build of torch for the CUDA") as caught:
        torch_policy(tiny_checkpoint, **settings)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("asked", "knows_bfloat16", "device", "precision"),
    [
        ({}, True, "cuda", "bfloat16"),
        ({}, False, "cuda", "float16"),
        ({"device": "cuda:1", "precision": "float32"}, True, "cuda:1", "float32"),
        ({"device": "cpu"}, True, "cpu", "float32"),
        ({"require_gpu": True}, True, "cuda", "bfloat16"),
    ],
)
def test_where_there_is_a_gpu_it_is_used_and_named(
    monkeypatch: pytest.MonkeyPatch, asked: dict[str, Any], knows_bfloat16: bool, device: str, precision: str
) -> None:
    torch = pytest.importorskip("torch")
    from hvs_ros.policy.torch_device import choose_device

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: knows_bfloat16)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "Some GPU")
    choice = choose_device(**asked)
    assert (choice.device, choice.precision, choice.attention) == (device, precision, "sdpa")
    assert choice.label == (device if device == "cpu" else f"{device} (Some GPU)")


def test_half_precision_keeps_the_vision_tower_exact(tiny_checkpoint: Path) -> None:
    policy = torch_policy(tiny_checkpoint, precision="float16", max_tokens=4)
    assert policy.describe()["precision"] == "float16"
    result = run_search(Task("find it", max_turns=1), Head(), PolicyRunner(lambda: policy))
    assert result.outcome in (Outcome.TURNS_EXHAUSTED, Outcome.SUBMITTED), result.message


@pytest.mark.parametrize("package", ["torch", "transformers", "tokenizers", "safetensors", "PIL"])
def test_a_missing_package_is_one_line_with_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    from hvs_ros.policy import torch_model

    if package != "torch":
        pytest.importorskip("torch")
    monkeypatch.setattr(torch_model, "NEEDED", (package,))
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(PolicyUnavailableError, match=rf"'{package}'.*\.\[torch\]") as caught:
        torch_policy(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("", "give --model FOLDER"),
        ("/nowhere/at/all", "no folder /nowhere/at/all"),
        ("./here", "no folder here, and './here' is no name on the hub"),
        ("humanoid-vstar/HVS-3B", r"HF_HUB_OFFLINE is set: download it .*\(hf download humanoid-vstar/HVS-3B\)"),
    ],
)
def test_a_model_that_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, model: str, reason: str) -> None:
    for package in ("torch", "transformers"):
        pytest.importorskip(package)
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(PolicyError, match=reason) as caught:
        torch_policy(model)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_another_kind_of_model_is_refused_before_its_weights_are_read(tmp_path: Path) -> None:
    for package in ("torch", "transformers"):
        pytest.importorskip(package)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "qwen3_vl"}))
    with pytest.raises(PolicyError, match=r"'qwen3_vl' .Qwen3-VL.; in process only Qwen2.5-VL"):
        torch_policy(tmp_path)


def test_an_export_is_told_from_a_checkpoint(tmp_path: Path) -> None:
    for package in ("torch", "transformers"):
        pytest.importorskip(package)
    for name in ("manifest.json", "decoder.onnx"):
        (tmp_path / name).touch()
    with pytest.raises(PolicyError, match="was made by hvs model export: run it with the policy 'onnx'"):
        torch_policy(tmp_path)


def test_weights_that_cannot_be_loaded(tiny_checkpoint: Path, tmp_path: Path) -> None:
    import shutil

    broken = Path(shutil.copytree(tiny_checkpoint, tmp_path / "broken"))
    weights = broken / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(PolicyUnavailableError, match="broken cannot be loaded") as caught:
        torch_policy(broken)
    assert "\n" not in str(caught.value)
    weights.unlink()
    with pytest.raises(PolicyUnavailableError, match="broken cannot be loaded"):
        torch_policy(broken)
