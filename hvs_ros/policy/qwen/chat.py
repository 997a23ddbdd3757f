"""From messages to the token ids of a prompt, in Qwen's chat format."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hvs_ros.policy.conversation import Message, Shown
from hvs_ros.policy.qwen.preprocess import PictureFormat, PictureSize, picture_size
from hvs_ros.policy.qwen.tokenizer import QwenTokenizer

DEFAULT_SYSTEM = "You are a helpful assistant."
"""What Qwen's template says where a conversation has no system message."""

REMEMBERED = 64
"""How many answers' tokens are kept."""


@dataclass(frozen=True)
class PlacedPicture:
    """A picture in a prompt.

    Attributes:
        start: place of its first token.
        size: of it; ``size.tokens`` tokens from ``start`` on are its.
        picture: it.
    """

    start: int
    size: PictureSize
    picture: Shown

    @property
    def end(self) -> int:
        """Place after its last token."""
        return self.start + self.size.tokens


@dataclass(frozen=True)
class Prompt:
    """A prompt in tokens.

    Attributes:
        ids: int64, shape (length,).
        pictures: in the order of their places.
    """

    ids: NDArray[np.int64]
    pictures: tuple[PlacedPicture, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)

    def followed_by(self, tokens: Sequence[int]) -> Prompt:
        """Return the prompt with text tokens behind it."""
        return replace(self, ids=np.append(self.ids, np.asarray(tokens, np.int64)))

    def first(self, length: int) -> Prompt:
        """Return its first tokens; the last picture may be cut off."""
        return Prompt(self.ids[:length], tuple(placed for placed in self.pictures if placed.start < length))


class ChatEncoder:
    """Encodes conversations, and remembers with which tokens the model said what it said.

    A text can be cut into tokens in several ways, and a model does not always choose the way in which its tokenizer
    would. With the tokens remembered, an earlier answer in a prompt is what the model really said, and what was
    computed for it can be used again.

    Args:
        tokenizer: of the checkpoint.
        form: how pictures become pixels.
    """

    def __init__(self, tokenizer: QwenTokenizer, form: PictureFormat) -> None:
        self._tokenizer = tokenizer
        self._form = form
        self._line_end = tokenizer.encode("\n")
        self._said: OrderedDict[str, tuple[int, ...]] = OrderedDict()

    def remember(self, text: str, tokens: Sequence[int]) -> None:
        """Remember with which tokens the model said a text."""
        self._said[text] = tuple(tokens)
        self._said.move_to_end(text)
        while len(self._said) > REMEMBERED:
            self._said.popitem(last=False)

    def forget(self) -> None:
        """Forget with which tokens anything was said."""
        self._said.clear()

    def encode(self, messages: Sequence[Message]) -> Prompt:
        """Return the prompt that ends where the model is to answer.

        Raises:
            PolicyError: a picture's sides cannot be.
        """
        ids: list[int] = []
        pictures: list[PlacedPicture] = []
        if not messages or messages[0].role != "system":
            self._add(ids, pictures, Message("system", (DEFAULT_SYSTEM,)))
        for message in messages:
            self._add(ids, pictures, message)
        ids += [self._tokenizer.im_start, *self._tokenizer.encode("assistant\n")]
        return Prompt(np.asarray(ids, np.int64), tuple(pictures))

    def _add(self, ids: list[int], pictures: list[PlacedPicture], message: Message) -> None:
        tokenizer = self._tokenizer
        ids.append(tokenizer.im_start)
        said = self._said.get(message.text) if message.role == "assistant" and not message.pictures else None
        if said is not None:
            ids += [*tokenizer.encode("assistant\n"), *said]
        else:
            text = f"{message.role}\n"
            for part in message.parts:
                if isinstance(part, str):
                    text += part
                    continue
                ids += [*tokenizer.encode(text), tokenizer.vision_start]
                text = ""
                size = picture_size(part.width, part.height, self._form)
                pictures.append(PlacedPicture(len(ids), size, part))
                ids += [tokenizer.image_pad] * size.tokens
                ids.append(tokenizer.vision_end)
            ids += tokenizer.encode(text)
        ids += [tokenizer.im_end, *self._line_end]
