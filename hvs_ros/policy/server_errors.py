"""What can go wrong between here and a model server, sorted by what is to be done about it.

Nothing of it is an answer of the model. A message says what the server said, shortened, since some servers repeat the
whole request, and without the key, which some repeat as well.
"""

from __future__ import annotations

import json
from enum import Enum
from typing import Any

from hvs_ros.confidential import HIDDEN
from hvs_ros.policy.server_address import KEY_VARIABLE, OPENAI_HOST, OPENAI_KEY_VARIABLE, ServerAddress
from hvs_ros.policy.server_retry import retry_after_s

MOST_WORDS = 300
"""Characters of what a server says that are worth repeating."""
RETRIED = frozenset({408, 409, 425, 429})
"""Statuses, beside 5xx, after which the same request may do better."""


class Remedy(Enum):
    """What may help."""

    RETRY = "retry"
    """The same request once more, or another server: this one is gone, broken or late."""
    WAIT = "wait"
    """The same request later, or another server: this one is there, but has no time now."""
    OTHER_SERVER = "other server"
    """Nothing here: this server does not take us, or has not the model."""
    NONE = "none"
    """Nothing: the request itself is refused."""


class ServerFault(Exception):
    """A request brought no answer.

    Attributes:
        remedy: what may help.
        wait_s: for how long the server asks to be left alone; None: it does not ask.
        status: of the HTTP answer; 0: there was none.
        told: what the server said.
    """

    def __init__(
        self, message: str, remedy: Remedy, *, wait_s: float | None = None, status: int = 0, told: str = ""
    ) -> None:
        super().__init__(message)
        self.remedy, self.wait_s, self.status, self.told = remedy, wait_s, status, told


def fault_of(error: Exception, key: str, *, late: bool, timeout_s: float) -> ServerFault:
    """Return what it comes to that a request brought no HTTP answer.

    Args:
        error: what was raised.
        key: that the server was shown.
        late: the time was up.
        timeout_s: limit that the request had.
    """
    if late:
        return ServerFault(f"no answer within {timeout_s:g} s", Remedy.RETRY)
    return ServerFault(shown(f"no connection: {_cause(error)}", key), Remedy.RETRY)


def shown(text: str, key: str) -> str:
    """Return a text as it may be shown: in one line, not too long, without the key."""
    line = " ".join(text.split())
    if key:
        line = line.replace(key, HIDDEN)
    return line if len(line) <= MOST_WORDS else f"{line[:MOST_WORDS]} ..."


def refusal(response: Any, address: ServerAddress, key: str) -> ServerFault:
    """Return what an HTTP answer comes to that is no success.

    Args:
        response: of ``httpx``.
        address: of the server that was asked.
        key: that it was shown, and that nobody else is.
    """
    status = int(response.status_code)
    told = shown(_told(response), key)
    message = f"HTTP {status}" + (f": {told}" if told else "")
    wait_s = retry_after_s(response.headers)
    if status == 429 and "insufficient_quota" not in told and "exceeded your current quota" not in told:
        return ServerFault(f"{message} (it has too much to do)", Remedy.WAIT, wait_s=wait_s, status=status, told=told)
    if status == 429:
        return ServerFault(f"{message}; the account must be topped up", Remedy.OTHER_SERVER, status=status, told=told)
    if status in RETRIED or status >= 500:
        remedy = Remedy.WAIT if wait_s is not None else Remedy.RETRY
        return ServerFault(message, remedy, wait_s=wait_s, status=status, told=told)
    if status in (401, 403):
        variable = OPENAI_KEY_VARIABLE if address.host == OPENAI_HOST else KEY_VARIABLE
        has = f"the key in {variable} is not accepted" if key else "it wants a key"
        message = f"{message}; {has}: put the right one into the environment variable {variable}"
        return ServerFault(message, Remedy.OTHER_SERVER, status=status, told=told)
    if status == 404:
        message = f"{message}; check base_url ({address.url}, which mostly ends in /v1) and model"
        return ServerFault(message, Remedy.OTHER_SERVER, status=status, told=told)
    return ServerFault(message, Remedy.NONE, status=status, told=told)


def _told(response: Any) -> str:
    """Return what a server says in an error: OpenAI, vLLM and SGLang have three forms, proxies send HTML."""
    try:
        text = str(response.text)
    except Exception:  # a body that was cut off
        return ""
    try:
        body = json.loads(text)
    except ValueError:
        return "" if text.lstrip().startswith("<") else text
    if isinstance(body, list) and body:  # Gemini
        body = body[0]
    if not isinstance(body, dict):
        return text
    inner = body.get("error", body)
    if isinstance(inner, dict):
        words = inner.get("message") or inner.get("detail") or text
        code = inner.get("code")
        return f"{words} ({code})" if isinstance(code, str) and code not in str(words) else str(words)
    return str(inner)


def _cause(error: BaseException) -> str:
    """Return the innermost reason, which is what a person can act on: 'Connection refused', not 'Connection error.'."""
    seen: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in seen:
        seen.append(current)
        current = current.__cause__ or current.__context__
    texts = [str(item) for item in seen if str(item)]
    certificate = next((text for text in texts if "CERTIFICATE_VERIFY_FAILED" in text), "")
    if certificate:
        return f"{certificate}; name the authority that signed it with the setting ca_file"
    return texts[-1] if texts else type(error).__name__
