"""Reads one conversation's prompts into a network, whatever runtime computes that.

Between prompts the network keeps what it has computed for the last one and the answer to it. The next prompt begins
with the same messages, so only what is new is computed; pictures go through the vision tower once while they
are in the conversation. What comes out is the same as without.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hvs_ros.policy.contract import PolicyError
from hvs_ros.policy.conversation import Shown
from hvs_ros.policy.engine import Answer, Canceled
from hvs_ros.policy.qwen.answer_text import AnswerText
from hvs_ros.policy.qwen.chat import PlacedPicture, Prompt
from hvs_ros.policy.qwen.checkpoint import Checkpoint
from hvs_ros.policy.qwen.network import Features, Network, SeenPiece
from hvs_ros.policy.qwen.positions import prompt_positions
from hvs_ros.policy.qwen.prefix import shared_prefix
from hvs_ros.policy.qwen.preprocess import PictureFormat, PictureSize, Pixels, decode_picture, preprocess
from hvs_ros.search.decision import Usage

_log = logging.getLogger(__name__)

NOTHING = Prompt(np.empty(0, np.int64))


@dataclass(frozen=True)
class ReadPrompt:
    """A prompt that a network has read, and what that took.

    Attributes:
        prompt: it.
        position: of the token that follows, in all three parts.
        reused: tokens that were there already.
        looked: pictures that went through the vision tower.
        saw_s: for that.
        read_s: for the tokens.
    """

    prompt: Prompt
    position: int
    reused: int
    looked: int
    saw_s: float
    read_s: float

    def answer(self, text: AnswerText, finish: Literal["stop", "length"], said_s: float) -> Answer:
        """Return what was said, with the facts for the record.

        Args:
            text: what was said.
            finish: why it ended.
            said_s: how long it took.
        """
        prompt = self.prompt
        last = prompt.pictures[-1].size if prompt.pictures else None
        detail = (
            f"{self.reused} of {len(prompt)} prompt tokens reused, {self.looked} of {len(prompt.pictures)} pictures "
            f"newly seen in {self.saw_s:.3f} s, prompt read in {self.read_s:.3f} s, "
            f"{len(text.tokens)} tokens said in {said_s:.3f} s"
        )
        return Answer(
            text.text,
            finish,
            Usage(len(prompt), len(text.tokens), 0 if last is None else last.tokens),
            detail if last is None else f"{last}, {detail}",
        )


class PromptReader:
    """Reads the prompts of one conversation after another.

    Args:
        checkpoint: of the model.
        network: computes it.
        reuse: keep what was computed for the last prompt, and for pictures.

    Attributes:
        network: it has read ``known``.
        known: what the network's sequence is.
    """

    def __init__(self, checkpoint: Checkpoint, network: Network, *, reuse: bool = True) -> None:
        self.network = network
        self.known = NOTHING
        self._checkpoint, self._reuse = checkpoint, reuse
        self._seen: dict[str, Features] = {}
        self._told: set[PictureSize] = set()

    def read(
        self, prompt: Prompt, stopped: Callable[[], bool], pixels: Mapping[str, Pixels] | None = None
    ) -> ReadPrompt:
        """Let the network read a prompt.

        Args:
            prompt: it.
            stopped: raises Canceled soon after it returns true.
            pixels: of pictures by their keys, where they are there already.

        Raises:
            PolicyError: a picture cannot be shown.
            Canceled: see above.
        """
        began = time.perf_counter()
        # The last token always runs, since its logits are asked for.
        reused = min(shared_prefix(self.known, prompt), len(prompt) - 1) if self._reuse else 0
        self.known = self.known.first(reused)
        self.network.cut(reused)
        looked = self._look(prompt, reused, pixels or {}, stopped)
        saw = time.perf_counter()
        positions, position = prompt_positions(prompt)
        self._read(prompt, reused, positions, stopped)
        return ReadPrompt(prompt, position, reused, looked, saw - began, time.perf_counter() - saw)

    def forget(self) -> None:
        """Forget what the network has read, for instance because it has not got it any more."""
        self.known = NOTHING

    def _look(self, prompt: Prompt, reused: int, pixels: Mapping[str, Pixels], stopped: Callable[[], bool]) -> int:
        """See to it that the features of every picture that is to be read are there; return how many were computed."""
        keys = {placed.picture.key for placed in prompt.pictures}
        kept = {key: features for key, features in self._seen.items() if key in keys}
        self._seen = kept if self._reuse else {}
        looked = 0
        for placed in prompt.pictures:
            key = placed.picture.key
            if placed.end <= reused or key in self._seen:
                continue
            check(stopped)
            if placed.size not in self._told:
                self._told.add(placed.size)
                _log.info("views of %s", placed.size)
            ready = pixels.get(key) or picture_pixels(placed.picture, self._checkpoint.pictures)
            if ready.size.sent != placed.size.sent:
                raise PolicyError(f"a picture said to be of {placed.size.sent} pixels has {ready.size.sent}")
            self._seen[key] = self.network.see(ready, stopped)
            looked += 1
        return looked

    def _read(self, prompt: Prompt, first: int, positions: NDArray[np.int64], stopped: Callable[[], bool]) -> None:
        for start in range(first, len(prompt), self.network.chunk):
            check(stopped)
            end = min(start + self.network.chunk, len(prompt))
            pieces = [piece for placed in prompt.pictures if (piece := self._piece(placed, start, end)) is not None]
            self.network.extend(prompt.ids[start:end], positions[:, start:end], pieces, stopped)
            self.known = prompt.first(end)

    def _piece(self, placed: PlacedPicture, start: int, end: int) -> SeenPiece | None:
        first, last = max(placed.start, start), min(placed.end, end)
        if first >= last:
            return None
        return SeenPiece(first - start, self._seen[placed.picture.key], first - placed.start, last - first)


def picture_pixels(picture: Shown, form: PictureFormat) -> Pixels:
    """Return the vision tower's input for a picture; from any thread.

    Raises:
        PolicyError: it cannot be decoded, or its sides cannot be.
        PolicyUnavailableError: Pillow is not installed.
    """
    return preprocess(decode_picture(picture), form)


def check_length(prompt: Prompt, max_tokens: int, context: int) -> None:
    """Check that a prompt and the longest answer to it are within the context of the model.

    Raises:
        PolicyError: they are not.
    """
    if len(prompt) + max_tokens > context:
        raise PolicyError(
            f"the prompt has {len(prompt)} tokens and the answer up to {max_tokens}, more than the {context} "
            "of the model's context: give fewer views or smaller pictures"
        )


def check(stopped: Callable[[], bool]) -> None:
    """Raise Canceled where that is so."""
    if stopped():
        raise Canceled("canceled while the model was answering")
