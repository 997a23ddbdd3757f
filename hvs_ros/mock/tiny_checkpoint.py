"""Writes a Qwen2.5-VL checkpoint of random weights, small enough to be made in seconds.

Its architecture and its files are those of the published models (window attention, three-part rotary positions, a
byte-level tokenizer with Qwen's special tokens, a repetition penalty), so that what loads and runs it is tested for
real, offline. What it says means nothing, unless it is told what to say. With the real model's width and few layers it
is what benchmarks measure.

``python -m hvs_ros.mock.tiny_checkpoint FOLDER`` writes one, to try a policy with that runs a model in process.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from hvs_ros.mock.tiny_tokenizer import write_tokenizer
from hvs_ros.policy.contract import PolicyUnavailableError

NEEDED = ("torch", "transformers", "tokenizers", "safetensors")
"""Packages of the extra ``export``."""

GAIN = 0.3
"""Spread of the weights: wide enough that the answer depends on picture and text, and its choices differ clearly."""


@dataclass(frozen=True)
class Width:
    """How wide the layers are.

    Attributes:
        hidden: of the decoder.
        inner: of the decoder's MLPs.
        heads: of the decoder.
        kv_heads: of the decoder.
        sections: rotary frequencies for time, row and column; their sum is half a head.
        vision_hidden: of the vision tower.
        vision_inner: of the vision tower's MLPs.
        vision_heads: of the vision tower.
        vocabulary: rows of the embedding table; 0: as many as the tokenizer needs.
    """

    hidden: int
    inner: int
    heads: int
    kv_heads: int
    sections: tuple[int, int, int]
    vision_hidden: int
    vision_inner: int
    vision_heads: int
    vocabulary: int = 0


TINY = Width(64, 128, 4, 2, (2, 3, 3), 32, 64, 2)
REAL = Width(2048, 11008, 16, 2, (16, 24, 24), 1280, 3420, 16, 151936)
"""Of Qwen2.5-VL-3B."""


def write_tiny_checkpoint(
    folder: str | Path,
    *,
    seed: int = 0,
    layers: int = 2,
    vision_layers: int = 2,
    width: Width = TINY,
    says: str = "",
    max_pixels: int = 12845056,
    precision: str = "float32",
) -> Path:
    """Write the checkpoint and return its folder, which is made.

    Args:
        folder: where to.
        seed: of the weights.
        layers: of the decoder.
        vision_layers: of the vision tower; the last one attends to the whole picture, the others to windows.
        width: ``TINY`` or ``REAL``.
        says: what it answers to everything, e.g. ``<answer>submit(30,5)</answer>``; no token may come twice before the
            last. Empty: as the weights fall.
        max_pixels: of a picture.
        precision: of the weights, as torch names it.

    Raises:
        PolicyUnavailableError: a package is not installed.
        ValueError: it cannot learn to say that.
    """
    torch, transformers = _packages()
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    ids, size = write_tokenizer(folder, says)
    config = _config(width, layers, vision_layers, width.vocabulary or 64 * math.ceil(size / 64), ids, tied=not says)
    # Flat, as the published checkpoints have it: transformers 4.57 does not load what 5 saves.
    _write(folder / "config.json", config | {"torch_dtype": precision})
    model_config = transformers.AutoConfig.from_pretrained(folder)
    with torch.device("cpu"):
        model = transformers.AutoModelForImageTextToText.from_config(model_config, dtype=getattr(torch, precision))
    _fill(torch, model, seed, quiet=bool(says))
    if says:
        _teach(torch, model, folder, says)
    model.generation_config = transformers.GenerationConfig()  # written below
    transformers.utils.logging.disable_progress_bar()
    model.save_pretrained(folder)
    # save_pretrained has written its own.
    _write(folder / "config.json", config | {"torch_dtype": precision})
    _write(folder / "generation_config.json", _generation(ids))
    _write(folder / "preprocessor_config.json", _pictures(max_pixels))
    return folder


def _packages() -> tuple[Any, Any]:
    for name in NEEDED:
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise PolicyUnavailableError(
                f"writing a tiny checkpoint needs the package '{name}' ({error}): pip install -e '.[export]'"
            ) from error
    return importlib.import_module("torch"), importlib.import_module("transformers")


def _config(
    width: Width, layers: int, vision_layers: int, vocabulary: int, ids: dict[str, int], *, tied: bool
) -> dict[str, Any]:
    vision = {
        "depth": vision_layers,
        "hidden_size": width.vision_hidden,
        "intermediate_size": width.vision_inner,
        "num_heads": width.vision_heads,
        "out_hidden_size": width.hidden,
        "patch_size": 14,
        "spatial_patch_size": 14,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
        "window_size": 112,
        "fullatt_block_indexes": [vision_layers - 1],
        "hidden_act": "silu",
        "tokens_per_second": 2,
        "in_chans": 3,
    }
    return {
        "architectures": ["Qwen2_5_VLForConditionalGeneration"],
        "model_type": "qwen2_5_vl",
        "hidden_size": width.hidden,
        "intermediate_size": width.inner,
        "num_hidden_layers": layers,
        "num_attention_heads": width.heads,
        "num_key_value_heads": width.kv_heads,
        "vocab_size": vocabulary,
        "hidden_act": "silu",
        "max_position_embeddings": 128000,
        "rms_norm_eps": 1e-6,
        "rope_theta": 1000000.0,
        "rope_scaling": {"type": "mrope", "mrope_section": list(width.sections)},
        "use_sliding_window": False,
        "tie_word_embeddings": tied,
        "use_cache": True,
        "bos_token_id": ids["<|endoftext|>"],
        "eos_token_id": ids["<|im_end|>"],
        "pad_token_id": ids["<|endoftext|>"],
        "image_token_id": ids["<|image_pad|>"],
        "video_token_id": ids["<|video_pad|>"],
        "vision_start_token_id": ids["<|vision_start|>"],
        "vision_end_token_id": ids["<|vision_end|>"],
        "vision_config": vision,
    }


def _generation(ids: dict[str, int]) -> dict[str, Any]:
    return {
        "bos_token_id": ids["<|endoftext|>"],
        "pad_token_id": ids["<|endoftext|>"],
        "eos_token_id": [ids["<|im_end|>"], ids["<|endoftext|>"]],
        "do_sample": True,
        "repetition_penalty": 1.05,
        "temperature": 0.1,
        "top_p": 0.95,
    }


def _pictures(max_pixels: int) -> dict[str, Any]:
    return {
        "image_processor_type": "Qwen2VLImageProcessor",
        "processor_class": "Qwen2_5_VLProcessor",
        "min_pixels": 3136,
        "max_pixels": max_pixels,
        "patch_size": 14,
        "temporal_patch_size": 2,
        "merge_size": 2,
        "image_mean": [0.48145466, 0.4578275, 0.40821073],
        "image_std": [0.26862954, 0.26130258, 0.27577711],
    }


def _fill(torch: Any, model: Any, seed: int, *, quiet: bool) -> None:
    """Draw the weights; ``quiet``: what the layers add changes little of a token's own embedding."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if weights.ndim < 2:
                continue
            gain = 1.0 if "embed_tokens" in name else GAIN
            if quiet and "language_model" in name and name.endswith(("o_proj.weight", "down_proj.weight")):
                gain *= 0.02
            inputs = weights[0].numel()
            drawn = torch.randn(weights.shape, generator=generator)
            weights.copy_(drawn * gain * math.sqrt(64 / max(64, inputs)))


def _teach(torch: Any, model: Any, folder: Path, says: str) -> None:
    """Set the output projection such that every token of ``says`` calls for the next one."""
    tokenizer = importlib.import_module("tokenizers").Tokenizer.from_file(str(folder / "tokenizer.json"))
    # The prompt ends with a line end; what follows the last token does not matter.
    chain = [*tokenizer.encode("\n").ids, *tokenizer.encode(says).ids]
    if len(set(chain[:-1])) != len(chain) - 1:
        twice = sorted({tokenizer.id_to_token(t) for t in chain[:-1] if chain[:-1].count(t) > 1})
        raise ValueError(f"it cannot learn to say {says!r}: {', '.join(twice)} would come twice")
    embeddings, output = model.get_input_embeddings().weight, model.get_output_embeddings().weight
    with torch.no_grad():
        output.mul_(0.1)
        for token in set(chain[1:]):
            output[token] = sum(embeddings[now] for now, then in pairwise(chain) if then == token)


def _write(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write one as the command line says, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m hvs_ros.mock.tiny_checkpoint", description="Write a tiny model.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=0, help="of the weights")
    parser.add_argument("--says", default="<answer>submit(30,5)</answer>", help="what it answers to everything")
    given = parser.parse_args(arguments)
    try:
        print(write_tiny_checkpoint(given.folder, seed=given.seed, says=given.says))
    except (PolicyUnavailableError, ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
