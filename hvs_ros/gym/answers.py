"""The space of what a model may say.

Gymnasium's ``Text`` needs an alphabet, and that of a language model is all of Unicode: a million characters to hold,
sample from and print. Here any text of at most some length belongs to the space, and a sample is an answer that can be
acted on, so that an agent that only samples looks around and submits.
"""

from __future__ import annotations

import string
from typing import Any

from gymnasium.spaces import Text

LONGEST = 65536
"""Characters; some sixteen times what a model says within 1024 tokens."""

_SUBMITS = 0.2


class AnswerSpace(Text):
    """Any text, Unicode or empty, of at most ``LONGEST`` characters.

    Args:
        bare: samples are actions alone, without the tags of an answer.
    """

    def __init__(self, *, bare: bool = False) -> None:
        super().__init__(LONGEST, min_length=0, charset=string.printable)
        self._bare = bare

    @property
    def is_np_flattenable(self) -> bool:
        """Not: there is no alphabet to number."""
        return False

    def contains(self, x: Any) -> bool:
        """Return whether it is a text, and not too long; numpy's strings are texts as well."""
        return isinstance(x, str) and len(x) <= self.max_length

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """Return a random action in the form of an answer: four times of five a rotation, else a submission.

        Args:
            mask: none is possible.
            probability: likewise.

        Raises:
            ValueError: a mask or probabilities are given.
        """
        if mask is not None or probability is not None:
            raise ValueError("answers are sampled as they are: give no mask and no probability")
        random = self.np_random
        if random.random() < _SUBMITS:
            action = f"submit({random.integers(0, 360)},{random.integers(-45, 46)})"
        else:
            action = f"rotate({random.integers(-180, 181)},{random.integers(-45, 46)})"
        return action if self._bare else f"<think>A guess.</think><answer>{action}</answer>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AnswerSpace) and self._bare == other._bare

    def __repr__(self) -> str:
        return f"AnswerSpace(bare={self._bare})"
