from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hvs_ros.policy.contract import PolicyUnavailableError
from hvs_ros.policy.qwen.checkpoint import CheckpointError, read_checkpoint

VISION = {
    **{"depth": 32, "hidden_size": 1280, "intermediate_size": 3420, "num_heads": 16, "out_hidden_size": 2048},
    **{"patch_size": 14, "spatial_merge_size": 2, "temporal_patch_size": 2, "window_size": 112},
    "fullatt_block_indexes": [7, 15, 23, 31],
}
TEXT = {
    **{"hidden_size": 2048, "intermediate_size": 11008, "num_hidden_layers": 36, "num_attention_heads": 16},
    **{"num_key_value_heads": 2, "vocab_size": 151936, "rms_norm_eps": 1e-6, "max_position_embeddings": 128000},
    **{"use_sliding_window": False, "eos_token_id": 151645},
}
FLAT = {
    **{"model_type": "qwen2_5_vl", "vision_config": VISION, "image_token_id": 151655, "tie_word_embeddings": True},
    **TEXT,
    **{"rope_theta": 1000000.0, "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]}},
}
ROPE = {"rope_type": "default", "mrope_section": [16, 24, 24], "rope_theta": 1000000.0}
NESTED = {
    **{"model_type": "qwen2_5_vl", "vision_config": VISION, "image_token_id": 151655, "tie_word_embeddings": True},
    "text_config": {**TEXT, "rope_parameters": ROPE, "tie_word_embeddings": False},
}
PICTURES = {
    **{"min_pixels": 3136, "max_pixels": 12845056, "patch_size": 14, "merge_size": 2, "temporal_patch_size": 2},
    **{"image_mean": [0.48, 0.46, 0.41], "image_std": [0.27, 0.26, 0.28]},
}
GENERATION = {"eos_token_id": [151645, 151643], "repetition_penalty": 1.05, "temperature": 0.1, "top_k": 1}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path)


def written(folder: Path, config: Any = FLAT, pictures: Any = PICTURES, generation: Any = GENERATION) -> Path:
    (folder / "tokenizer.json").write_text("{}")
    for name, content in (
        ("config.json", config),
        ("preprocessor_config.json", pictures),
        ("generation_config.json", generation),
    ):
        if content is not None:
            (folder / name).write_text(json.dumps(content))
    return folder


def test_the_published_form_is_read(folder: Path) -> None:
    checkpoint = read_checkpoint(folder)
    assert checkpoint.vision.full_attention == (7, 15, 23, 31) and checkpoint.vision.head_width == 80
    decoder = checkpoint.decoder
    assert (decoder.layers, decoder.kv_heads, decoder.head_width, decoder.tied) == (36, 2, 128, True)
    assert decoder.rope_theta == 1e6 and decoder.mrope_sections == (16, 24, 24) and decoder.context == 128000
    assert checkpoint.pictures.unit == 28 and checkpoint.pictures.max_pixels == 12845056
    assert checkpoint.generation.repetition_penalty == 1.05 and checkpoint.generation.end == {151645, 151643}
    assert checkpoint.image_token == 151655


def test_what_newer_transformers_save_is_the_same(tmp_path: Path) -> None:
    (tmp_path / "flat").mkdir(), (tmp_path / "nested").mkdir()
    flat, nested = read_checkpoint(written(tmp_path / "flat")), read_checkpoint(written(tmp_path / "nested", NESTED))
    assert flat.decoder == nested.decoder and flat.vision == nested.vision
    sizes = {key: value for key, value in PICTURES.items() if not key.endswith("pixels")}
    sizes["size"] = {"shortest_edge": 3136, "longest_edge": 12845056}
    (tmp_path / "nested" / "preprocessor_config.json").unlink()
    (tmp_path / "nested" / "processor_config.json").write_text(json.dumps({"image_processor": sizes}))
    assert read_checkpoint(tmp_path / "nested").pictures == flat.pictures


def test_without_generation_config_the_model_says_where_answers_end(tmp_path: Path) -> None:
    generation = read_checkpoint(written(tmp_path, generation=None)).generation
    assert generation.end == {151645} and generation.repetition_penalty == 1.0


@pytest.mark.parametrize(
    ("kind", "named"), [("qwen3_vl", "'qwen3_vl' .Qwen3-VL."), ("qwen2_vl", "Qwen2-VL"), ("llama", "'llama';")]
)
def test_another_model_is_refused_by_its_type(tmp_path: Path, kind: str, named: str) -> None:
    with pytest.raises(CheckpointError, match=named) as caught:
        read_checkpoint(written(tmp_path, {**FLAT, "model_type": kind}))
    assert "\n" not in str(caught.value) and "policy 'server'" in str(caught.value)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"config": None}, "holds no config.json"),
        ({"config": []}, "holds a list"),
        ({"pictures": None}, "preprocessor_config.json"),
        ({"config": {k: v for k, v in FLAT.items() if k != "num_hidden_layers"}}, "'num_hidden_layers' is missing"),
        ({"config": {**FLAT, "use_sliding_window": True}}, "use_sliding_window"),
        ({"config": {**FLAT, "rope_scaling": {"mrope_section": [16, 24]}}}, "mrope_section"),
        ({"pictures": {**PICTURES, "resample": 2}}, "resample is 2"),
        ({"pictures": {**PICTURES, "patch_size": 16}}, "patch_size is 16"),
        ({"pictures": {**PICTURES, "min_pixels": 10**9}}, "min_pixels"),
        ({"generation": {"repetition_penalty": -1, "eos_token_id": 1}}, "repetition_penalty"),
        ({"config": {**FLAT, "eos_token_id": None}, "generation": None}, "eos_token_id"),
    ],
)
def test_what_makes_no_sense_is_named(tmp_path: Path, change: dict[str, Any], reason: str) -> None:
    with pytest.raises(CheckpointError, match=reason):
        read_checkpoint(written(tmp_path, **change))


def test_no_folder_no_tokenizer_no_json(tmp_path: Path) -> None:
    with pytest.raises(PolicyUnavailableError, match="no folder"):
        read_checkpoint(tmp_path / "nowhere")
    written(tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(CheckpointError, match=r"tokenizer\.json"):
        read_checkpoint(tmp_path)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(CheckpointError, match="cannot be read"):
        read_checkpoint(tmp_path)


def test_a_model_of_the_hub_has_its_name_there(tmp_path: Path) -> None:
    snapshot = tmp_path / "models--humanoid-vstar--HVS-3B" / "snapshots" / "0123"
    snapshot.mkdir(parents=True)
    assert read_checkpoint(written(snapshot)).name == "humanoid-vstar/HVS-3B"
    plain = tmp_path / "mine"
    plain.mkdir()
    assert read_checkpoint(written(plain)).name == "mine"
