"""How a run of thousands of episodes goes: how far, how fast, how long still, how good so far.

Many searches are under way at once, so single turns are of no interest; what is repeated many times in the same moment
(a server has gone, and sixty searches with it) is said once, with a number.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable

from hvs_ros.benchmark.episodes import Episode
from hvs_ros.benchmark.progress import plain, shorten
from hvs_ros.benchmark.record import SearchRecord, TurnRecord
from hvs_ros.benchmark.result import EpisodeResult
from hvs_ros.benchmark.run import Listener
from hvs_ros.search.scoring import ScoringMode

WINDOW_S = 120.0
"""The rate is that of so long a time, so that a pause is forgotten after it."""
NOTE_LENGTH = 160
SAID_AGAIN_S = 10.0
"""The same trouble is told of so often."""


class Standing:
    """Counts, for any number of threads.

    Args:
        total: episodes that were asked for.
        mode: the rule that counts.
        now_s: a steady clock.

    Attributes:
        done: episodes that are completed, earlier runs included.
        failed: episodes that this run could not complete.
        share_before: of the episodes that earlier runs have completed.
        begun: searching has begun.
    """

    def __init__(
        self, total: int, mode: ScoringMode = ScoringMode.PAPER, now_s: Callable[[], float] = time.monotonic
    ) -> None:
        self.total, self.done, self.failed = total, 0, 0
        self.share_before = 0.0
        self.begun = False
        self._mode = mode
        self._now_s = now_s
        self._began_s = now_s()
        self._right = self._scored = 0
        self._recent: deque[float] = deque()
        self._lock = threading.Lock()

    def begin(self, earlier: Iterable[EpisodeResult] = ()) -> None:
        """Note that searching begins, and count results of earlier runs, which say nothing about this one's rate."""
        with self._lock:
            self._began_s, self.begun = self._now_s(), True
            for result in earlier:
                self._count(result, failed=0)
            self.share_before = self.share

    def add(self, result: EpisodeResult) -> None:
        """Count a result."""
        with self._lock:
            self._count(result, failed=1)
            self._recent.append(self._now_s())

    @property
    def elapsed_s(self) -> float:
        """Since searching began."""
        return self._now_s() - self._began_s

    @property
    def rate(self) -> float:
        """Episodes per second, of late; 0 before the first has ended."""
        with self._lock:
            now_s = self._now_s()
            while self._recent and self._recent[0] < now_s - WINDOW_S:
                self._recent.popleft()
            return len(self._recent) / max(min(now_s - self._began_s, WINDOW_S), 1e-9)

    @property
    def left_s(self) -> float | None:
        """Until all have ended, at the present rate; None where that cannot be said."""
        left = self.total - self.done - self.failed
        rate = self.rate
        return left / rate if rate > 0.0 else None if left else 0.0

    @property
    def share(self) -> float:
        """Of the episodes that have ended."""
        return (self.done + self.failed) / self.total if self.total else 1.0

    def success(self) -> str:
        """Return how good it is so far; empty where nothing was scored."""
        if not self._scored:
            return ""
        return f"success {100 * self._right / self._scored:.1f} % ({self._right}/{self._scored})"

    def parts(self) -> list[str]:
        """Return all that there is to say, in words."""
        if not self.begun:
            return ["loading the policy"]
        left_s, rate = self.left_s, self.rate
        return [
            part
            for part in (
                _rate(rate) if rate else "",
                f"{clock(left_s)} left" if left_s is not None else "",
                self.success(),
                f"{self.failed} NOT COMPLETED" if self.failed else "",
            )
            if part
        ]

    def _count(self, result: EpisodeResult, failed: int) -> None:
        self.done += result.completed
        self.failed += failed * (not result.completed)
        success = result.success(self._mode)
        self._scored += success is not None
        self._right += bool(success)


class Troubles:
    """Turns what is repeated into few lines.

    Args:
        now_s: a steady clock.
    """

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._said_s: float | None = None
        self._unsaid = 0

    def of(self, episode_id: str, record: SearchRecord, what_now: str) -> str:
        """Return a line about a search that failed; empty where one like it was said a moment ago."""
        now_s = self._now_s()
        if self._said_s is not None and now_s - self._said_s < SAID_AGAIN_S:
            self._unsaid += 1
            return ""
        more = f" (and {self._unsaid} other searches since)" if self._unsaid else ""
        self._said_s, self._unsaid = now_s, 0
        why = shorten(record.message, NOTE_LENGTH)
        return f"{plain(episode_id)}: {record.outcome.value}: {why}; {what_now}{more}"


class BenchProgress(Listener):
    """Prints a line now and then.

    Args:
        say: prints one line.
        standing: counts.
        every_s: at most so often; rarer in the course of hours.
        every_share: and at least whenever so much of the whole is done.
        now_s: a steady clock.
    """

    def __init__(
        self,
        say: Callable[[str], None],
        standing: Standing,
        *,
        every_s: float = 10.0,
        every_share: float = 0.05,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._say = say
        self._standing = standing
        self._every_s, self._every_share = every_s, every_share
        self._now_s = now_s
        self._said_s = now_s()
        self._said_share: float | None = None
        self._retries, self._failures = Troubles(now_s), Troubles(now_s)

    def on_turn(self, turn: TurnRecord) -> None:
        """Say how it stands, if it is time."""
        self._say_standing()

    def on_retry(self, episode: Episode, record: SearchRecord, attempt: int) -> None:
        """Say why it is run again."""
        self._note(self._retries.of(episode.episode_id, record, "it is run again"))

    def on_result(self, result: EpisodeResult) -> None:
        """Count it."""
        self._standing.add(result)
        if not result.completed:
            self._note(self._failures.of(result.episode_id, result.record, "NOT COMPLETED"))
        self._say_standing(ended=True)

    def on_note(self, text: str) -> None:
        """Say it."""
        self._say(plain(text))

    def _note(self, text: str) -> None:
        if text:
            self._say(text)

    def _say_standing(self, *, ended: bool = False) -> None:
        standing = self._standing
        if self._said_share is None:  # earlier runs' part is not news
            self._said_share = standing.share_before
        # A run of ten hours need not leave thousands of lines.
        every_s = max(self._every_s, min(standing.elapsed_s / 60.0, 6.0 * self._every_s))
        late = self._now_s() - self._said_s >= every_s
        far = standing.share - self._said_share >= self._every_share
        if late or (ended and (far or standing.share >= 1.0)):
            self._said_s, self._said_share = self._now_s(), standing.share
            head = f"{standing.done}/{standing.total} ({100 * standing.share:.0f} %)"
            self._say(", ".join([head, *standing.parts()]))


def _rate(per_s: float) -> str:
    return f"{per_s:.1f} episodes/s" if per_s >= 1.0 else f"{60 * per_s:.1f} episodes/min"


def clock(seconds: float) -> str:
    """Return a duration as h:mm:ss, or m:ss."""
    whole = round(seconds)
    minutes, hours = whole // 60 % 60, whole // 3600
    return f"{hours}:{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes}:{whole % 60:02d}"
