"""The policy ``torch``: a Qwen2.5-VL such as HVS-3B in this process, on a GPU or on the processor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hvs_ros.policy.crew import Crew
from hvs_ros.policy.engine import Engine
from hvs_ros.policy.model_policy import ModelPolicy
from hvs_ros.policy.model_settings import ModelSettings, settings_apart, takes_model_settings
from hvs_ros.policy.qwen.engine import QwenEngine
from hvs_ros.policy.torch_crew import SIZE, TorchCrew
from hvs_ros.policy.torch_settings import TorchSettings


@takes_model_settings
class TorchPolicy(ModelPolicy):
    """Lets a model that torch runs here search.

    Args:
        model: the folder of a checkpoint, or its name on the Hugging Face hub.
        device: "auto" (a GPU where there is one), "cpu", "cuda" or "cuda:1".
        precision: "auto" (bfloat16 on a GPU, float32 on the processor), "float32", "bfloat16" or "float16".
        attention: "auto" (torch's fused attention), "sdpa", "flash_attention_2" or "eager".
        four_bit: load the weights in 4 bits; needs a GPU and bitsandbytes.
        require_gpu: refuse to run on the processor.
        threads: of the processor; 0: as many as torch takes. They are all of this process's.
        reuse: keep what was computed for a prompt, and for its pictures, for the next turn.
        **common: see ``ModelSettings``.

    Raises:
        PolicyError: a setting that cannot be, or a model that is no Qwen2.5-VL.
        PolicyUnavailableError: a package, the model or the GPU is not there.
    """

    def __init__(
        self,
        model: str = "",
        device: str = "auto",
        precision: str = "auto",
        attention: str = "auto",
        four_bit: bool = False,
        require_gpu: bool = False,
        threads: int = 0,
        reuse: bool = True,
        **common: Any,
    ) -> None:
        settings = ModelSettings.of(common)
        own = TorchSettings(model, device, precision, attention, four_bit, require_gpu, threads, reuse)

        def load() -> Engine:
            checkpoint, network = own.load()
            return QwenEngine(
                checkpoint,
                network,
                max_tokens=settings.max_tokens,
                temperature=settings.temperature,
                stop=settings.stops,
                reuse=own.reuse,
            )

        super().__init__(load, settings)

    @staticmethod
    def crew(settings: Mapping[str, Any], size: int | None = None) -> Crew:
        """Return searchers whose prompts are answered in batches.

        Args:
            settings: as for the policy.
            size: how many; None: 8.

        Raises:
            PolicyError: a setting that cannot be.
        """
        own, common = settings_apart(settings, TorchSettings)
        return TorchCrew(TorchSettings(**own), common, SIZE if size is None else size)
