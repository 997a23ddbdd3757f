"""Makes a small tokenizer of the kind that Qwen2.5-VL has: byte-level pairs, digits one by one, its special tokens."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

MERGED_VOCABULARY = 1000
"""Tokens beside the special ones."""

SPECIAL = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|object_ref_start|>",
    "<|object_ref_end|>",
    "<|box_start|>",
    "<|box_end|>",
    "<|quad_start|>",
    "<|quad_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|vision_pad|>",
    "<|image_pad|>",
    "<|video_pad|>",
)

WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""How Qwen2 cuts text before it merges."""

TEXT = (
    "You search with the camera of a turning head. Every turn you see one picture; a green cross marks its centre.",
    "rotate(yaw,pitch) turns the head by degrees: right and up are positive, left and down are negative.",
    "submit(yaw,pitch) ends the search: the direction of what you were told to find.",
    "<think>There is a door on the left, and a sign with an arrow to the right.</think><answer>rotate(-45,0)</answer>",
    "<think>The exit sign is at the cross, so I submit.</think><answer>submit(285,-5)</answer>",
    "Find the exit sign, the coffee machine, the elevator, the way to the restrooms, platform 3.",
    "Done. You look at yaw 315, pitch 10. Your last answer held no valid action, nothing was done.",
    "system user assistant observation reasoning instruction direction <answer>rotate(60,15)</answer>",
)

CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{% if loop.first and message['role'] != 'system' %}"
    "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n{% endif %}"
    "<|im_start|>{{ message['role'] }}\n"
    "{% if message['content'] is string %}{{ message['content'] }}"
    "{% else %}{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<|vision_start|><|image_pad|><|vision_end|>"
    "{% elif part['type'] == 'video' %}<|vision_start|><|video_pad|><|vision_end|>"
    "{% else %}{{ part['text'] }}{% endif %}{% endfor %}{% endif %}"
    "<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def write_tokenizer(folder: Path, text: str = "") -> tuple[dict[str, int], int]:
    """Write tokenizer.json, tokenizer_config.json, vocab.json, merges.txt and chat_template.json.

    Args:
        folder: where to; it exists.
        text: more text that it is made from.

    Returns:
        The ids of the special tokens, and the number of all tokens.
    """
    tokenizer = _train(text)
    tokenizer.add_special_tokens(list(SPECIAL))
    tokenizer.save(str(folder / "tokenizer.json"))
    ids = {token: int(tokenizer.token_to_id(token)) for token in SPECIAL}
    _write(folder / "tokenizer_config.json", _config(ids))
    _write(folder / "chat_template.json", {"chat_template": CHAT_TEMPLATE})
    model = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]
    _write(folder / "vocab.json", model["vocab"])
    merges = [pair if isinstance(pair, str) else " ".join(pair) for pair in model["merges"]]
    (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *merges, ""]), encoding="utf-8")
    return ids, int(tokenizer.get_vocab_size())


def _train(text: str) -> Any:
    tokenizers = importlib.import_module("tokenizers")
    byte_level = tokenizers.pre_tokenizers.ByteLevel
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.normalizer = tokenizers.normalizers.NFC()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(
        [
            tokenizers.pre_tokenizers.Split(tokenizers.Regex(WORDS), "isolated"),
            byte_level(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    tokenizer.post_processor = tokenizers.processors.ByteLevel(trim_offsets=False)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=MERGED_VOCABULARY, show_progress=False, initial_alphabet=byte_level.alphabet()
    )
    tokenizer.train_from_iterator([*TEXT, *[text] * 4], trainer)
    return tokenizer


def _config(ids: dict[str, int]) -> dict[str, Any]:
    added = {
        str(number): {
            "content": token,
            "lstrip": False,
            "normalized": False,
            "rstrip": False,
            "single_word": False,
            "special": True,
        }
        for token, number in ids.items()
    }
    return {
        "tokenizer_class": "Qwen2Tokenizer",
        "add_bos_token": False,
        "add_prefix_space": False,
        "added_tokens_decoder": added,
        "additional_special_tokens": list(SPECIAL[1:]),
        "bos_token": None,
        "chat_template": CHAT_TEMPLATE,
        "clean_up_tokenization_spaces": False,
        "eos_token": "<|im_end|>",
        "errors": "replace",
        "model_max_length": 131072,
        "pad_token": "<|endoftext|>",
        "split_special_tokens": False,
        "unk_token": None,
    }


def _write(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
