"""What is asked of a model that answers in batches: a question of a conversation, and the answer to come."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from hvs_ros.policy.conversation import Message
from hvs_ros.policy.engine import Answer
from hvs_ros.policy.qwen.chat import ChatEncoder
from hvs_ros.policy.qwen.preprocess import Pixels
from hvs_ros.policy.qwen.reader import PromptReader


class Conversation:
    """One search: what was computed for its prompts, and in which tokens its answers were said.

    Attributes:
        chat: makes prompts of its messages.
        reader: reads them.
    """

    def __init__(self, chat: ChatEncoder, reader: PromptReader) -> None:
        self.chat, self.reader = chat, reader


@dataclass(eq=False)
class Question:
    """A question, and the answer to come.

    Attributes:
        conversation: to which it belongs; one question of it at a time.
        messages: the conversation, the question last.
        pixels: of its pictures by their keys, as far as they are there already.
        answer: to it.
    """

    conversation: Conversation
    messages: Sequence[Message]
    pixels: Mapping[str, Pixels] = field(default_factory=dict)
    answer: Future[Answer] = field(default_factory=Future)
    _canceled: threading.Event = field(default_factory=threading.Event)

    def cancel(self) -> None:
        """Nobody waits for the answer any more; from any thread."""
        self._canceled.set()

    @property
    def canceled(self) -> bool:
        """It is so."""
        return self._canceled.is_set()

    def fail(self, error: BaseException) -> None:
        """Say why there is no answer, unless it is known already."""
        if not self.answer.done():
            self.answer.set_exception(error)
