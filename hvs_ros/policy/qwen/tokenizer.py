"""Text and token ids of a Qwen checkpoint, through the package ``tokenizers``.

What structures a conversation (``<|im_start|>``, pictures) are ids that only this package puts in. The same characters
in somebody's text, an instruction, say, stay characters.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError
from hvs_ros.policy.qwen.checkpoint import Checkpoint

STRUCTURE = ("<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>", "<|image_pad|>")


class QwenTokenizer:
    """Encodes text and decodes tokens.

    Args:
        file: tokenizer.json.

    Attributes:
        im_start: begins a message.
        im_end: ends a message.
        vision_start: begins a picture.
        vision_end: ends a picture.
        image_pad: stands for a piece of a picture.

    Raises:
        PolicyUnavailableError: the package ``tokenizers`` is not installed.
        PolicyError: the file is no tokenizer of Qwen's kind.
    """

    def __init__(self, file: Path) -> None:
        try:
            tokenizers = importlib.import_module("tokenizers")
        except ImportError as error:
            raise PolicyUnavailableError(
                f"a model in process needs the package 'tokenizers' ({error}): pip install -e '.[torch]' or '.[onnx]'"
            ) from error
        try:
            self._tokenizer: Any = tokenizers.Tokenizer.from_file(str(file))
        except Exception as error:  # tokenizers raises plain Exceptions
            raise PolicyError(f"{file} cannot be read: {error}") from error
        self._tokenizer.encode_special_tokens = True
        ids = [self._tokenizer.token_to_id(token) for token in STRUCTURE]
        if None in ids:
            missing = STRUCTURE[ids.index(None)]
            raise PolicyError(f"{file} has no token {missing}: it is not the tokenizer of a Qwen2.5-VL")
        self.im_start, self.im_end, self.vision_start, self.vision_end, self.image_pad = (int(number) for number in ids)
        self._special = {
            number for number, token in self._tokenizer.get_added_tokens_decoder().items() if token.special
        }
        self._bytes = {character: value for value, character in enumerate(_byte_characters())}

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text, in which nothing is special."""
        return list(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def piece(self, token: int) -> bytes:
        """Return what a token adds to a text, in UTF-8, perhaps half a character; nothing where it is special."""
        if token in self._special:
            return b""
        characters = self._tokenizer.id_to_token(token) or ""
        try:
            return bytes(self._bytes[character] for character in characters)
        except KeyError:  # an added token is not written in the byte alphabet
            return str(characters).encode()


def tokenizer_of(checkpoint: Checkpoint) -> QwenTokenizer:
    """Return the tokenizer of a model.

    Raises:
        PolicyUnavailableError: the package ``tokenizers`` is not installed.
        PolicyError: it does not belong to the model.
    """
    tokenizer = QwenTokenizer(checkpoint.tokenizer_file)
    if tokenizer.image_pad != checkpoint.image_token:
        raise PolicyError(
            f"{checkpoint.folder}: a picture's token is {checkpoint.image_token} in config.json and "
            f"{tokenizer.image_pad} in tokenizer.json; they are of different models"
        )
    return tokenizer


def _byte_characters() -> list[str]:
    """Return the printable character that byte-level tokenizers (GPT-2's and its heirs) write for each byte.

    Printable Latin-1 characters stand for themselves; the others are, in order, U+0100 and what follows.
    """
    plain = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return [chr(value if value in plain else next(others)) for value in range(256)]
