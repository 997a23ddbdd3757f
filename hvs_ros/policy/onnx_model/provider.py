"""Which of ONNX Runtime's execution providers runs a model. What runs on the processor says so."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError
from hvs_ros.policy.onnx_model.precision import Precision


class Provider(Enum):
    """As a user asks for it."""

    AUTO = "auto"
    """CUDA where it is there, else the processor."""
    CPU = "cpu"
    CUDA = "cuda"
    TENSORRT = "tensorrt"


NAMES = {
    Provider.CPU: "CPUExecutionProvider",
    Provider.CUDA: "CUDAExecutionProvider",
    Provider.TENSORRT: "TensorrtExecutionProvider",
}
INSTALL = (
    "install onnxruntime-gpu in place of onnxruntime (pip uninstall onnxruntime; pip install onnxruntime-gpu) with the "
    "CUDA and cuDNN that it is built for; on a Jetson see docs/jetson.md"
)


@dataclass(frozen=True)
class Choice:
    """What to run on.

    Attributes:
        provider: chosen; never ``AUTO``.
        must: a session that does not get it is refused.
    """

    provider: Provider
    must: bool

    @property
    def on_gpu(self) -> bool:
        """The cache of keys and values lives in the GPU's memory."""
        return self.provider is not Provider.CPU


def choose_provider(
    asked: str, available: Sequence[str], precision: Precision, *, require_gpu: bool, version: str
) -> Choice:
    """Choose.

    Args:
        asked: "auto", "cpu", "cuda" or "tensorrt".
        available: the providers that this ONNX Runtime was built with, by its names.
        precision: of the model.
        require_gpu: refuse to run without one.
        version: of ONNX Runtime, for the error.

    Raises:
        PolicyError: what is asked for contradicts itself or the model.
        PolicyUnavailableError: it is not there; the message says what to install.
    """
    try:
        provider = Provider(asked)
    except ValueError:
        known = ", ".join(provider.value for provider in Provider)
        raise PolicyError(f"provider is {asked!r}; give one of {known}") from None
    if provider is Provider.CPU and require_gpu:
        raise PolicyError("provider is cpu and require_gpu is true; give provider auto, cuda or tensorrt")
    if precision is Precision.FP32:
        if require_gpu or provider in (Provider.CUDA, Provider.TENSORRT):
            raise PolicyError(
                "a model exported as fp32 runs on the CPU alone, for comparisons; export it as fp16 or int4 for a GPU"
            )
        return Choice(Provider.CPU, must=True)
    wanted = NAMES[Provider.TENSORRT] if provider is Provider.TENSORRT else NAMES[Provider.CUDA]
    there = wanted in available
    if provider is Provider.CPU or (provider is Provider.AUTO and not there and not require_gpu):
        return Choice(Provider.CPU, must=True)
    if not there:
        why = "require_gpu is true" if provider is Provider.AUTO else f"provider is {provider.value}"
        raise PolicyUnavailableError(
            f"{why}, but onnxruntime {version} has {', '.join(available)} and not {wanted}: {INSTALL}"
        )
    asked_for = provider is not Provider.AUTO or require_gpu
    return Choice(Provider.CUDA if provider is Provider.AUTO else provider, must=asked_for)


def open_session(runtime: Any, path: Path, choice: Choice, threads: int) -> tuple[Any, Provider]:
    """Load a graph.

    Args:
        runtime: the module onnxruntime.
        path: of the graph.
        choice: what to run it on.
        threads: of the processor; 0: as many as ONNX Runtime likes.

    Returns:
        The onnxruntime.InferenceSession, and the provider that it has got, which is what runs it.

    Raises:
        PolicyError: the graph cannot be loaded.
        PolicyUnavailableError: the provider cannot be used here.
    """
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3  # that some shapes are computed on the processor is no news
    if choice.on_gpu and (preload := getattr(runtime, "preload_dlls", None)) is not None:
        with contextlib.suppress(Exception):  # it looks for CUDA in pip's packages; elsewhere the linker finds it
            preload()
    try:
        session = runtime.InferenceSession(str(path), options, providers=_providers(choice.provider, path.parent))
    except Exception as error:  # of onnxruntime's own kinds
        line = str(error).strip().splitlines()[0]
        raise PolicyError(f"onnxruntime {runtime.__version__} cannot load {path}: {line}") from error
    got = [provider for provider, name in NAMES.items() if name in session.get_providers()]
    if choice.provider in got:
        return session, choice.provider
    # ONNX Runtime goes on without a provider whose libraries cannot be loaded.
    if choice.must:
        raise PolicyUnavailableError(
            f"onnxruntime {runtime.__version__} has {NAMES[choice.provider]} and cannot start it: its CUDA, cuDNN or "
            f"TensorRT libraries are not found, or there is no GPU; {INSTALL}"
        )
    return session, Provider.CPU


def _providers(provider: Provider, folder: Path) -> list[str | tuple[str, dict[str, Any]]]:
    cpu = NAMES[Provider.CPU]
    # Memory grows by what is asked for instead of by doubling: on a Jetson it is everybody's.
    cuda = (NAMES[Provider.CUDA], {"arena_extend_strategy": "kSameAsRequested"})
    tensorrt = (
        NAMES[Provider.TENSORRT],
        # Building its engines takes minutes, so that they are kept.
        {"trt_fp16_enable": True, "trt_engine_cache_enable": True, "trt_engine_cache_path": str(folder / "tensorrt")},
    )
    table: dict[Provider, list[str | tuple[str, dict[str, Any]]]] = {
        Provider.CPU: [cpu],
        Provider.CUDA: [cuda, cpu],
        Provider.TENSORRT: [tensorrt, cuda, cpu],
    }
    return table[provider]
