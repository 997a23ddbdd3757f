"""What runs a model: it is given a conversation and returns what the model says next.

``ModelPolicy`` searches with any of them, so that prompts, history and parsing are the same whatever the runtime.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from hvs_ros.policy.contract import PolicyError
from hvs_ros.policy.conversation import Message
from hvs_ros.search.decision import Usage

Description = Mapping[str, str | int | float | bool]
"""Facts for records and diagnostics; never a key, a password or a URL with one in it."""


class Canceled(PolicyError):
    """The search was canceled while the model was answering."""


@dataclass(frozen=True)
class Answer:
    """What a model said.

    Attributes:
        text: as it came, from its first character to its stop string, which is included.
        finish: "stop" where the model or a stop string ended it; "length" where the token limit did.
        usage: tokens; ``image_tokens`` counts those of the last picture.
        detail: how it was made (cache reuse, timings), for the record.
    """

    text: str
    finish: Literal["stop", "length"] = "stop"
    usage: Usage = field(default_factory=Usage)
    detail: str = ""


class Engine(Protocol):
    """Runs a model. Calls come one at a time, from any thread; ``close`` may come while another is under way."""

    def describe(self) -> Description:
        """Return what it is: model, runtime, device or provider, precision."""
        ...

    def answer(self, messages: Sequence[Message], canceled: threading.Event) -> Answer:
        """Return what the model says next.

        Args:
            messages: the system prompt, then user and assistant in turn; the last one is the user's.
            canceled: set from another thread when nobody waits for the answer any more.

        Raises:
            PolicyUnavailableError: the model cannot be reached.
            PolicyError: the model cannot answer this.
            Canceled: ``canceled`` was set; to be raised within 0.2 s of that.
        """
        ...

    def close(self) -> None:
        """Release what it holds."""
        ...
