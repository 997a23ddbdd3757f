"""A conversation as a request of the OpenAI API, and what differs from server to server.

Pictures go as data URLs of the very bytes that were shown, so that an earlier picture is the same text in every
request: servers key their image and prefix caches by that. It is made once a picture, and a request is joined from
what is there, because many searches at once send gigabytes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from hvs_ros.policy.conversation import Message, Shown
from hvs_ros.policy.model_settings import STOP
from hvs_ros.policy.server_address import OPENAI_HOST

PICTURE_MARKS = 2
"""Tokens that Qwen2.5-VL puts around a picture."""

_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


class Dialect(Enum):
    """Who serves; the API is the same but for the ends of answers and the name of the token limit.

    An answer may end with a stop string, which the API cuts off, and then nobody can tell whether it was there. So it
    is only sent to servers that can be told to leave it; from others the whole answer is taken, and what follows the
    stop string is dropped here.
    """

    VLLM = "vllm"
    SGLANG = "sglang"
    LLAMACPP = "llamacpp"
    OPENAI = "openai"
    OTHER = "other"

    @classmethod
    def of(cls, host: str, owner: str = "") -> Dialect:
        """Return whose it is.

        Args:
            host: of the server.
            owner: ``owned_by`` in its list of models; empty: it has none.
        """
        if host == OPENAI_HOST:
            return cls.OPENAI
        known = {item.value: item for item in (cls.VLLM, cls.SGLANG, cls.LLAMACPP)}
        return known.get(owner.lower(), cls.OTHER)

    def stops(self, texts: Sequence[str]) -> dict[str, Any]:
        """Return what makes an answer end with one of these texts, which stays in it."""
        if self is Dialect.VLLM and texts:
            return {"stop": list(texts), "include_stop_str_in_output": True}
        if self is Dialect.SGLANG and texts:
            return {"stop": list(texts), "no_stop_trim": True}
        return {}

    @property
    def picture_marks(self) -> int:
        """Tokens around a picture; Qwen2.5-VL's wherever that may be what is served."""
        return 0 if self is Dialect.OPENAI else PICTURE_MARKS

    @property
    def limit_name(self) -> str:
        """What the token limit is called."""
        # OpenAI's newer models refuse the old name, which is the only one that some servers know.
        return "max_completion_tokens" if self is Dialect.OPENAI else "max_tokens"


@dataclass(frozen=True)
class Sampling:
    """How an answer is chosen. A repetition penalty is the server's own, from the checkpoint.

    Attributes:
        max_tokens: limit of an answer.
        temperature: 0 is greedy.
        stop: texts that end an answer and belong to it.
    """

    max_tokens: int = 1024
    temperature: float = 0.0
    stop: tuple[str, ...] = STOP


def chat_body(messages: Sequence[Message], *, model: str, sampling: Sampling, dialect: Dialect) -> bytes:
    """Return the body of a request to ``/chat/completions``, JSON in UTF-8."""
    settings = {
        "model": model,
        "temperature": sampling.temperature,
        dialect.limit_name: sampling.max_tokens,
        **dialect.stops(sampling.stop),
    }
    pieces = [_json(settings)[:-1], b',"messages":[']
    for place, message in enumerate(messages):
        pieces += [b"," if place else b"", *_message(message)]
    pieces.append(b"]}")
    return b"".join(pieces)


def _message(message: Message) -> list[bytes]:
    if not message.pictures:
        return [_json({"role": message.role, "content": message.text})]
    pieces = [_json({"role": message.role})[:-1], b',"content":[']
    for place, part in enumerate(message.parts):
        pieces.append(b"," if place else b"")
        if isinstance(part, Shown):
            pieces += [_json({"type": "image_url"})[:-1], b',"image_url":{"url":"', part.data_url, b'"}}']
        else:
            pieces.append(_json({"type": "text", "text": part}))
    pieces.append(b"]}")
    return pieces


def _json(value: dict[str, Any]) -> bytes:
    return _JSON.encode(value).encode()
