"""Loads a Qwen2.5-VL with torch and transformers: from a folder, or by its name on the Hugging Face hub."""

from __future__ import annotations

import contextlib
import importlib
import logging
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError
from hvs_ros.policy.onnx_model import manifest
from hvs_ros.policy.qwen.checkpoint import Checkpoint, read_checkpoint
from hvs_ros.policy.torch_device import TorchDevice, four_bit_options
from hvs_ros.policy.torch_network import TorchNetwork

NEEDED = ("torch", "transformers", "tokenizers", "safetensors", "PIL")
EXTRA = "the extra 'torch' of hvs_ros, pip install -e '.[torch]' in its folder"
HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
FILES = ("*.json", "*.safetensors", "*.txt", "*.jinja")
"""Of a model on the hub; nothing else in it is needed, least of all its code."""

_log = logging.getLogger(__name__)


def require_packages() -> None:
    """Check that what runs a model is installed.

    Raises:
        PolicyUnavailableError: it is not; one line that says what to install.
    """
    for name in NEEDED:
        try:
            importlib.import_module(name)
        except (ImportError, OSError) as error:  # torch raises OSError where one of its libraries is missing
            raise PolicyUnavailableError(f"policy 'torch' needs the package '{name}' ({error}): {EXTRA}") from error


def model_folder(model: str) -> Path:
    """Return the folder of a model.

    Args:
        model: a folder; or a name on the hub, ``owner/name``, which is downloaded unless it is here already or
            HF_HUB_OFFLINE is set. Nothing else touches the network.

    Raises:
        PolicyError: it has no name.
        PolicyUnavailableError: it is not there, and how to get it.
    """
    if not model.strip():
        raise PolicyError(
            "policy 'torch' has no model: give --model FOLDER (for a node policy.model:=FOLDER) of a Qwen2.5-VL "
            "checkpoint"
        )
    folder = Path(model).expanduser()
    if folder.is_dir():
        return folder
    if not HUB_NAME.fullmatch(model):
        raise PolicyUnavailableError(f"there is no folder {folder}, and '{model}' is no name on the hub (owner/name)")
    hub: Any = importlib.import_module("huggingface_hub")
    offline = bool(importlib.import_module("huggingface_hub.constants").HF_HUB_OFFLINE)
    try:
        if not offline:
            _log.info("looking for %s on the Hugging Face hub", model)
        return Path(hub.snapshot_download(model, allow_patterns=list(FILES), local_files_only=offline))
    except Exception as error:  # of many kinds, from several packages
        if offline:
            how = "it is not among the downloaded models and HF_HUB_OFFLINE is set"
        else:
            how = f"it cannot be downloaded ({_line(error)})"
        raise PolicyUnavailableError(
            f"there is no folder '{model}', and as a model on the hub {how}: download it where there is a network "
            f"(hf download {model}), or give the folder of a checkpoint"
        ) from error


def load_network(checkpoint: Checkpoint, choice: TorchDevice, *, four_bit: bool = False) -> TorchNetwork:
    """Load a model's weights.

    Raises:
        PolicyUnavailableError: they cannot be loaded.
    """
    torch: Any = importlib.import_module("torch")
    transformers: Any = importlib.import_module("transformers")
    options: dict[str, Any] = four_bit_options(choice) if four_bit else {}
    began = time.monotonic()
    _log.info("loading %s in %s for %s", checkpoint.folder, choice.precision, choice.label)
    try:
        with _without_bars(transformers):
            model = transformers.AutoModelForImageTextToText.from_pretrained(
                str(checkpoint.folder),
                dtype=getattr(torch, choice.precision),
                attn_implementation=choice.attention,
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=True,
                **options,
            )
        if choice.precision == "float16":
            # The real model's vision tower leaves its range.
            model.model.visual.float()
        if not four_bit:
            model = model.to(choice.device)
        model.eval()
    except Exception as error:  # of many kinds, from several packages
        hint = "; a GPU with more memory, four_bit:=true or a smaller model is needed" if _is_memory(error) else ""
        raise PolicyUnavailableError(f"{checkpoint.folder} cannot be loaded: {_line(error)}{hint}") from error
    _log.info("loaded %s in %.1f s", checkpoint.name, time.monotonic() - began)
    return TorchNetwork(
        model,
        {
            "runtime": f"torch {torch.__version__}, transformers {transformers.__version__}",
            "device": choice.label,
            "precision": f"4 bit, {choice.precision}" if four_bit else choice.precision,
            "attention": choice.attention,
        },
    )


def read_model(model: str) -> Checkpoint:
    """Find a model and read its configuration.

    Raises:
        PolicyUnavailableError: it is not there.
        PolicyError: it is no Qwen2.5-VL, or one that was exported for the policy ``onnx``.
    """
    folder = model_folder(model)
    if all((folder / name).is_file() for name in (manifest.FILE, manifest.DECODER)):
        raise PolicyError(f"{folder} was made by hvs model export: run it with the policy 'onnx'")
    return read_checkpoint(folder)


@contextlib.contextmanager
def _without_bars(transformers: Any) -> Iterator[None]:
    """Keep transformers from drawing progress bars into a node's log."""
    log = transformers.utils.logging
    was = log.is_progress_bar_enabled()
    log.disable_progress_bar()
    try:
        yield
    finally:
        if was:
            log.enable_progress_bar()


def _is_memory(error: BaseException) -> bool:
    return isinstance(error, MemoryError) or "out of memory" in str(error).lower()


def _line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else repr(error)
