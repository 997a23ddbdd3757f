"""How the next token is chosen: a checkpoint's own defaults, greedy or sampled.

A server applies the checkpoint's ``generation_config.json`` by itself, so what runs in process has to as well. The
order is transformers' (repetition penalty, temperature, top-k, top-p).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class GenerationDefaults:
    """What generation_config.json says.

    Attributes:
        end: token ids that end an answer.
        repetition_penalty: logits of tokens that are in the prompt or the answer are divided by it where they are
            positive and multiplied where they are negative; 1 is none.
        top_k: with a temperature, sample among so many likeliest tokens; 0: among all.
        top_p: with a temperature, among the likeliest that together have this probability.
    """

    end: frozenset[int]
    repetition_penalty: float = 1.0
    top_k: int = 0
    top_p: float = 1.0


def generation_defaults(config: Mapping[str, Any], decoder: Mapping[str, Any]) -> GenerationDefaults:
    """Read a generation_config.json.

    Args:
        config: its content; empty where there is none.
        decoder: the model's configuration, which may name the end as well.

    Raises:
        ValueError: a value that cannot be, or nothing ends an answer.
    """
    end = config.get("eos_token_id", decoder.get("eos_token_id"))
    if end is None:
        raise ValueError("neither generation_config.json nor config.json has eos_token_id")
    penalty = float(config.get("repetition_penalty") or 1.0)
    top_k, top_p = int(config.get("top_k") or 0), float(config.get("top_p") or 1.0)
    if not 0.0 < penalty < 100.0:
        raise ValueError(f"generation_config.json: repetition_penalty is {penalty:g}; more than 0 is expected")
    if top_k < 0 or not 0.0 < top_p <= 1.0:
        raise ValueError(f"generation_config.json: top_k is {top_k}, top_p {top_p:g}; top_k >= 0, 0 < top_p <= 1")
    ids = end if isinstance(end, list) else [end]
    return GenerationDefaults(frozenset(int(token) for token in ids), penalty, top_k, top_p)


def sampling_fact(defaults: GenerationDefaults, temperature: float, max_tokens: int) -> str:
    """Return how answers are chosen, for the record."""
    how = "greedy" if temperature <= 0 else f"temperature {temperature:g}"
    return f"{how} with repetition penalty {defaults.repetition_penalty:g} and at most {max_tokens} tokens"


class Chooser:
    """Chooses the tokens of one answer.

    Args:
        defaults: of the checkpoint.
        prompt: ids of the prompt.
        temperature: 0 is greedy.
        seed: of the random numbers with a temperature.

    Attributes:
        seen: ids of the prompt and of what was chosen, in order.
    """

    def __init__(
        self, defaults: GenerationDefaults, prompt: Sequence[int] | NDArray[Any], temperature: float, seed: int = 0
    ) -> None:
        self._defaults = defaults
        self._temperature = temperature
        self._random = np.random.default_rng(seed)
        self.seen = np.unique(np.asarray(prompt, np.int64))

    def choose(self, logits: NDArray[np.float32]) -> int:
        """Return the next token, given its logits, float32 of shape (vocabulary,), which are not changed."""
        penalty = self._defaults.repetition_penalty
        if penalty != 1.0:
            logits = logits.copy()
            seen = logits[self.seen]
            logits[self.seen] = np.where(seen < 0, seen * np.float32(penalty), seen / np.float32(penalty))
        token = int(np.argmax(logits)) if self._temperature <= 0.0 else self._sample(logits)
        place = int(np.searchsorted(self.seen, token))
        if place == len(self.seen) or self.seen[place] != token:
            self.seen = np.insert(self.seen, place, token)
        return token

    def ends(self, token: int) -> bool:
        """Return whether the answer is over with this token, which is not part of it."""
        return token in self._defaults.end

    def _sample(self, logits: NDArray[np.float32]) -> int:
        order = np.argsort(-logits, kind="stable")
        if self._defaults.top_k:
            order = order[: self._defaults.top_k]
        scaled = logits[order].astype(np.float64) / self._temperature
        likely = np.exp(scaled - scaled[0])
        likely /= likely.sum()
        # The token with which the sum reaches top_p is the last one kept.
        kept = int(np.searchsorted(np.cumsum(likely), self._defaults.top_p)) + 1
        likely = likely[:kept] / likely[:kept].sum()
        return int(order[self._random.choice(len(likely), p=likely)])
