"""When a request that failed on its way is repeated.

Waits grow exponentially with a random part, so that many clients of a server that restarts do not come back at the same
moment. All times are of the steady clock.
"""

from __future__ import annotations

import email.utils
import random
import time
from collections.abc import Callable, Mapping

LONGEST_WAIT_S = 10.0
"""However often a request has failed, and whatever a server asks for: a robot waits meanwhile."""


class Backoff:
    """The waits of one request.

    Args:
        first_s: about the first wait; each further one is twice as long.
        longest_s: limit of all.
        random_part: returns 0 to 1; the wait is that part of its second half.
    """

    def __init__(
        self, first_s: float, longest_s: float = LONGEST_WAIT_S, random_part: Callable[[], float] = random.random
    ) -> None:
        self._next_s, self._longest_s, self._random_part = first_s, longest_s, random_part

    def next_s(self, asked_s: float | None = None) -> float:
        """Return the next wait.

        Args:
            asked_s: what the server asked for; counts up to the limit.
        """
        wait_s = min(self._next_s, self._longest_s)
        self._next_s *= 2.0
        wait_s *= 0.5 + 0.5 * self._random_part()
        return max(wait_s, min(asked_s or 0.0, self._longest_s))


def retry_after_s(headers: Mapping[str, str], now: Callable[[], float] = time.time) -> float | None:
    """Return for how long the server asks to be left alone (RFC 9110, 10.2.3); None: it does not ask.

    Args:
        headers: of its answer, whose names may be asked for in any case.
        now: the wall clock, for a date.
    """
    for name, unit_s in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            seconds = float(value) * unit_s
        except ValueError:
            try:
                seconds = email.utils.parsedate_to_datetime(value).timestamp() - now()
            except (TypeError, ValueError):
                continue
        if seconds == seconds:  # not NaN
            return max(0.0, seconds)
    return None
