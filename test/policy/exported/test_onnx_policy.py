"""The policy onnx in whole searches, without torch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("onnxruntime")

from exported_models import Exported
from tiny_models import SAYS

from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError
from hvs_ros.policy.registry import create_policy, policy_settings

pytestmark = pytest.mark.timeout(300)  # an export takes long on a busy machine

ADDRESS = "hvs_ros.policy.onnx_policy:OnnxPolicy"

SEARCH = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "transformers", "onnx", "onnxscript", "onnx_ir", "safetensors"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocked())

import numpy as np
from hvs_ros.angles import Direction
from hvs_ros.policy.registry import create_policy
from hvs_ros.policy.runner import PolicyRunner
from hvs_ros.search.loop import run_search
from hvs_ros.search.task import Task
from hvs_ros.search.view import Arrival, MoveOutcome, View

class Head:
    def look(self):
        return View(np.full((180, 320, 3), 90, np.uint8), Direction(0, 0), 1, 100.0)
    def turn_to(self, goal):
        return Arrival(MoveOutcome.REACHED, goal, 1)

settings = {"model": sys.argv[1], "provider": "cpu", "threads": 1, "max_tokens": 16}
runner = PolicyRunner(lambda: create_policy("hvs_ros.policy.onnx_policy:OnnxPolicy", settings))
for _ in range(2):
    result = run_search(Task("find the exit sign"), Head(), runner)
    print(result.outcome.name, result.submitted, result.turns[0].decision.made if result.turns else result.message)
runner.close()
print("torch" in sys.modules)
"""


def test_whole_searches_where_there_is_no_torch(speaking_checkpoint: Path, exported: Exported) -> None:
    folder = exported(speaking_checkpoint, "int4")
    done = subprocess.run(
        [sys.executable, "-c", SEARCH, str(folder)], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    *searches, torch = done.stdout.splitlines()
    assert torch == "False"
    for line in searches:
        assert line.startswith("SUBMITTED (30.0, 5.0) "), line
        for part in ("provider cpu (CPUExecutionProvider)", "precision int4", "model speaking", "66 image tokens"):
            assert part in line
    assert len(searches) == 2


def test_settings_are_checked_before_a_model_is_loaded() -> None:
    settings = policy_settings(ADDRESS)
    assert settings["provider"] == "auto" and settings["require_gpu"] is False and settings["max_tokens"] == 1024
    with pytest.raises(PolicyError, match="no setting providers"):
        create_policy(ADDRESS, {"providers": "cpu"})
    with pytest.raises(PolicyError, match=r"has no model: give --model FOLDER .*, made by hvs model export"):
        create_policy(ADDRESS)
    with pytest.raises(PolicyError, match="threads is -1"):
        create_policy(ADDRESS, {"threads": -1})


def test_what_is_no_export(tmp_path: Path, tiny_checkpoint: Path) -> None:
    with pytest.raises(PolicyUnavailableError, match="there is no folder"):
        create_policy(ADDRESS, {"model": str(tmp_path / "nowhere")})
    with pytest.raises(PolicyError, match="is a checkpoint: export it first"):
        create_policy(ADDRESS, {"model": str(tiny_checkpoint)})


def test_a_missing_package_is_named(
    speaking_checkpoint: Path, exported: Exported, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = exported(speaking_checkpoint, "int4")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(PolicyUnavailableError, match=r"needs the package 'onnxruntime' .*pip install -e '\.\[onnx\]'"):
        create_policy(ADDRESS, {"model": str(folder)})


def test_no_gpu_where_one_is_required(speaking_checkpoint: Path, exported: Exported) -> None:
    import onnxruntime

    if "CUDAExecutionProvider" in onnxruntime.get_available_providers():
        pytest.skip("this onnxruntime has CUDA")
    with pytest.raises(PolicyUnavailableError, match=r"require_gpu is true, but .* install onnxruntime-gpu"):
        create_policy(ADDRESS, {"model": str(exported(speaking_checkpoint, "int4")), "require_gpu": True})


def test_verify(speaking_checkpoint: Path, exported: Exported, capsys: pytest.CaptureFixture[str]) -> None:
    from hvs_ros.cli.main import main

    pytest.importorskip("transformers")
    folder = exported(speaking_checkpoint, "int4")
    few = ["--size", "160x90", "--searches", "2", "--turns", "2", "--policy-setting", "max_tokens=16"]
    assert main(["model", "verify", str(speaking_checkpoint), str(folder), *few]) == 0
    out = capsys.readouterr().out
    assert SAYS[len("<answer>") : -len("</answer>")] in out
    assert "actions: 4 of 4 agree (100.0 %); tokens: " in out
    assert "agrees: 1.000, threshold 0.95" in out


def test_verify_fails_where_models_differ(
    speaking_checkpoint: Path,
    exported: Exported,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import cv2
    from conversation import view

    from hvs_ros.cli.main import main
    from hvs_ros.policy.qwen.engine import QwenEngine

    pytest.importorskip("transformers")
    for number in range(3):
        cv2.imwrite(str(tmp_path / f"{number}.png"), view(number, 160, 90))
    folder = exported(speaking_checkpoint, "int4")
    told = QwenEngine.describe

    def describe(engine: QwenEngine) -> object:
        description = told(engine)
        if "provider" in description:
            engine._max_tokens = 3  # so that the export never comes to its answer
        return description

    monkeypatch.setattr(QwenEngine, "describe", describe)
    few = ["--frames", str(tmp_path), "--turns", "2", "--policy-setting", "max_tokens=16"]
    assert main(["model", "verify", str(speaking_checkpoint), str(folder), *few]) == 1
    out = capsys.readouterr().out
    assert "0.png turn 2: truncated INSTEAD OF submit(30,5)" in out
    assert "actions: 0 of 3 agree" in out and "DOES NOT AGREE: 0.000" in out


def test_verify_wants_the_checkpoint_itself(
    tiny_checkpoint: Path, speaking_checkpoint: Path, exported: Exported, capsys: pytest.CaptureFixture[str]
) -> None:
    from hvs_ros.cli.main import main

    pytest.importorskip("transformers")
    folder = exported(speaking_checkpoint, "int4")
    assert main(["model", "verify", str(tiny_checkpoint), str(folder)]) == 2
    assert f"{folder} was not exported from {tiny_checkpoint}" in capsys.readouterr().err
