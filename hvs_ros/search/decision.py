"""What a policy answers in one turn."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from hvs_ros.search.action import Action


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
    """Tokens as the model counted them; None where that does not apply or is not known."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    image_tokens: int | None = None


@dataclass(frozen=True)
class Decision:
    """One answer.

    Attributes:
        action: what to do; None exactly when the status is not OK.
        thought: the reasoning, as far as the policy tells.
        raw: the answer as it came, untouched.
        status: what the answer turned out to be.
        guess: the policy says itself that this is a guess.
        usage: token counts.

    Raises:
        ValueError: an action without status OK, or the other way round.
    """

    action: Action | None
    thought: str = ""
    raw: str = ""
    status: ParseStatus = ParseStatus.OK
    guess: bool = False
    usage: Usage = field(default_factory=Usage)

    def __post_init__(self) -> None:
        if (self.action is not None) != (self.status is ParseStatus.OK):
            raise ValueError(f"a decision with status '{self.status.value}' cannot carry the action {self.action}")
