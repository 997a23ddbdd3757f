"""What is said between a search and a model: messages of text and pictures.

Every runtime (a server, torch, ONNX Runtime) is given the same messages, byte for byte. Earlier messages are the same
objects turn after turn, so that what a runtime has computed for a prefix or for a picture can be used again.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

Role = Literal["system", "user", "assistant"]
MediaType = Literal["image/jpeg", "image/png"]


@dataclass(frozen=True)
class Shown:
    """A picture as it is sent.

    Attributes:
        data: the encoded file.
        media_type: of the data.
        width: pixels.
        height: pixels.
        key: SHA-256 of the data, hexadecimal; equal keys are equal pictures.
    """

    data: bytes = field(repr=False)
    media_type: MediaType
    width: int
    height: int
    key: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", hashlib.sha256(self.data).hexdigest())

    @cached_property
    def data_url(self) -> bytes:
        """The data, unchanged, as a URL in ASCII; made once."""
        return b"data:%s;base64,%s" % (self.media_type.encode(), base64.b64encode(self.data))


@dataclass(frozen=True)
class Message:
    """One message.

    Attributes:
        role: who says it.
        parts: text and pictures in the order in which they are read.
    """

    role: Role
    parts: tuple[str | Shown, ...]

    @property
    def text(self) -> str:
        """The text without the pictures."""
        return "".join(part for part in self.parts if isinstance(part, str))

    @property
    def pictures(self) -> tuple[Shown, ...]:
        """The pictures without the text."""
        return tuple(part for part in self.parts if isinstance(part, Shown))


def conversation_seed(messages: Sequence[Message]) -> int:
    """Return a number that depends on all that was said and shown and on nothing else, 0 to 2**64 - 1."""
    digest = hashlib.sha256()
    for message in messages:
        for part in (message.role, *message.parts):
            word = f"picture {part.key}" if isinstance(part, Shown) else f"text {part}"
            # With their lengths: the parts cannot be cut in another way.
            data = word.encode("utf-8", "surrogatepass")
            digest.update(b"%d:" % len(data) + data)
    return int.from_bytes(digest.digest()[:8], "big")
