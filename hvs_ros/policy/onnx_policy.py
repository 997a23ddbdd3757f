"""The policy ``onnx``: an exported Qwen2.5-VL such as HVS-3B in this process, without torch."""

from __future__ import annotations

import importlib
from typing import Any

from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError
from hvs_ros.policy.engine import Engine
from hvs_ros.policy.model_policy import ModelPolicy
from hvs_ros.policy.model_settings import ModelSettings, takes_model_settings
from hvs_ros.policy.onnx_model.manifest import read_manifest
from hvs_ros.policy.onnx_model.network import OnnxNetwork
from hvs_ros.policy.onnx_model.provider import choose_provider
from hvs_ros.policy.qwen.checkpoint import read_checkpoint
from hvs_ros.policy.qwen.engine import QwenEngine

NEEDED = ("onnxruntime", "tokenizers", "PIL")
EXTRA = "the extra 'onnx' of hvs_ros, pip install -e '.[onnx]' in its folder"


@takes_model_settings
class OnnxPolicy(ModelPolicy):
    """Lets an exported model search.

    Args:
        model: a folder that ``hvs model export`` has made.
        provider: "auto" (CUDA where it is there), "cpu", "cuda" or "tensorrt".
        require_gpu: refuse to run on the processor.
        threads: of the processor; 0: as many as ONNX Runtime likes.
        reuse: keep what was computed for a prompt, and for its pictures, for the next turn.
        **common: see ``ModelSettings``.

    Raises:
        PolicyError: a setting that cannot be, or a folder that holds no exported model.
        PolicyUnavailableError: a package, the folder or the GPU is not there.
    """

    def __init__(
        self,
        model: str = "",
        provider: str = "auto",
        require_gpu: bool = False,
        threads: int = 0,
        reuse: bool = True,
        **common: Any,
    ) -> None:
        settings = ModelSettings.of(common)
        if isinstance(threads, bool) or not isinstance(threads, int) or not 0 <= threads <= 1024:
            raise PolicyError(f"threads is {threads!r}; give a whole number, 0 for as many as ONNX Runtime likes")

        def load() -> Engine:
            return load_engine(
                model, settings, provider=provider, require_gpu=require_gpu, threads=threads, reuse=reuse
            )

        super().__init__(load, settings)


def load_engine(
    model: str,
    settings: ModelSettings,
    *,
    provider: str = "auto",
    require_gpu: bool = False,
    threads: int = 0,
    reuse: bool = True,
) -> QwenEngine:
    """Load an exported model; see ``OnnxPolicy``."""
    runtime = _require_packages()
    if not str(model).strip():
        raise PolicyError(
            "policy 'onnx' has no model: give --model FOLDER (for a node policy.model:=FOLDER), made by "
            "hvs model export CHECKPOINT --out FOLDER"
        )
    exported = read_manifest(model)
    choice = choose_provider(
        provider,
        runtime.get_available_providers(),
        exported.precision,
        require_gpu=require_gpu,
        version=runtime.__version__,
    )
    checkpoint = read_checkpoint(model)
    return QwenEngine(
        checkpoint,
        OnnxNetwork(runtime, checkpoint, exported, choice, threads),
        name=exported.model,
        max_tokens=settings.max_tokens,
        temperature=settings.temperature,
        stop=settings.stops,
        reuse=reuse,
    )


def _require_packages() -> Any:
    for name in NEEDED:
        try:
            importlib.import_module(name)
        except (ImportError, OSError) as error:
            raise PolicyUnavailableError(f"policy 'onnx' needs the package '{name}' ({error}): {EXTRA}") from error
    return importlib.import_module("onnxruntime")
