"""Tells a person how a run goes, in plain lines that read well in a log: one a turn, one an episode."""

from __future__ import annotations

from collections.abc import Callable

from hvs_ros.benchmark.episodes import Episode
from hvs_ros.benchmark.record import SearchRecord, TurnRecord
from hvs_ros.benchmark.result import EpisodeResult
from hvs_ros.benchmark.run import Listener
from hvs_ros.search.scoring import ScoringMode

SAID_LENGTH = 90
"""Of a thought that is quoted in a line."""


class Tally:
    """Counts successes so far; without a word where nothing could be scored."""

    def __init__(self, mode: ScoringMode) -> None:
        self._mode = mode
        self._right = 0
        self._scored = 0

    def add(self, result: EpisodeResult) -> None:
        """Count a result, if it counts."""
        success = result.success(self._mode)
        self._scored += success is not None
        self._right += bool(success)

    def __str__(self) -> str:
        return f"success so far {self._right}/{self._scored}" if self._scored else ""


class PlainProgress(Listener):
    """Prints lines.

    Args:
        say: prints one line.
        mode: the rule that counts.
    """

    def __init__(self, say: Callable[[str], None], mode: ScoringMode = ScoringMode.PAPER) -> None:
        self._say = say
        self._mode = mode
        self._tally = Tally(mode)

    def on_episode(self, number: int, total: int, episode: Episode) -> None:
        """Say which episode begins."""
        self._say(plain(f"[{number}/{total}] {episode.episode_id}: {episode.task.instruction}"))

    def on_turn(self, turn: TurnRecord) -> None:
        """Say what the policy said and did."""
        self._say(f"    {turn_line(turn)}")

    def on_retry(self, episode: Episode, record: SearchRecord, attempt: int) -> None:
        """Say why it is run again."""
        self._say(plain(f"    attempt {attempt}: {record.outcome.value}: {record.message}; once more"))

    def on_result(self, result: EpisodeResult) -> None:
        """Say how it went."""
        self._tally.add(result)
        tally = f"; {self._tally}" if str(self._tally) else ""
        self._say(f"    {result_line(result, self._mode)}{tally}")

    def on_note(self, text: str) -> None:
        """Say it."""
        self._say(plain(text))


def turn_line(turn: TurnRecord) -> str:
    """Return a turn in one line."""
    did = str(turn.action) if turn.action is not None else turn.status.value
    said = shorten(turn.said(), SAID_LENGTH)
    quoted = f', said "{said}"' if said else ""
    return f"turn {turn.number} at {turn.direction}: {did}{quoted} ({turn.seconds:.2f} s)"


def record_line(record: SearchRecord) -> str:
    """Return how a search without a known target ended in one line."""
    submitted = f" {record.submitted}" if record.submitted else ""
    guess = ", a guess by its own account" if record.guess else ""
    message = f": {record.message}" if record.message else ""
    return plain(f"{record.outcome.value}{submitted}{guess}{message}")


def result_line(result: EpisodeResult, mode: ScoringMode) -> str:
    """Return how an episode ended in one line."""
    record = result.record
    turns = f"{len(record.turns)} turn" + ("s" if len(record.turns) != 1 else "")
    if not result.completed:
        return f"NOT SCORED, {record.outcome.value}: {shorten(record.message, 160)}"
    if record.submitted is None:
        return f"failed: no submission in {turns}"
    guess = ", a guess by its own account" if record.guess else ""
    if result.submitted is None:
        return f"submitted {record.submitted} after {turns}{guess}"
    judged = result.submitted
    off = f"{judged.yaw_error_deg:+.0f}°"
    if judged.pitch_error_deg is not None:
        off += f" {judged.pitch_error_deg:+.0f}°"
    verdict = "FOUND" if judged.success[mode] else "missed"
    return f"{verdict}: submitted {record.submitted} after {turns}, off by {off}{guess}"


def shorten(text: str, length: int) -> str:
    """Return the text, cut to the length."""
    text = plain(" ".join(text.split()))
    return text if len(text) <= length else text[: length - 1] + "…"


def plain(text: str) -> str:
    """Return the text without control characters: a stranger's words must not command the terminal."""
    return "".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text)
