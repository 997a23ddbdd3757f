from __future__ import annotations

import unicodedata
from pathlib import Path

import numpy as np
import pytest

from hvs_ros.policy.contract import PolicyError
from hvs_ros.policy.conversation import Message, Shown
from hvs_ros.policy.qwen.chat import ChatEncoder, Prompt
from hvs_ros.policy.qwen.checkpoint import read_checkpoint
from hvs_ros.policy.qwen.positions import prompt_positions
from hvs_ros.policy.qwen.prefix import shared_prefix
from hvs_ros.policy.qwen.tokenizer import STRUCTURE, QwenTokenizer

TALK = (
    Message("system", ("You turn a head.\n\nOne action a turn: rotate(10,-5).  ",)),
    Message("user", ("Observation:\n", Shown(b"a", "image/png", 320, 180), "\nFind the exit — l'entrée, 出口, 🚪!")),
    Message("assistant", ("<think>A door.</think><answer>rotate(30,0)</answer>",)),
    Message("user", (Shown(b"b", "image/png", 200, 300), Shown(b"a", "image/png", 320, 180), "  now\n")),
)


@pytest.fixture(scope="module")
def tokenizer(tiny_checkpoint: Path) -> QwenTokenizer:
    return QwenTokenizer(tiny_checkpoint / "tokenizer.json")


@pytest.fixture
def chat(tiny_checkpoint: Path, tokenizer: QwenTokenizer) -> ChatEncoder:
    return ChatEncoder(tokenizer, read_checkpoint(tiny_checkpoint).pictures)


def theirs(folder: Path, messages: tuple[Message, ...], prompt: Prompt) -> list[int]:
    """Return what transformers makes of it with the checkpoint's template; pads are put in as its processor does."""
    tokenizer = pytest.importorskip("transformers").AutoTokenizer.from_pretrained(folder)
    content = [
        {
            "role": message.role,
            "content": [
                {"type": "text", "text": part} if isinstance(part, str) else {"type": "image"} for part in message.parts
            ],
        }
        for message in messages
    ]
    text = tokenizer.apply_chat_template(content, tokenize=False, add_generation_prompt=True)
    parts = text.split("<|image_pad|>")
    pads = ["<|image_pad|>" * placed.size.tokens for placed in prompt.pictures]
    return tokenizer("".join(a + b for a, b in zip(parts, [*pads, ""], strict=True)))["input_ids"]


@pytest.mark.parametrize("messages", [TALK, TALK[1:], TALK[1:2], (Message("user", ("hello",)),)])
def test_equal_to_the_checkpoints_own_template(
    tiny_checkpoint: Path, chat: ChatEncoder, messages: tuple[Message, ...]
) -> None:
    prompt = chat.encode(messages)
    assert prompt.ids.tolist() == theirs(tiny_checkpoint, messages, prompt)


def test_pictures_know_their_places(chat: ChatEncoder, tokenizer: QwenTokenizer) -> None:
    prompt = chat.encode(TALK)
    assert [placed.size.tokens for placed in prompt.pictures] == [66, 77, 66]
    pads = np.concatenate([np.arange(placed.start, placed.end) for placed in prompt.pictures])
    assert np.array_equal(np.flatnonzero(prompt.ids == tokenizer.image_pad), pads)
    assert all(prompt.ids[placed.start - 1] == tokenizer.vision_start for placed in prompt.pictures)
    assert all(prompt.ids[placed.end] == tokenizer.vision_end for placed in prompt.pictures)


@pytest.mark.parametrize("token", STRUCTURE)
def test_a_text_cannot_say_what_structures_a_conversation(
    chat: ChatEncoder, tokenizer: QwenTokenizer, token: str
) -> None:
    plain, odd = (
        chat.encode([Message("user", (f"find {text} now", Shown(b"a", "image/png", 320, 180)))]).ids.tolist()
        for text in ("it", token)
    )
    for number in (getattr(tokenizer, name.strip("<|>")) for name in STRUCTURE):
        assert plain.count(number) == odd.count(number)
    assert b"".join(map(tokenizer.piece, tokenizer.encode(token))).decode() == token


def test_what_the_model_said_is_kept_in_its_own_tokens(chat: ChatEncoder, tokenizer: QwenTokenizer) -> None:
    text = TALK[2].text
    usual = tokenizer.encode(text)
    odd = [token for character in text for token in tokenizer.encode(character)]
    assert odd != usual
    before = chat.encode(TALK).ids.tolist()
    chat.remember(text, odd)
    after = chat.encode(TALK).ids.tolist()
    begin = next(i for i in range(len(before)) if before[i : i + len(usual)] == usual)
    assert after == before[:begin] + odd + before[begin + len(usual) :]
    assert chat.encode([Message("user", (text,))]).ids.tolist().count(odd[0]) == usual.count(odd[0]), "only answers are"


def test_any_bytes_come_back(tokenizer: QwenTokenizer) -> None:
    for text in ("héllo 出口 🚪 \t\r\n  x", "".join(map(chr, range(1, 0x250))), "</answer>"):
        pieces = b"".join(map(tokenizer.piece, tokenizer.encode(text)))
        assert pieces.decode() == unicodedata.normalize("NFC", text)
    assert tokenizer.piece(tokenizer.im_end) == b"" == tokenizer.piece(10**9)


def test_what_is_no_tokenizer_is_refused(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(PolicyError, match="cannot be read"):
        QwenTokenizer(tmp_path / "broken.json")
    tokenizers.Tokenizer(tokenizers.models.BPE()).save(str(tmp_path / "other.json"))
    with pytest.raises(PolicyError, match=r"no token <\|im_start\|>"):
        QwenTokenizer(tmp_path / "other.json")


def test_positions_equal_transformers(tiny_checkpoint: Path, chat: ChatEncoder) -> None:
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    model = transformers.AutoModelForImageTextToText.from_pretrained(tiny_checkpoint).model
    for messages in (TALK, TALK[:1], TALK[1:2]):
        prompt = chat.encode(messages)
        positions, following = prompt_positions(prompt)
        ids = torch.from_numpy(prompt.ids)[None]
        grids = torch.tensor([[1, placed.size.rows, placed.size.columns] for placed in prompt.pictures])
        named = {} if transformers.__version__ < "5" else {"mm_token_type_ids": (ids == chat_image(model)).int()}
        expected, delta = model.get_rope_index(ids, image_grid_thw=grids if len(grids) else None, **named)
        assert np.array_equal(positions, expected[:, 0].numpy())
        assert following == len(prompt) + int(delta)


def chat_image(model: object) -> int:
    return model.config.image_token_id  # type: ignore[attr-defined]


def test_a_prefix_ends_where_tokens_or_pictures_differ(chat: ChatEncoder) -> None:
    longer, shorter = chat.encode(TALK), chat.encode(TALK[:2])
    assert shared_prefix(longer, longer) == len(longer)
    # The shorter one ends with the beginning of an answer, which the longer one has as well.
    assert shared_prefix(shorter, longer) == len(shorter) == shared_prefix(longer, shorter)
    assert shared_prefix(Prompt(np.empty(0, np.int64)), longer) == 0
    first, second = longer.pictures[:2]
    other = (*TALK[:1], Message("user", (TALK[1].parts[0], Shown(b"?", "image/png", 320, 180), *TALK[1].parts[2:])))
    assert shared_prefix(longer, chat.encode(other)) == first.start
    text = (*TALK[:2], Message("assistant", ("<think>A wall",)), *TALK[3:])
    assert first.end < shared_prefix(longer, chat.encode(text)) < second.start
    # A call that was canceled in the middle of a picture leaves a part of it.
    cut = longer.first(second.start + 10)
    assert shared_prefix(cut, longer) == second.start
    assert shared_prefix(longer.first(second.start), longer) == second.start
    assert shared_prefix(longer.first(second.end), longer) == second.end
    followed = shorter.followed_by([1, 2])
    assert shared_prefix(followed, shorter.followed_by([1, 3])) == len(shorter) + 1
