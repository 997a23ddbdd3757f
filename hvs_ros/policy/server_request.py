"""A conversation as a request of the OpenAI API, and what differs from server to server.

Pictures go as data URLs of the very bytes that were shown, so that an earlier picture is the same text in every
request: servers key their image and prefix caches by that.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from hvs_ros.policy.conversation import Message, Shown
from hvs_ros.policy.model_settings import STOP
from hvs_ros.policy.server_address import OPENAI_HOST

PICTURE_MARKS = 2
"""Tokens that Qwen2.5-VL puts around a picture."""


class Dialect(Enum):
    """Who serves; the API is the same but for the ends of answers and the name of the token limit.

    An answer ends with its stop string, which the API cuts off, and then nobody can tell whether it was there. So stop
    strings are only sent to servers that can be told to leave them; from others the whole answer is taken, and what
    follows the stop string is dropped here.
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

    @property
    def stops(self) -> dict[str, Any]:
        """What makes an answer end with its stop string, which stays in it."""
        if self is Dialect.VLLM:
            return {"stop": list(STOP), "extra_body": {"include_stop_str_in_output": True}}
        if self is Dialect.SGLANG:
            return {"stop": list(STOP), "extra_body": {"no_stop_trim": True}}
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
    """

    max_tokens: int = 1024
    temperature: float = 0.0


def chat_request(messages: Sequence[Message], *, model: str, sampling: Sampling, dialect: Dialect) -> dict[str, Any]:
    """Return the arguments of ``chat.completions.create``."""
    return {
        "model": model,
        "messages": [_message(message) for message in messages],
        "temperature": sampling.temperature,
        dialect.limit_name: sampling.max_tokens,
        **dialect.stops,
    }


def data_url(picture: Shown) -> str:
    """Return the picture's bytes, unchanged, as a URL."""
    return f"data:{picture.media_type};base64,{base64.b64encode(picture.data).decode('ascii')}"


def _message(message: Message) -> dict[str, Any]:
    if not message.pictures:
        return {"role": message.role, "content": message.text}
    return {"role": message.role, "content": [_part(part) for part in message.parts]}


def _part(part: str | Shown) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    return {"type": "image_url", "image_url": {"url": data_url(part)}}
