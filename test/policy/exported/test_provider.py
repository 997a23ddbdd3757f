"""What runs on the processor says so (case S5)."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError
from hvs_ros.policy.onnx_model.precision import Precision
from hvs_ros.policy.onnx_model.provider import Choice, Provider, choose_provider, open_session

CPU, CUDA, TENSORRT = "CPUExecutionProvider", "CUDAExecutionProvider", "TensorrtExecutionProvider"
EVERYTHING = [TENSORRT, CUDA, CPU]


def choose(
    asked: str, available: list[str], precision: Precision = Precision.INT4, *, require_gpu: bool = False
) -> Choice:
    return choose_provider(asked, available, precision, require_gpu=require_gpu, version="1.23.0")


@pytest.mark.parametrize(
    ("asked", "available", "require_gpu", "chosen", "must"),
    [
        ("auto", [CPU], False, Provider.CPU, True),
        ("auto", EVERYTHING, False, Provider.CUDA, False),
        ("auto", EVERYTHING, True, Provider.CUDA, True),
        ("cpu", EVERYTHING, False, Provider.CPU, True),
        ("cuda", EVERYTHING, False, Provider.CUDA, True),
        ("tensorrt", EVERYTHING, False, Provider.TENSORRT, True),
    ],
)
def test_the_choice(asked: str, available: list[str], require_gpu: bool, chosen: Provider, must: bool) -> None:
    assert choose(asked, available, require_gpu=require_gpu) == Choice(chosen, must)


@pytest.mark.parametrize(("asked", "require_gpu"), [("auto", True), ("cuda", False), ("cuda", True)])
def test_without_a_gpu_it_says_what_to_install(asked: str, require_gpu: bool) -> None:
    with pytest.raises(
        PolicyUnavailableError, match=r"1\.23\.0 has CPUExecutionProvider and not CUDAE.*onnxruntime-gpu"
    ):
        choose(asked, [CPU], require_gpu=require_gpu)
    with pytest.raises(PolicyUnavailableError, match=r"not TensorrtExecutionProvider.*docs/jetson\.md"):
        choose("tensorrt", [CPU])


def test_what_contradicts_itself() -> None:
    with pytest.raises(PolicyError, match="provider is cpu and require_gpu is true"):
        choose("cpu", EVERYTHING, require_gpu=True)
    with pytest.raises(PolicyError, match="give one of auto, cpu, cuda, tensorrt"):
        choose("gpu", EVERYTHING)
    for asked, require_gpu in (("cuda", False), ("auto", True)):
        with pytest.raises(PolicyError, match="fp32 runs on the CPU alone"):
            choose(asked, EVERYTHING, Precision.FP32, require_gpu=require_gpu)
    assert choose("auto", EVERYTHING, Precision.FP32).provider is Provider.CPU


class Runtime:
    """An ONNX Runtime that was built for a GPU and does not find one."""

    __version__ = "1.23.0"

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def SessionOptions(self) -> SimpleNamespace:  # noqa: N802
        return SimpleNamespace()

    def InferenceSession(self, path: str, options: object, providers: list[Any]) -> SimpleNamespace:  # noqa: N802
        self.asked.append(providers)
        return SimpleNamespace(get_providers=lambda: [CPU])


def test_a_provider_that_does_not_start() -> None:
    runtime = Runtime()
    with pytest.raises(PolicyUnavailableError, match=r"cannot start it.*there is no GPU.*onnxruntime-gpu"):
        open_session(runtime, Path("vision.onnx"), Choice(Provider.CUDA, must=True), 0)
    _, provider = open_session(runtime, Path("vision.onnx"), Choice(Provider.CUDA, must=False), 0)
    assert provider is Provider.CPU
    assert [entry if isinstance(entry, str) else entry[0] for entry in runtime.asked[0]] == [CUDA, CPU]
