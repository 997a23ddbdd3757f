"""What a policy answers in one turn.

Policies are anybody's code, and what they answer goes into messages, files and onto a terminal. So an answer is checked
where it is made: kinds that nothing downstream can carry are refused there, with the name of what is wrong, and text
is made such that it can be written as UTF-8 everywhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum
from numbers import Integral

from hvs_ros.search.action import Action, Rotate, Submit

LARGEST_COUNT = 2**31 - 1
_UNWRITABLE = re.compile("[\0\ud800-\udfff]")


class ParseStatus(Enum):
    """What an answer turned out to be. Nothing but OK moves the head or submits."""

    OK = "ok"
    NO_ANSWER = "no answer"
    BAD_ACTION = "bad action"
    OUT_OF_RANGE = "out of range"
    TRUNCATED = "truncated"
    SEVERAL_ACTIONS = "several actions"


@dataclass(frozen=True)
class Usage:
    """Tokens as the model counted them; None where that does not apply or is not known.

    Raises:
        ValueError: a count is none.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    image_tokens: int | None = None

    def __post_init__(self) -> None:
        for name in ("prompt_tokens", "completion_tokens", "image_tokens"):
            value = getattr(self, name)
            if value is None:
                continue
            if not isinstance(value, Integral) or not 0 <= int(value) <= LARGEST_COUNT:
                raise ValueError(f"{name} is {value!r}; a number of tokens or None is expected")
            object.__setattr__(self, name, int(value))  # numpy's integers are not JSON


@dataclass(frozen=True)
class Decision:
    """One answer.

    Attributes:
        action: what to do; None exactly when the status is not OK.
        thought: the reasoning, as far as the policy tells.
        raw: the answer as it came; only what cannot be written as text (NUL, half a surrogate pair) is replaced.
        status: what the answer turned out to be.
        guess: the policy says itself that this is a guess.
        usage: token counts.
        made: how the answer came about (what was sent, prompts, model), for the record.

    Raises:
        ValueError: an action without status OK, or the other way round.
        TypeError: something in it is of a kind that it cannot be.
    """

    action: Action | None
    thought: str = ""
    raw: str = ""
    status: ParseStatus = ParseStatus.OK
    guess: bool = False
    usage: Usage = field(default_factory=Usage)
    made: str = ""

    def __post_init__(self) -> None:
        if self.action is not None and not isinstance(self.action, (Rotate, Submit)):
            raise TypeError(f"the action is {self.action!r:.200}; Rotate(...), Submit(...) or None is expected")
        if not isinstance(self.status, ParseStatus):
            raise TypeError(f"the status is {self.status!r:.200}; a ParseStatus is expected")
        if not isinstance(self.usage, Usage):
            raise TypeError(f"the usage is {self.usage!r:.200}; a Usage is expected")
        for name in ("thought", "raw", "made"):
            object.__setattr__(self, name, _writable(name, getattr(self, name)))
        object.__setattr__(self, "guess", bool(self.guess))
        if (self.action is not None) != (self.status is ParseStatus.OK):
            raise ValueError(f"a decision with status '{self.status.value}' cannot carry the action {self.action}")


def _writable(name: str, text: object) -> str:
    if not isinstance(text, str):
        raise TypeError(f"{name} is {text!r:.200}; a text is expected")
    return _UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", text)
