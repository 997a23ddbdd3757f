"""Answers with Qwen2.5-VL in process, whatever runtime computes its network.

Between answers the runtime keeps what it has computed for the last prompt and the answer to it. The next prompt begins
with the same messages, so only what is new is computed; pictures go through the vision tower once while they
are in the conversation. The tokens that come out are the same as without.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hvs_ros.policy.contract import PolicyError
from hvs_ros.policy.conversation import Message
from hvs_ros.policy.engine import Answer, Canceled, Description
from hvs_ros.policy.model_settings import STOP
from hvs_ros.policy.qwen.answer_text import AnswerText
from hvs_ros.policy.qwen.chat import ChatEncoder, PlacedPicture, Prompt
from hvs_ros.policy.qwen.checkpoint import Checkpoint
from hvs_ros.policy.qwen.generation import Chooser
from hvs_ros.policy.qwen.network import Features, Network, SeenPiece
from hvs_ros.policy.qwen.positions import prompt_positions
from hvs_ros.policy.qwen.prefix import shared_prefix
from hvs_ros.policy.qwen.preprocess import PictureSize, decode_picture, preprocess
from hvs_ros.policy.qwen.tokenizer import QwenTokenizer
from hvs_ros.search.decision import Usage

_log = logging.getLogger(__name__)

NOTHING = Prompt(np.empty(0, np.int64))


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
        self._max_tokens, self._temperature, self._stop, self._reuse = max_tokens, temperature, tuple(stop), reuse
        self._tokenizer = QwenTokenizer(checkpoint.tokenizer_file)
        if self._tokenizer.image_pad != checkpoint.image_token:
            raise PolicyError(
                f"{checkpoint.folder}: a picture's token is {checkpoint.image_token} in config.json and "
                f"{self._tokenizer.image_pad} in tokenizer.json; they are of different models"
            )
        self._chat = ChatEncoder(self._tokenizer, checkpoint.pictures)
        self._known = NOTHING
        self._seen: dict[str, Features] = {}
        self._told: set[PictureSize] = set()
        self._answers = 0
        self._closed = threading.Event()
        self._busy = threading.Lock()

    def describe(self) -> Description:
        """Return the model, its runtime and how it is sampled from."""
        penalty = self._checkpoint.generation.repetition_penalty
        sampling = "greedy" if self._temperature <= 0 else f"temperature {self._temperature:g}"
        return {
            "model": self._name,
            **self._network.describe(),
            "sampling": f"{sampling} with repetition penalty {penalty:g} and at most {self._max_tokens} tokens",
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
        _check(stopped)
        began = time.perf_counter()
        prompt = self._chat.encode(messages)
        self._check_length(prompt)
        # The last token always runs, since its logits are asked for.
        reused = min(shared_prefix(self._known, prompt), len(prompt) - 1) if self._reuse else 0
        self._known = self._known.first(reused)
        self._network.cut(reused)
        looked = self._look(prompt, reused, stopped)
        saw = time.perf_counter()
        positions, position = prompt_positions(prompt)
        self._read(prompt, reused, positions, stopped)
        read = time.perf_counter()
        text, finish = self._say(prompt, position, stopped)
        said = time.perf_counter()
        if text.whole:
            self._chat.remember(text.text, text.tokens)
        last = prompt.pictures[-1].size if prompt.pictures else None
        detail = (
            f"{reused} of {len(prompt)} prompt tokens reused, {looked} of {len(prompt.pictures)} pictures newly seen "
            f"in {saw - began:.3f} s, prompt read in {read - saw:.3f} s, "
            f"{len(text.tokens)} tokens said in {said - read:.3f} s"
        )
        return Answer(
            text.text,
            finish,
            Usage(len(prompt), len(text.tokens), 0 if last is None else last.tokens),
            detail if last is None else f"{last}, {detail}",
        )

    def _check_length(self, prompt: Prompt) -> None:
        context = self._checkpoint.decoder.context
        if len(prompt) + self._max_tokens > context:
            raise PolicyError(
                f"the prompt has {len(prompt)} tokens and the answer up to {self._max_tokens}, more than the {context} "
                "of the model's context: give fewer views or smaller pictures"
            )

    def _look(self, prompt: Prompt, reused: int, stopped: Callable[[], bool]) -> int:
        """See to it that the features of every picture that is to be read are there; return how many were computed."""
        keys = {placed.picture.key for placed in prompt.pictures}
        kept = {key: features for key, features in self._seen.items() if key in keys}
        self._seen = kept if self._reuse else {}
        looked = 0
        for placed in prompt.pictures:
            key = placed.picture.key
            if placed.end <= reused or key in self._seen:
                continue
            _check(stopped)
            if placed.size not in self._told:
                self._told.add(placed.size)
                _log.info("views of %s", placed.size)
            rgb = decode_picture(placed.picture)
            if rgb.shape[1::-1] != placed.size.sent:
                raise PolicyError(f"a picture said to be of {placed.size.sent} pixels has {rgb.shape[1::-1]}")
            self._seen[key] = self._network.see(preprocess(rgb, self._checkpoint.pictures), stopped)
            looked += 1
        return looked

    def _read(self, prompt: Prompt, first: int, positions: NDArray[np.int64], stopped: Callable[[], bool]) -> None:
        for start in range(first, len(prompt), self._network.chunk):
            _check(stopped)
            end = min(start + self._network.chunk, len(prompt))
            pieces = [piece for placed in prompt.pictures if (piece := self._piece(placed, start, end)) is not None]
            self._network.extend(prompt.ids[start:end], positions[:, start:end], pieces, stopped)
            self._known = prompt.first(end)

    def _piece(self, placed: PlacedPicture, start: int, end: int) -> SeenPiece | None:
        first, last = max(placed.start, start), min(placed.end, end)
        if first >= last:
            return None
        return SeenPiece(first - start, self._seen[placed.picture.key], first - placed.start, last - first)

    def _say(
        self, prompt: Prompt, position: int, stopped: Callable[[], bool]
    ) -> tuple[AnswerText, Literal["stop", "length"]]:
        chooser = Chooser(self._checkpoint.generation, prompt.ids, self._temperature, seed=self._answers)
        self._answers += 1
        text = AnswerText(self._tokenizer, self._stop)
        while True:
            _check(stopped)
            token = chooser.choose(self._network.logits())
            if chooser.ends(token) or text.add(token):
                return text, "stop"
            if len(text.tokens) >= self._max_tokens:
                return text, "length"
            self._network.extend(np.array([token]), np.full((3, 1), position), (), stopped)
            position += 1
            self._known = prompt.followed_by(text.tokens)


def _check(stopped: Callable[[], bool]) -> None:
    if stopped():
        raise Canceled("canceled while the model was answering")
