"""Which of several servers is asked: the least busy one that is not known to be dead.

A server that failed is left out for a while that grows with each failure. Then one request tries it; while that is
under way the others go elsewhere, and its success brings the server back. When all are dead, the one that is due first
is asked all the same: a restarted server must be noticed by the next search, whatever happened before.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

FIRST_REST_S, LONGEST_REST_S = 1.0, 30.0
"""How long a server that failed is left out."""
LOYALTY = 2
"""A search stays with its server, which has its earlier turns in a cache, while that has at most so many requests more
than another."""

S = TypeVar("S")


@dataclass(eq=False)
class Member(Generic[S]):
    """A server of the pool.

    Attributes:
        server: it.
        busy: requests under way.
        failures: in a row.
        rests_until: it is not asked before that time [s, steady clock].
        reason: of the last failure.
        asked: requests so far.
    """

    server: S
    busy: int = 0
    failures: int = 0
    rests_until: float = 0.0
    reason: str = ""
    asked: int = field(default=0, repr=False)


class Pool(Generic[S]):
    """Servers, all as good as each other. It belongs to one thread.

    Args:
        servers: in the order in which they are asked when nothing else tells them apart.
        now: the steady clock [s].
    """

    def __init__(self, servers: Sequence[S], now: Callable[[], float] = time.monotonic) -> None:
        self.members = tuple(Member(server) for server in servers)
        self._now = now

    def choose(self, tried: Collection[Member[S]] = (), before: Member[S] | None = None) -> Member[S]:
        """Return the server to ask.

        Args:
            tried: those that failed this request already; they come last.
            before: that the search has asked before.
        """
        now = self._now()
        for members in (
            [m for m in self.members if m not in tried and self._alive(m, now)],
            [m for m in self.members if self._alive(m, now)],
        ):
            if members:
                return self._least_busy(members, before)
        return min(self.members, key=lambda m: (m in tried, m.rests_until))

    def alive(self, tried: Collection[Member[S]] = ()) -> bool:
        """Return whether there is a server that may be asked now, beside those that were tried."""
        now = self._now()
        return any(m not in tried and self._alive(m, now) for m in self.members)

    def began(self, member: Member[S]) -> None:
        """Note that it is asked."""
        member.busy += 1
        member.asked += 1

    def ended(self, member: Member[S]) -> None:
        """Note that it is not asked any more."""
        member.busy -= 1

    def succeeded(self, member: Member[S]) -> None:
        """Note that it answered."""
        member.failures, member.rests_until, member.reason = 0, 0.0, ""

    def failed(self, member: Member[S], reason: str) -> None:
        """Leave it out for a while."""
        member.failures += 1
        rest_s = min(FIRST_REST_S * 2.0 ** min(member.failures - 1, 10), LONGEST_REST_S)
        member.rests_until, member.reason = self._now() + rest_s, reason

    def rests(self, member: Member[S], wait_s: float, reason: str) -> None:
        """Leave alone a server that is well but asked for it."""
        member.rests_until, member.reason = self._now() + wait_s, reason

    def _alive(self, member: Member[S], now: float) -> bool:
        if member.rests_until > now:
            return False
        return member.failures == 0 or member.busy == 0

    @staticmethod
    def _least_busy(members: Sequence[Member[S]], before: Member[S] | None) -> Member[S]:
        best = min(members, key=lambda m: (m.failures > 0, m.busy, m.asked))
        if before is not None and before in members and before.busy <= best.busy + LOYALTY:
            return before
        return best
