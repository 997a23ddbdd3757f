"""Answers with Qwen2.5-VL in process, one search at a time, whatever runtime computes its network.

With a temperature, what is drawn depends on the conversation alone: a search is the same whatever was asked before it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from hvs_ros.policy.conversation import Message, conversation_seed
from hvs_ros.policy.engine import Answer, Description
from hvs_ros.policy.model_settings import STOP
from hvs_ros.policy.qwen.answer_text import AnswerText
from hvs_ros.policy.qwen.chat import ChatEncoder
from hvs_ros.policy.qwen.checkpoint import Checkpoint
from hvs_ros.policy.qwen.generation import Chooser, sampling_fact
from hvs_ros.policy.qwen.network import Network
from hvs_ros.policy.qwen.reader import PromptReader, ReadPrompt, check, check_length
from hvs_ros.policy.qwen.tokenizer import QwenTokenizer, tokenizer_of


class QwenEngine:
    """An engine (see ``hvs_ros.policy.engine``).

    Args:
        checkpoint: of the model.
        network: computes it; belongs to the engine from now on.
        name: of the model, for the record; the checkpoint's own by default.
        max_tokens: an answer is cut off after so many tokens.
        temperature: 0 is greedy.
        stop: texts that end an answer.
        reuse: keep what was computed for the last prompt, and for pictures.

    Raises:
        PolicyUnavailableError: the package ``tokenizers`` is not installed.
        PolicyError: the tokenizer does not belong to the model.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        network: Network,
        *,
        name: str = "",
        max_tokens: int = 1024,
        temperature: float = 0.0,
        stop: Sequence[str] = STOP,
        reuse: bool = True,
    ) -> None:
        self._checkpoint = checkpoint
        self._network = network
        self._name = name or checkpoint.name
        self._max_tokens, self._temperature, self._stop = max_tokens, temperature, tuple(stop)
        self._tokenizer: QwenTokenizer = tokenizer_of(checkpoint)
        self._chat = ChatEncoder(self._tokenizer, checkpoint.pictures)
        self._reader = PromptReader(checkpoint, network, reuse=reuse)
        self._closed = threading.Event()
        self._busy = threading.Lock()

    def describe(self) -> Description:
        """Return the model, its runtime and how it is sampled from."""
        return {
            "model": self._name,
            **self._network.describe(),
            "sampling": sampling_fact(self._checkpoint.generation, self._temperature, self._max_tokens),
        }

    def answer(self, messages: Sequence[Message], canceled: threading.Event) -> Answer:
        """Return what the model says next.

        Raises:
            PolicyError: the prompt is too long, or a picture cannot be shown.
            Canceled: ``canceled`` was set or the engine closed; a layer of the network that is under way is finished
                before.
        """

        def stopped() -> bool:
            return canceled.is_set() or self._closed.is_set()

        with self._busy:
            try:
                return self._answer(messages, stopped)
            finally:
                if self._closed.is_set():
                    self._network.close()

    def close(self) -> None:
        """Release the model; where an answer is under way, when that ends."""
        self._closed.set()
        if self._busy.acquire(blocking=False):
            try:
                self._network.close()
            finally:
                self._busy.release()

    def _answer(self, messages: Sequence[Message], stopped: Callable[[], bool]) -> Answer:
        check(stopped)
        if not any(message.role == "assistant" for message in messages):
            self._chat.forget()  # another search, which is not to depend on how this one's texts were cut
        prompt = self._chat.encode(messages)
        check_length(prompt, self._max_tokens, self._checkpoint.decoder.context)
        read = self._reader.read(prompt, stopped)
        began = time.perf_counter()
        text, finish = self._say(read, conversation_seed(messages), stopped)
        if text.whole:
            self._chat.remember(text.text, text.tokens)
        return read.answer(text, finish, time.perf_counter() - began)

    def _say(
        self, read: ReadPrompt, seed: int, stopped: Callable[[], bool]
    ) -> tuple[AnswerText, Literal["stop", "length"]]:
        chooser = Chooser(self._checkpoint.generation, read.prompt.ids, self._temperature, seed)
        text = AnswerText(self._tokenizer, self._stop)
        position = read.position
        while True:
            check(stopped)
            token = chooser.choose(self._network.logits())
            if chooser.ends(token) or text.add(token):
                return text, "stop"
            if len(text.tokens) >= self._max_tokens:
                return text, "length"
            self._network.extend(np.array([token]), np.full((3, 1), position), (), stopped)
            position += 1
            self._reader.known = read.prompt.followed_by(text.tokens)
