"""Which messages a request holds: the system message, the latest turns, the present view.

Messages never change once they were sent, and nothing in the early ones depends on the turn, so a request begins
with as much of the last one as the window lets it: until the window is full, all of it. After that the oldest turns are
left out, and only the system message is common, unless several turns are left out at once (``drop``): then the
requests until the next time begin alike again.
"""

from __future__ import annotations

from dataclasses import dataclass

from hvs_ros.policy.conversation import Message
from hvs_ros.policy.model_settings import Window


@dataclass(frozen=True)
class _Turn:
    """A question with a picture, how it is put where what it refers to is left out, and the answer if there is one."""

    asked: Message
    resumed: Message
    answer: Message | None = None


class History:
    """The conversation of one search.

    Args:
        system: the first message.
        views: a request holds at most so many views.
        drop: so many turns are left out at once.
        window: which turns those are.
    """

    def __init__(self, system: Message, *, views: int = 5, drop: int = 1, window: Window = Window.VIEWS) -> None:
        self._system = system
        self._views, self._window = views, window
        self._drop = drop if window is Window.VIEWS else 1
        self._turns: list[_Turn] = []
        self._left_out = 0

    def ask(self, asked: Message, resumed: Message | None = None) -> None:
        """Add the question of a turn; one that never got an answer is replaced.

        Args:
            asked: with the view.
            resumed: what stands in its place while it is the oldest of those that are left and is not the first of all;
                None: itself.
        """
        if self._turns and self._turns[-1].answer is None:
            self._turns.pop()
        self._turns.append(_Turn(asked, resumed or asked))
        surplus = len(self._turns) - self._views
        if surplus > 0:
            cut = min(-(-surplus // self._drop) * self._drop, len(self._turns) - 1)
            del self._turns[:cut]
            self._left_out += cut

    def answered(self, text: str) -> None:
        """Add what the model said, as it came."""
        last = self._turns[-1]
        self._turns[-1] = _Turn(last.asked, last.resumed, Message("assistant", (text,)))

    def messages(self) -> tuple[Message, ...]:
        """Return the request: the system message, then question and answer in turn, a question last."""
        messages = [self._system]
        for index, turn in enumerate(self._turns):
            # The published runner cuts by messages: its oldest question still speaks of an answer that is gone.
            alone = index == 0 and self._left_out > 0 and self._window is Window.VIEWS
            messages.append(turn.resumed if alone else turn.asked)
            if turn.answer is not None:
                messages.append(turn.answer)
        return tuple(messages)
