"""A request for a chat completion, checked as vLLM's and OpenAI's servers check it."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import cv2
import numpy as np

from hvs_ros.policy.qwen.preprocess import PictureFormat, picture_size
from hvs_ros.policy.server_needs import QWEN
from hvs_ros.policy.server_request import PICTURE_MARKS

KNOWN = {
    "model",
    "messages",
    "temperature",
    "max_tokens",
    "max_completion_tokens",
    "stop",
    "stream",
    "n",
    "top_p",
    "seed",
}
OWN = {
    "vllm": {"include_stop_str_in_output", "repetition_penalty", "top_k"},
    "sglang": {"no_stop_trim", "repetition_penalty", "top_k"},
}
"""What servers know beside that; OpenAI's refuse what they do not know."""
CHARACTERS_A_TOKEN = 4

_DATA_URL = re.compile(r"data:(image/\w+);base64,(.*)", re.DOTALL)
_MAGIC = {"image/jpeg": b"\xff\xd8\xff", "image/png": b"\x89PNG\r\n\x1a\n"}


class RefusedError(Exception):
    """A request that a server refuses.

    Attributes:
        status: of the HTTP answer.
        kind: the error's name.
    """

    def __init__(self, message: str, status: int = 400, kind: str = "BadRequestError") -> None:
        super().__init__(message)
        self.status, self.kind = status, kind


@dataclass(frozen=True)
class AskedPicture:
    """A picture in a request.

    Attributes:
        media_type: as it was declared, which is what it is.
        width: pixels.
        height: pixels.
        size: bytes.
        digest: SHA-256 of the bytes, hexadecimal.
        colour: mean blue, green and red.
    """

    media_type: str
    width: int
    height: int
    size: int
    digest: str
    colour: tuple[float, float, float]


@dataclass
class Asked:
    """A request, and what became of it.

    Attributes:
        body: as it came.
        key: that came with it.
        texts: of each message, (role, text).
        pictures: in the order in which they are read.
        prompt_tokens: about as Qwen2.5-VL counts them.
        ended: "answered", "refused", "canceled" by who asked, or the fault; empty: it is being worked on.
    """

    body: Mapping[str, Any]
    key: str = ""
    texts: list[tuple[str, str]] = field(default_factory=list)
    pictures: list[AskedPicture] = field(default_factory=list)
    prompt_tokens: int = 0
    ended: str = ""

    @property
    def limit(self) -> int:
        """Of the answer's tokens."""
        return int(self.body.get("max_completion_tokens") or self.body.get("max_tokens") or 16)

    @property
    def turn(self) -> int:
        """How many answers it holds, plus one."""
        return 1 + sum(role == "assistant" for role, _ in self.texts)


def read_request(asked: Asked, *, owner: str, form: PictureFormat | None = QWEN) -> None:
    """Fill in what is in a request.

    Args:
        asked: with its body.
        owner: whose server this is meant to be.
        form: how pictures become tokens; None: they are not opened, and are none.

    Raises:
        RefusedError: it is not as it should be.
    """
    unknown = sorted(set(asked.body) - KNOWN - OWN.get(owner, set()))
    if unknown:
        raise RefusedError(f"Unrecognized request argument supplied: {unknown[0]}")
    if owner == "openai" and "max_tokens" in asked.body:
        raise RefusedError("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
    if asked.body.get("stream"):
        raise RefusedError("this server does not stream")
    messages = asked.body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise RefusedError("messages must be a list of at least one message")
    roles = [message.get("role") for message in messages]
    expected = ["user", "assistant"] * len(roles)
    told = roles[1:] if roles[0] == "system" else roles
    if told != expected[: len(told)] or len(told) % 2 == 0:
        raise RefusedError(
            f"After the optional system message, roles must alternate user/assistant and end with user: {roles}"
        )
    for message in messages:
        _read_message(asked, message, opened=form is not None)
    pictures = (
        0 if form is None else sum(picture_size(p.width, p.height, form).tokens + PICTURE_MARKS for p in asked.pictures)
    )
    characters = sum(len(text) for _, text in asked.texts)
    asked.prompt_tokens = pictures + characters // CHARACTERS_A_TOKEN + 4 * len(messages)


def _read_message(asked: Asked, message: Mapping[str, Any], *, opened: bool) -> None:
    content = message.get("content")
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if not isinstance(parts, list):
        raise RefusedError("content must be a string or a list of parts")
    texts = []
    for part in parts:
        if part.get("type") == "text" and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif part.get("type") == "image_url" and message["role"] == "user":
            given = part.get("image_url")
            asked.pictures.append(_picture(given) if opened else _unopened(given))
        else:
            raise RefusedError(f"a part of a message of {message['role']} is not understood: {str(part)[:60]}")
    asked.texts.append((message["role"], "".join(texts)))


def _picture(given: Any) -> AskedPicture:
    found = _DATA_URL.fullmatch(given.get("url", "") if isinstance(given, Mapping) else "")
    if found is None:
        raise RefusedError("The URL must be a data URL (data:image/jpeg;base64,...)")
    try:
        data = base64.b64decode(found[2], validate=True)
    except binascii.Error as error:
        raise RefusedError(f"base64: {error}") from error
    magic = _MAGIC.get(found[1])
    if magic is None or not data.startswith(magic):
        raise RefusedError(f"this is no {found[1]}")
    image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    if image is None:
        raise RefusedError("cannot identify image file")
    height, width = image.shape[:2]
    blue, green, red = (float(value) for value in image.reshape(-1, 3).mean(axis=0))
    return AskedPicture(found[1], width, height, len(data), hashlib.sha256(data).hexdigest(), (blue, green, red))


def _unopened(given: Any) -> AskedPicture:
    url = str(given.get("url", "")) if isinstance(given, Mapping) else ""
    # The end of a file differs from picture to picture, and its beginning does not.
    return AskedPicture(url[5:20].partition(";")[0], 0, 0, len(url), url[-64:], (0.0, 0.0, 0.0))
