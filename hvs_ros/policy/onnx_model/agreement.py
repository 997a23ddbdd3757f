"""How far an exported model agrees with its original, turn by turn on the same questions.

Every question is the original's, with the original's earlier answers in it: one answer that differs does not make all
that follow differ too.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from hvs_ros.policy.engine import Engine
from hvs_ros.policy.model_settings import ModelSettings, ParserMode, Thought
from hvs_ros.policy.onnx_model.golden import Asked
from hvs_ros.policy.parse import parse
from hvs_ros.policy.qwen.tokenizer import QwenTokenizer
from hvs_ros.search.decision import Decision, ParseStatus


@dataclass(frozen=True)
class Compared:
    """One turn.

    Attributes:
        asked: of the original.
        status: what the exported model's answer turned out to be.
        action: its action in words, or the status.
        tokens: of the original's answer.
        alike: so many of them, from the first one on, are the exported model's.
    """

    asked: Asked
    status: ParseStatus
    action: str
    tokens: int
    alike: int

    @property
    def decided(self) -> bool:
        """Either of them decides on a valid action."""
        return ParseStatus.OK in (self.status, self.asked.decision.status)

    @property
    def same_action(self) -> bool:
        """Both decide the same, be it that neither decides anything."""
        return self.action == in_words(self.asked.decision)

    def __str__(self) -> str:
        theirs = in_words(self.asked.decision)
        what = f"both {theirs}" if self.same_action else f"{self.action} INSTEAD OF {theirs}"
        return f"{self.asked.search} turn {self.asked.turn}: {what}; {self.alike} of {self.tokens} tokens alike"


@dataclass(frozen=True)
class Agreement:
    """Of all turns.

    Attributes:
        turns: compared.
        decided: turns in which either of them decided on a valid action; the others tell nothing.
        same: of those, turns with the same action.
        tokens: of the original's answers.
        alike: so many of them came out alike before the first difference of a turn.
    """

    turns: int
    decided: int
    same: int
    tokens: int
    alike: int

    @property
    def share(self) -> float:
        """Of decided turns with the same action, 0 to 1; 0 where nothing was decided."""
        return self.same / self.decided if self.decided else 0.0

    @classmethod
    def of(cls, compared: Sequence[Compared]) -> Agreement:
        """Count."""
        return cls(
            turns=len(compared),
            decided=sum(turn.decided for turn in compared),
            same=sum(turn.decided and turn.same_action for turn in compared),
            tokens=sum(turn.tokens for turn in compared),
            alike=sum(turn.alike for turn in compared),
        )

    def __str__(self) -> str:
        tokens = f"tokens: {self.alike} of {self.tokens} alike before a turn's first difference"
        if not self.decided:
            return f"actions: in {self.turns} turns neither model has decided on one: nothing to go by; {tokens}"
        rest = f", {self.turns - self.decided} turns without an action" if self.decided < self.turns else ""
        return f"actions: {self.same} of {self.decided} agree ({100 * self.share:.1f} %){rest}; {tokens}"


def compare(
    asked: Iterable[Asked], engine: Engine, settings: ModelSettings, tokenizer: QwenTokenizer
) -> Iterator[Compared]:
    """Ask the exported model what the original was asked.

    Raises:
        PolicyError: it cannot answer.
    """
    never = threading.Event()
    for turn in asked:
        answer = engine.answer(turn.messages, never)
        parsed = parse(
            answer.text,
            truncated=answer.finish == "length",
            mode=ParserMode(settings.parser),
            thought=Thought(settings.thought),
        )
        theirs, ours = tokenizer.encode(turn.answer.text), tokenizer.encode(answer.text)
        differing = (n for n, (a, b) in enumerate(zip(theirs, ours, strict=False)) if a != b)
        alike = next(differing, min(len(theirs), len(ours)))
        action = parsed.status.value if parsed.action is None else str(parsed.action)
        yield Compared(turn, parsed.status, action, len(theirs), alike)


def in_words(decision: Decision) -> str:
    """Return the action, or why there is none."""
    return decision.status.value if decision.action is None else str(decision.action)
