"""What is said between a search and a model: messages of text and pictures.

Every runtime (a server, torch, ONNX Runtime) is given the same messages, byte for byte. Earlier messages are the same
objects turn after turn, so that what a runtime has computed for a prefix or for a picture can be used again.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
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
