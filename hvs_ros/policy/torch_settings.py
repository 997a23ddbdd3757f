"""Settings of the policy that runs a model with torch, beside those that all models have."""

from __future__ import annotations

from dataclasses import dataclass

from hvs_ros.policy.contract import PolicyError
from hvs_ros.policy.qwen.checkpoint import Checkpoint
from hvs_ros.policy.torch_device import choose_device, use_threads
from hvs_ros.policy.torch_model import load_network, read_model, require_packages
from hvs_ros.policy.torch_network import TorchNetwork


@dataclass(frozen=True)
class TorchSettings:
    """Which model, and where it runs.

    Attributes:
        model: the folder of a checkpoint, or its name on the Hugging Face hub.
        device: "auto" (a GPU where there is one), "cpu", "cuda" or "cuda:1".
        precision: "auto" (bfloat16 on a GPU, float32 on the processor), "float32", "bfloat16" or "float16".
        attention: "auto" (torch's fused attention), "sdpa", "flash_attention_2" or "eager".
        four_bit: load the weights in 4 bits; needs a GPU and bitsandbytes.
        require_gpu: refuse to run on the processor.
        threads: of the processor; 0: as many as torch takes. They are all of this process's.
        reuse: keep what was computed for a prompt, and for its pictures, for the next turn.

    Raises:
        PolicyError: a value that cannot be.
    """

    model: str = ""
    device: str = "auto"
    precision: str = "auto"
    attention: str = "auto"
    four_bit: bool = False
    require_gpu: bool = False
    threads: int = 0
    reuse: bool = True

    def __post_init__(self) -> None:
        threads = self.threads
        if isinstance(threads, bool) or not isinstance(threads, int) or not 0 <= threads <= 1024:
            raise PolicyError(f"threads is {threads!r}; give a whole number, 0 for torch's choice")

    def load(self) -> tuple[Checkpoint, TorchNetwork]:
        """Load the model, which may take minutes.

        Raises:
            PolicyError: a setting that cannot be, or a model that is no Qwen2.5-VL.
            PolicyUnavailableError: a package, the model or the GPU is not there.
        """
        require_packages()
        use_threads(self.threads)
        choice = choose_device(self.device, self.precision, self.attention, require_gpu=self.require_gpu)
        checkpoint = read_model(self.model)
        return checkpoint, load_network(checkpoint, choice, four_bit=self.four_bit)
