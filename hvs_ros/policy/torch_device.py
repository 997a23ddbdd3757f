"""Where torch runs a model, and with which numbers."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError

DEVICES = ("auto", "cpu", "cuda")
PRECISIONS = ("auto", "float32", "bfloat16", "float16")
ATTENTIONS = ("auto", "sdpa", "flash_attention_2", "eager")

CUDA_HINT = (
    "install a build of torch for the CUDA version of the driver (https://pytorch.org/get-started), "
    "and see that nvidia-smi lists the GPU"
)


@dataclass(frozen=True)
class TorchDevice:
    """The choice.

    Attributes:
        device: as torch names it.
        label: with the GPU's name.
        precision: of the weights, as torch names it.
        attention: as transformers names it.
    """

    device: str
    label: str
    precision: str
    attention: str


def choose_device(
    device: str = "auto", precision: str = "auto", attention: str = "auto", *, require_gpu: bool = False
) -> TorchDevice:
    """Decide what "auto" is.

    Args:
        device: "auto" (a GPU where there is one), "cpu", "cuda" or "cuda:1".
        precision: "auto" (bfloat16 on a GPU that knows it, else float16; float32 on the processor), or a type.
        attention: "auto" (torch's own fused one), or as transformers names it.
        require_gpu: refuse to run without one.

    Raises:
        PolicyError: a value that is not known.
        PolicyUnavailableError: there is no GPU where one is asked for, or a package is missing.
    """
    torch: Any = importlib.import_module("torch")
    kind = device.partition(":")[0]
    _choice("device", kind, DEVICES)
    _choice("precision", precision, PRECISIONS)
    _choice("attention", attention, ATTENTIONS)
    if require_gpu and kind == "cpu":
        raise PolicyError("require_gpu is true and device is 'cpu'; give device 'auto' or 'cuda'")
    there = bool(torch.cuda.is_available())
    if not there and (require_gpu or kind == "cuda"):
        built = f"is built for CUDA {torch.version.cuda} and finds no GPU" if torch.version.cuda else "has no CUDA"
        raise PolicyUnavailableError(f"policy 'torch' needs a GPU and torch {torch.__version__} {built}: {CUDA_HINT}")
    if attention == "flash_attention_2":
        _need("flash_attn", "flash-attn", "attention 'flash_attention_2'")
    attention = "sdpa" if attention == "auto" else attention
    if kind == "cpu" or not there:
        return TorchDevice("cpu", "cpu", "float32" if precision == "auto" else precision, attention)
    try:
        chosen = torch.device(device if kind == "cuda" else "cuda")
        name = torch.cuda.get_device_name(chosen)
    except (RuntimeError, AssertionError) as error:
        raise PolicyUnavailableError(f"policy 'torch' cannot use the device '{device}': {error}") from error
    if precision == "auto":
        precision = "bfloat16" if torch.cuda.is_bf16_supported() else "float16"
    return TorchDevice(str(chosen), f"{chosen} ({name})", precision, attention)


def use_threads(count: int) -> None:
    """Let torch use so many processor threads; 0 leaves it as it is."""
    if count:
        importlib.import_module("torch").set_num_threads(count)


def four_bit_options(choice: TorchDevice) -> dict[str, Any]:
    """Return what transformers needs to load a model's weights in 4 bits.

    Raises:
        PolicyUnavailableError: there is no GPU, or bitsandbytes is not installed.
    """
    torch: Any = importlib.import_module("torch")
    if choice.device == "cpu":
        raise PolicyUnavailableError(f"policy 'torch': four_bit needs a GPU: {CUDA_HINT}")
    _need("bitsandbytes", "bitsandbytes", "four_bit")
    _need("accelerate", "accelerate", "four_bit")
    options = importlib.import_module("transformers").BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_compute_dtype=getattr(torch, choice.precision),
        # The vision tower loses too much, and it is small.
        llm_int8_skip_modules=["visual", "lm_head"],
    )
    return {"quantization_config": options, "device_map": {"": choice.device}}


def _choice(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise PolicyError(f"{name} is {value!r}; give {', '.join(known[:-1])} or {known[-1]}")


def _need(module: str, package: str, what: str) -> None:
    try:
        importlib.import_module(module)
    except ImportError as error:
        raise PolicyUnavailableError(
            f"policy 'torch': {what} needs the package '{package}' ({error}): pip install {package}"
        ) from error
