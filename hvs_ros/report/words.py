"""How a report says things."""

from __future__ import annotations

from dataclasses import dataclass

from hvs_ros.angles import Direction
from hvs_ros.recording.episode import EpisodeRecord
from hvs_ros.search.scoring import Verdict, score
from hvs_ros.search.task import Target

GOOD, BAD, OPEN = "good", "bad", "open"


@dataclass(frozen=True)
class Judged:
    """An episode's verdict, in words.

    Attributes:
        kind: good, bad or open: how it is coloured.
        title: in two words.
        detail: in one sentence.
        success: None where there is nothing to judge.
    """

    kind: str
    title: str
    detail: str
    success: bool | None


def judged(record: EpisodeRecord, target: Target | None) -> Judged:
    """Return the verdict on an episode, by the paper's rule."""
    guess = ", a guess by its own account" if record.guess else ""
    outcome = record.outcome
    if record.submitted is None:
        if outcome is None:
            return Judged(OPEN, "No end recorded", record.problem or "the recording ends before the search", None)
        success = False if outcome.completed and target is not None else None
        kind = BAD if success is False or not outcome.completed else OPEN
        title = "Not found" if success is False else outcome.value.capitalize()
        return Judged(kind, title, record.message or outcome.value, success)
    if target is None:
        return Judged(OPEN, "Submitted", f"{degrees(record.submitted)}{guess}", None)
    verdict = score(target, record.submitted)
    title = "Found" if verdict.success else "Not found"
    return Judged(GOOD if verdict.success else BAD, title, f"off by {error(verdict)}{guess}", verdict.success)


def error(verdict: Verdict) -> str:
    """Return how far a direction is from the middle of the target."""
    words = f"{abs(verdict.yaw_error_deg):.1f}° {'right' if verdict.yaw_error_deg >= 0 else 'left'}"
    if verdict.pitch_error_deg is not None:
        words += f", {abs(verdict.pitch_error_deg):.1f}° {'up' if verdict.pitch_error_deg >= 0 else 'down'}"
    return words


def degrees(direction: Direction) -> str:
    """Return a direction, e.g. ``yaw 132.0°, pitch -4.5°``."""
    return f"yaw {direction.yaw_deg:.1f}°, pitch {direction.pitch_deg + 0.0:.1f}°"


def seconds(value: float) -> str:
    """Return a duration with two or three digits that matter."""
    if value < 0.0995:
        return f"{value * 1000:.0f} ms"
    return f"{value:.2f} s" if value < 9.95 else f"{value:.0f} s"
