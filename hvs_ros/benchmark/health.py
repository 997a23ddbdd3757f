"""Is it one episode that fails, or the machinery? With many searches at once the two must be told apart.

When a server goes, every search under way fails in the same moment. That is one failure, not as many as were under way,
and it says nothing about their episodes: they wait and are tried again until one completes. Only when nothing has
completed for a good while is the machinery taken for broken. While others complete, however, an episode that fails
again and again has itself to blame, and is given up after a few attempts so that the rest goes on.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from hvs_ros.benchmark.record import SearchRecord
from hvs_ros.benchmark.run import Patience
from hvs_ros.search.episode import Outcome

LONGEST_PAUSE_S = 30.0
"""Between two attempts."""

REPEATED = frozenset({Outcome.POLICY_FAILED, Outcome.HEAD_FAILED})
"""Failures that another attempt would only repeat: the policy's own mistake, and a scene that cannot be opened."""


class Attempts:
    """Of one episode.

    Attributes:
        made: how often it was run.
    """

    def __init__(self, health: Health) -> None:
        self.made = 0
        self._health = health
        self._counted = 0
        self._began_s, self._completed_before = 0.0, 0

    def begin(self) -> None:
        """Note that it is run."""
        self.made += 1
        self._began_s, self._completed_before = self._health.now_s(), self._health.completed

    def ended(self, record: SearchRecord) -> bool:
        """Note how it went, and return whether that is its result.

        Raises:
            MachineryError: not one episode fails, everything does.
        """
        if record.outcome.completed:
            self._health.note_completed()
            return True
        self._health.note_failed(record, self._began_s)
        # Where nobody completes, that is no sign against this episode.
        lonely = record.outcome is Outcome.POLICY_UNAVAILABLE and self._health.completed == self._completed_before
        self._counted += not lonely
        return record.outcome in REPEATED or self._counted >= self._health.patience.attempts

    @property
    def pause_s(self) -> float:
        """How long to wait before the next attempt: twice as long each time, and not all at the same instant."""
        longest = min(self._health.patience.pause_s * 2.0 ** (self.made - 1), LONGEST_PAUSE_S)
        return longest * random.uniform(0.5, 1.0)


class MachineryError(Exception):
    """Nothing completes any more; the message says what failed last."""


class Health:
    """Of the machinery of a run.

    Args:
        patience: with it.
        now_s: a steady clock.

    Attributes:
        completed: episodes that ran to their end.
    """

    def __init__(self, patience: Patience, now_s: Callable[[], float] = time.monotonic) -> None:
        self.patience = patience
        self.now_s = now_s
        self.completed = 0
        self._in_a_row = 0
        self._only_mistakes = True
        self._first_s = self._last_s = 0.0

    def note_completed(self) -> None:
        """Something works."""
        self.completed += 1
        self._in_a_row = 0

    def note_failed(self, record: SearchRecord, began_s: float) -> None:
        """Something does not.

        Args:
            record: of the search.
            began_s: when it began.

        Raises:
            MachineryError: nothing has worked for so long that nothing will.
        """
        now_s = self.now_s()
        if self._in_a_row == 0:
            self._first_s, self._only_mistakes = now_s, True
        self._only_mistakes &= record.outcome is Outcome.POLICY_FAILED
        if self._in_a_row == 0 or began_s >= self._last_s:
            # Those that were under way when another one failed are the same failure.
            self._in_a_row += 1
            self._last_s = now_s
        if self._in_a_row < self.patience.failures_in_a_row:
            return
        # What is not there may come back, so it gets time as well; a policy's mistake stays one.
        failing_s = now_s - self._first_s
        if failing_s < self.patience.outage_s and not self._only_mistakes:
            return
        since = "" if self._only_mistakes else f", for {failing_s:.0f} s"
        raise MachineryError(
            f"no episode completes any more{since}; the last one: {record.outcome.value}: {record.message}"
        )
