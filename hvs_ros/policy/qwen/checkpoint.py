"""Reads the folder of a Qwen2.5-VL checkpoint: what its network looks like, and how pixels and tokens go into it.

The layout of the folder is that of the Hugging Face hub. ``config.json`` is understood flat, as the published models
have it, and with its parts nested, as newer versions of transformers save it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError
from hvs_ros.policy.qwen.generation import GenerationDefaults, generation_defaults
from hvs_ros.policy.qwen.preprocess import PictureFormat, picture_format

MODEL_TYPE = "qwen2_5_vl"
RELATED = {
    "qwen2_vl": "Qwen2-VL",
    "qwen3_vl": "Qwen3-VL",
    "qwen3_vl_moe": "Qwen3-VL",
    "qwen2_5_omni": "Qwen2.5-Omni",
}
"""Models that look alike and are not: their towers or positions differ."""

MODEL_FILE = "config.json"
TOKENIZER_FILE = "tokenizer.json"


class CheckpointError(PolicyError):
    """A folder that is no checkpoint that can be used; the message names the folder and what is wrong."""


@dataclass(frozen=True)
class VisionShape:
    """The vision tower.

    Attributes:
        depth: number of layers.
        hidden: width.
        heads: attention heads.
        inner: width of the layers' MLPs.
        out: width of what it hands to the decoder.
        patch: pixels on a patch's side.
        temporal_patch: pictures in a patch.
        merge: patches on the side of the square that becomes one token.
        window: pixels on the side of an attention window.
        full_attention: layers without windows.
    """

    depth: int
    hidden: int
    heads: int
    inner: int
    out: int
    patch: int
    temporal_patch: int
    merge: int
    window: int
    full_attention: tuple[int, ...]

    @property
    def head_width(self) -> int:
        """Width of one attention head."""
        return self.hidden // self.heads


@dataclass(frozen=True)
class DecoderShape:
    """The language model.

    Attributes:
        layers: number of layers.
        hidden: width.
        inner: width of the layers' MLPs.
        heads: attention heads.
        kv_heads: heads of keys and values.
        vocabulary: rows of the embedding table.
        norm_epsilon: of RMSNorm.
        rope_theta: base of the rotary frequencies.
        mrope_sections: how many frequencies turn with time, row and column.
        tied: the output projection is the embedding table.
        context: positions that it was made for.
    """

    layers: int
    hidden: int
    inner: int
    heads: int
    kv_heads: int
    vocabulary: int
    norm_epsilon: float
    rope_theta: float
    mrope_sections: tuple[int, int, int]
    tied: bool
    context: int

    @property
    def head_width(self) -> int:
        """Width of one attention head."""
        return self.hidden // self.heads


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint without its weights.

    Attributes:
        folder: where it is.
        vision: its vision tower.
        decoder: its language model.
        image_token: id that stands for a piece of a picture.
        pictures: how pictures become pixels.
        generation: how it wants to be sampled from.
    """

    folder: Path
    vision: VisionShape
    decoder: DecoderShape
    image_token: int
    pictures: PictureFormat
    generation: GenerationDefaults

    @property
    def name(self) -> str:
        """The folder's name; for a folder of the hub's cache, the model's."""
        for part in self.folder.parts[::-1]:
            if part.startswith("models--"):
                return part.removeprefix("models--").replace("--", "/")
        return self.folder.name

    @property
    def tokenizer_file(self) -> Path:
        """The tokenizer, as the package ``tokenizers`` reads it."""
        return self.folder / TOKENIZER_FILE


def read_checkpoint(folder: str | Path) -> Checkpoint:
    """Read the configuration of a checkpoint.

    Raises:
        PolicyUnavailableError: there is no such folder.
        CheckpointError: it holds no Qwen2.5-VL, or a file is missing or makes no sense.
    """
    folder = Path(folder).expanduser()
    if not folder.is_dir():
        raise PolicyUnavailableError(f"there is no folder {folder}; give the folder of a Qwen2.5-VL checkpoint")
    folder = folder.resolve()
    config = _read(folder, MODEL_FILE)
    _check_kind(folder, config)
    if not (folder / TOKENIZER_FILE).is_file():
        raise CheckpointError(f"{folder} holds no {TOKENIZER_FILE}; save the tokenizer with the checkpoint")
    decoder_config = {**config, **config.get("text_config", {})}
    try:
        vision = _vision(config["vision_config"])
        return Checkpoint(
            folder=folder,
            vision=vision,
            decoder=_decoder(decoder_config, config),
            image_token=int(config["image_token_id"]),
            pictures=picture_format(_pictures(folder), vision.patch, vision.merge, vision.temporal_patch),
            generation=generation_defaults(_read(folder, "generation_config.json", needed=False), decoder_config),
        )
    except (KeyError, TypeError, ValueError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise CheckpointError(f"{folder} is no Qwen2.5-VL checkpoint that can be read: {what}") from error


def _check_kind(folder: Path, config: Mapping[str, Any]) -> None:
    kind = config.get("model_type")
    if kind == MODEL_TYPE:
        return
    known = f" ({RELATED[kind]})" if kind in RELATED else ""
    raise CheckpointError(
        f"{folder} is a model of the type '{kind}'{known}; in process only Qwen2.5-VL ('{MODEL_TYPE}') runs, "
        "any other behind a server (policy 'server')"
    )


def _vision(config: Mapping[str, Any]) -> VisionShape:
    return VisionShape(
        depth=int(config["depth"]),
        hidden=int(config["hidden_size"]),
        heads=int(config["num_heads"]),
        inner=int(config["intermediate_size"]),
        out=int(config["out_hidden_size"]),
        patch=int(config.get("patch_size", config.get("spatial_patch_size", 14))),
        temporal_patch=int(config.get("temporal_patch_size", 2)),
        merge=int(config.get("spatial_merge_size", 2)),
        window=int(config["window_size"]),
        full_attention=tuple(int(layer) for layer in config["fullatt_block_indexes"]),
    )


def _decoder(config: Mapping[str, Any], outer: Mapping[str, Any]) -> DecoderShape:
    rope = {**(config.get("rope_scaling") or {}), **(config.get("rope_parameters") or {})}
    sections = tuple(int(section) for section in rope["mrope_section"])
    if len(sections) != 3:
        raise ValueError(f"mrope_section is {list(sections)}; three numbers are expected")
    if config.get("use_sliding_window"):
        raise ValueError("use_sliding_window is true, which is not supported")
    theta = rope.get("rope_theta", config.get("rope_theta"))
    if theta is None:
        raise KeyError("rope_theta")
    return DecoderShape(
        layers=int(config["num_hidden_layers"]),
        hidden=int(config["hidden_size"]),
        inner=int(config["intermediate_size"]),
        heads=int(config["num_attention_heads"]),
        kv_heads=int(config["num_key_value_heads"]),
        vocabulary=int(config["vocab_size"]),
        norm_epsilon=float(config.get("rms_norm_eps", 1e-6)),
        rope_theta=float(theta),
        mrope_sections=sections,
        # Where a nested configuration says it in both places, the outer one is what transformers goes by.
        tied=bool(outer.get("tie_word_embeddings", config.get("tie_word_embeddings", False))),
        context=int(config.get("max_position_embeddings", 32768)),
    )


def _pictures(folder: Path) -> Mapping[str, Any]:
    plain = _read(folder, "preprocessor_config.json", needed=False)
    if plain:
        return plain
    combined = _read(folder, "processor_config.json", needed=False).get("image_processor")
    if not combined:
        raise CheckpointError(
            f"{folder} holds no preprocessor_config.json, which says how pictures become pixels; copy the one of the "
            "model that it was trained from"
        )
    return dict(combined)


def _read(folder: Path, name: str, *, needed: bool = True) -> dict[str, Any]:
    path = folder / name
    if not path.is_file():
        if needed:
            raise CheckpointError(f"{folder} holds no {name}: it is not the folder of a checkpoint")
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path} cannot be read: {error}") from error
    if not isinstance(content, dict):
        raise CheckpointError(f"{path} holds a {type(content).__name__}; an object is expected")
    return content
