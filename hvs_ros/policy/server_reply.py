"""What a server sent -> what the model said."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from hvs_ros.policy.contract import PolicyError
from hvs_ros.policy.server_errors import Remedy, ServerFault
from hvs_ros.search.decision import LARGEST_COUNT, Usage


@dataclass(frozen=True)
class Reply:
    """An answer of a model.

    Attributes:
        text: up to its stop string, which is included; all of it where there is none.
        finish: "length" where the token limit ended it before a stop string.
        usage: tokens, as the server counted them.
        cached_tokens: tokens of the prompt that the server had in a cache; None: it does not say.
        refused: the model's own refusal is the text.
    """

    text: str
    finish: Literal["stop", "length"]
    usage: Usage
    cached_tokens: int | None = None
    refused: bool = False


def json_of(text: str) -> dict[str, Any]:
    """Return the JSON object that a server sent.

    Raises:
        ServerFault: it is none.
    """
    try:
        body = json.loads(text)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise ServerFault(
            f"it answered what is no JSON object ({text[:60]!r}); is this the URL of an OpenAI-compatible server?",
            Remedy.RETRY,
        )
    return body


def read_reply(text: str, stop: Sequence[str]) -> Reply:
    """Return what the model said.

    Args:
        text: body of the answer.
        stop: texts that end what the model says; what follows one is dropped.

    Raises:
        ServerFault: there is no answer in it.
        PolicyError: the provider does not let the model answer this.
    """
    body = json_of(text)
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        # Some gateways send their errors as a success.
        raise ServerFault(f"it answered without a choice: {str(body.get('error', body))[:200]}", Remedy.RETRY)
    choice = choices[0]
    message = choice.get("message")
    message = message if isinstance(message, dict) else {}
    finish = choice.get("finish_reason")
    if finish == "content_filter":
        raise PolicyError("the provider's content filter withheld the answer (finish_reason content_filter)")
    content, refusal = _text(message.get("content")), message.get("refusal")
    refused = isinstance(refusal, str) and not content
    said = refusal if refused else content
    if said is None and finish == "length":
        said = ""  # it thought until the limit, and providers keep thoughts for themselves
    if said is None:
        raise ServerFault(f"it answered without a text (finish_reason {finish})", Remedy.RETRY)
    usage, cached = _usage(body.get("usage"))
    cut = _up_to_stop(said, stop)
    ended_by_limit = finish == "length" and not cut.endswith(tuple(stop))
    return Reply(cut, "length" if ended_by_limit else "stop", usage, cached, refused)


def _text(content: object) -> str | None:
    """Return a message's text; some servers send it in parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(text for text in texts if isinstance(text, str))
    return None


def _up_to_stop(text: str, stops: Sequence[str]) -> str:
    ends = [text.index(stop) + len(stop) for stop in stops if stop in text]
    return text[: min(ends)] if ends else text


def _usage(usage: object) -> tuple[Usage, int | None]:
    if not isinstance(usage, dict):
        return Usage(), None
    details = usage.get("prompt_tokens_details")
    cached = _count(details.get("cached_tokens")) if isinstance(details, dict) else None
    return Usage(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))), cached


def _count(value: object) -> int | None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value <= LARGEST_COUNT else None  # type: ignore[operator,return-value]
