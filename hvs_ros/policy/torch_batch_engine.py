"""Answers many conversations with one model that torch runs here, in one thread that has the model to itself.

Whoever asks gets a future. The thread reads a prompt as soon as there is room in the batch, then the answers of all go
on together, a token each at a time. An answer that ends leaves the batch, and the next prompt takes its place: nobody
waits for the longest answer. What a conversation is told does not depend on the others, up to rounding: a batch may add
in another order.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from hvs_ros.policy.conversation import Shown, conversation_seed
from hvs_ros.policy.engine import Canceled, Description
from hvs_ros.policy.qwen.answer_text import AnswerText
from hvs_ros.policy.qwen.chat import ChatEncoder
from hvs_ros.policy.qwen.checkpoint import Checkpoint
from hvs_ros.policy.qwen.generation import Chooser, sampling_fact
from hvs_ros.policy.qwen.preprocess import Pixels
from hvs_ros.policy.qwen.reader import PromptReader, ReadPrompt, check_length, picture_pixels
from hvs_ros.policy.qwen.tokenizer import tokenizer_of
from hvs_ros.policy.torch_batch import Seat, TorchBatch
from hvs_ros.policy.torch_batch_question import Conversation, Question
from hvs_ros.policy.torch_network import TorchNetwork

CLOSE_LIMIT_S = 60.0
"""How long ``close`` waits for the layer that is being computed."""


@dataclass(eq=False)
class _Saying:
    """An answer that is being said."""

    question: Question
    read: ReadPrompt
    chooser: Chooser
    text: AnswerText
    began: float
    token: int = 0
    seat: Seat | None = None


class TorchBatchEngine:
    """The model and its thread.

    Args:
        checkpoint: of the model.
        network: computes it; belongs to the engine from now on.
        size: so many answers are being said at the same time.
        max_tokens: an answer is cut off after so many tokens.
        temperature: 0 is greedy.
        stop: texts that end an answer.
        reuse: keep what was computed for a conversation's last prompt, and for its pictures.

    Raises:
        PolicyUnavailableError: the package ``tokenizers`` is not installed.
        PolicyError: the tokenizer does not belong to the model.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        network: TorchNetwork,
        *,
        size: int,
        max_tokens: int,
        temperature: float,
        stop: Sequence[str],
        reuse: bool = True,
    ) -> None:
        self._checkpoint, self._network = checkpoint, network
        self._size, self._max_tokens, self._temperature, self._stop = size, max_tokens, temperature, tuple(stop)
        self._reuse = reuse
        self._tokenizer = tokenizer_of(checkpoint)
        self._batch = TorchBatch(network.weights, checkpoint.generation.repetition_penalty)
        self._saying: list[_Saying] = []
        self._waiting: deque[Question] = deque()
        self._changed = threading.Condition()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="torch_batch", daemon=True)
        self._thread.start()

    def describe(self) -> Description:
        """Return the model, its runtime and how it is sampled from."""
        return {
            "model": self._checkpoint.name,
            **self._network.describe(),
            "sampling": sampling_fact(self._checkpoint.generation, self._temperature, self._max_tokens),
        }

    def conversation(self) -> Conversation:
        """Return a new conversation."""
        reader = PromptReader(self._checkpoint, self._network.another(), reuse=self._reuse)
        return Conversation(ChatEncoder(self._tokenizer, self._checkpoint.pictures), reader)

    def pixels(self, picture: Shown) -> Pixels:
        """Return the vision tower's input for a picture; from any thread.

        Raises:
            PolicyError: it cannot be decoded.
        """
        return picture_pixels(picture, self._checkpoint.pictures)

    def ask(self, question: Question) -> None:
        """Answer a question; from any thread, at once."""
        with self._changed:
            if self._closed.is_set():
                question.answer.set_exception(Canceled("the model is closed"))
                return
            self._waiting.append(question)
            self._changed.notify()

    def close(self) -> None:
        """End all answers and release the model."""
        with self._changed:
            self._closed.set()
            self._changed.notify()
        self._thread.join(CLOSE_LIMIT_S)

    def _run(self) -> None:
        try:
            while not self._closed.is_set():
                for question in self._next():
                    self._begin(question)
                if self._saying:
                    self._continue()
        finally:
            with self._changed:
                self._closed.set()  # also where an error has ended the thread: nobody is to wait for it
                left = [*self._waiting, *(saying.question for saying in self._saying)]
                self._waiting.clear()
            for question in left:
                question.fail(Canceled("the model was closed"))
            self._saying = []
            self._batch.clear()
            self._network.close()

    def _next(self) -> list[Question]:
        """Return the questions for which there is room; where nothing is being said, wait for one."""
        with self._changed:
            while not (self._waiting or self._saying or self._closed.is_set()):
                self._changed.wait()
            free = self._size - len(self._saying)
            return [self._waiting.popleft() for _ in range(min(free, len(self._waiting)))]

    def _begin(self, question: Question) -> None:
        """Read a prompt and choose the first token of the answer."""
        if question.canceled or not question.answer.set_running_or_notify_cancel():
            question.fail(Canceled("canceled before it was answered"))
            return

        def stopped() -> bool:
            return question.canceled or self._closed.is_set()

        reader = question.conversation.reader
        try:
            prompt = question.conversation.chat.encode(question.messages)
            check_length(prompt, self._max_tokens, self._checkpoint.decoder.context)
            read = reader.read(prompt, stopped, question.pixels)
            seed = conversation_seed(question.messages)
            chooser = Chooser(self._checkpoint.generation, prompt.ids, self._temperature, seed)
            text = AnswerText(self._tokenizer, self._stop)
            saying = _Saying(question, read, chooser, text, time.perf_counter())
            if self._say(saying, chooser.choose(reader.network.logits())):
                return
            network: Any = reader.network
            saying.seat = self._batch.join(network, chooser.seen)
            self._saying.append(saying)
        except Exception as error:
            question.fail(error)

    def _continue(self) -> None:
        """Say one token more of every answer."""
        for saying in [saying for saying in self._saying if saying.question.canceled]:
            self._leave(saying, keep=False)
            saying.question.fail(Canceled("canceled while the model was answering"))
        if not self._saying:
            return
        tokens = [saying.token for saying in self._saying]
        # The token before the one that is chosen next is the last that stands.
        positions = [saying.read.position + len(saying.text.tokens) - 1 for saying in self._saying]
        try:
            logits = self._batch.step(tokens, positions, self._closed.is_set)
            if self._temperature <= 0:
                chosen = self._batch.likeliest(logits)
            else:
                rows = zip(self._saying, logits.cpu().numpy(), strict=True)
                chosen = [saying.chooser.choose(row) for saying, row in rows]
            for saying, token in zip(list(self._saying), chosen, strict=True):
                self._say(saying, token)
        except Exception as error:  # the memory of the device, for instance
            for saying in self._saying:
                saying.question.conversation.reader.forget()
                saying.question.fail(error)
            self._saying = []
            self._batch.clear()

    def _say(self, saying: _Saying, token: int) -> bool:
        """Add a token to an answer, and return whether it has ended."""
        text = saying.text
        finish: Literal["stop", "length"] | None = None
        if saying.chooser.ends(token) or text.add(token):
            finish = "stop"
        elif len(text.tokens) >= self._max_tokens:
            finish = "length"
        saying.token = token
        if finish is None:
            return False
        question, read = saying.question, saying.read
        if saying.seat is not None:
            self._leave(saying, keep=self._reuse)
        if text.whole:
            question.conversation.chat.remember(text.text, text.tokens)
        question.answer.set_result(read.answer(text, finish, time.perf_counter() - saying.began))
        return True

    def _leave(self, saying: _Saying, *, keep: bool) -> None:
        assert saying.seat is not None
        self._saying.remove(saying)
        reader = saying.question.conversation.reader
        said = saying.seat.length - len(saying.read.prompt)
        self._batch.leave(saying.seat, keep=keep)
        if keep:
            reader.known = saying.read.prompt.followed_by(saying.text.tokens[:said])
        else:
            reader.forget()
