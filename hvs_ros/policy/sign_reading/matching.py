"""How well what a sign says fits what is wanted.

Letters are compared with some tolerance, because readers misread small print; numbers are not: platform 3 is not
platform 13. A sign that lists a range ("Platforms 1-4", "Gates B1-B20") fits every number in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz import fuzz

from hvs_ros.policy.sign_reading.request import Request, Wanted, concept_names
from hvs_ros.policy.sign_reading.vocabulary import CONCEPTS
from hvs_ros.policy.sign_reading.words import has_digit, token_spans

GENERAL_QUALITY = 0.65
"""A sign to all platforms, for who looks for platform 3."""
OTHER_NUMBER_QUALITY = 0.35
"""A sign to another platform: it is somewhere there, but this is not it."""
_LETTERS_FOR_DIGITS = str.maketrans("0158", "olsb")
_NEGATIONS = frozenset({"no", "not", "kein", "keine", "pas", "non", "never"})

Token = tuple[str, int, int]
"""A folded word and the part of the text it comes from."""


@dataclass(frozen=True)
class Match:
    """A sign that says what is wanted.

    Attributes:
        score: 0 to 1.
        wanted: what it fits.
        span: which part of the text (start, end).
    """

    score: float
    wanted: Wanted
    span: tuple[int, int]


def match(request: Request, text: str) -> Match | None:
    """Return the best match of a sign's text with a request; None when nothing fits at all."""
    words = token_spans(text)
    best: Match | None = None
    for wanted in request.wanted:
        found = _quality(wanted, text, words)
        if found is None:
            continue
        quality, first, last = found
        if first > 0 and words[first - 1][0] in _NEGATIONS:
            quality *= 0.3
        candidate = Match(wanted.weight * quality, wanted, (words[first][1], words[last][2]))
        if best is None or candidate.score > best.score:
            best = candidate
    return best


def _quality(wanted: Wanted, text: str, words: Sequence[Token]) -> tuple[float, int, int] | None:
    """Return how well the words fit, and the first and last of them that do."""
    best: tuple[float, int, int] | None = None
    for name in wanted.names:
        for first, last, similarity in _occurrences(name, words):
            factor = similarity
            if wanted.code:
                fits, last = _with_code(wanted.code, text, words, last)
                factor *= fits
            if wanted.concept is not None and _belongs_to_longer(wanted, words, first, last):
                factor *= 0.6
            quality = factor * _prominence(words, first, last, wanted.partial)
            if best is None or quality > best[0]:
                best = quality, first, last
    if wanted.code:
        alone = _code_alone(wanted.code, text, words)
        if alone is not None and (best is None or alone[0] > best[0]):
            best = alone
    if wanted.partial:
        part = _part(wanted.names[0], words)
        if part is not None and (best is None or part[0] > best[0]):
            best = part
    return best


def _occurrences(name: tuple[str, ...], words: Sequence[Token]) -> list[tuple[int, int, float]]:
    """Return where a name stands in the words: (first, last, similarity 0..1)."""
    goal = "".join(name)
    found = []
    # A reader may join words or split them, so windows of other lengths are tried as well.
    for length in {max(1, len(name) - 1), len(name), len(name) + 1} | ({1} if len(goal) > 5 else set()):
        for first in range(len(words) - length + 1):
            window = "".join(word for word, _, _ in words[first : first + length])
            similarity = similar(goal, window)
            if similarity > 0.0:
                found.append((first, first + length - 1, similarity))
    return found


def similar(goal: str, seen: str) -> float:
    """Return how alike two folded words are, 0 below what may count as misread."""
    if goal == seen:
        return 1.0
    if len(goal) > 3 and not has_digit(goal) and has_digit(seen):
        seen = seen.translate(_LETTERS_FOR_DIGITS)
    if len(goal) <= 3 or has_digit(goal) or has_digit(seen):
        # WC, info and B12 have too few letters to lose one; a number is another number.
        return 0.97 if len(goal) == 3 and seen == goal + "s" else 0.0
    if seen == goal + "s" or goal == seen + "s":
        return 0.97
    ratio = fuzz.ratio(goal, seen) / 100.0
    limit = 0.85 if len(goal) <= 5 else 0.8
    return ratio if ratio >= limit else 0.0


def _prominence(words: Sequence[Token], first: int, last: int, spelled_out: bool) -> float:
    """Return less for a name that is only a small part of a longer text."""
    inside = sum(len(word) for word, _, _ in words[first : last + 1])
    total = sum(len(word) for word, _, _ in words)
    floor = 0.85 if spelled_out else 0.7
    return floor + (1.0 - floor) * inside / max(total, 1)


@lru_cache(maxsize=1)
def _names_of_concepts() -> dict[tuple[str, ...], set[str]]:
    table: dict[tuple[str, ...], set[str]] = {}
    for concept in CONCEPTS:
        for name in concept_names(concept):
            table.setdefault(name, set()).add(concept.name)
    return table


def _belongs_to_longer(wanted: Wanted, words: Sequence[Token], first: int, last: int) -> bool:
    """Return whether the words are part of the name of something else ("room" of "reading room")."""
    assert wanted.concept is not None
    for begin in range(max(0, first - 2), first + 1):
        for end in range(last, min(len(words), last + 3)):
            if end - begin <= last - first:
                continue
            owners = _names_of_concepts().get(tuple(word for word, _, _ in words[begin : end + 1]))
            if owners and wanted.concept.name not in owners:
                return True
    return False


_RANGE = re.compile(
    r"\b([a-z]?)(\d+)([a-z]?)\s*(?:-|–|—|to|bis|a|until|…|\.\.+|~)\s*([a-z]?)(\d+)([a-z]?)\b", re.IGNORECASE
)
_LETTER_RANGE = re.compile(r"\b([A-Z])\s*(?:-|–|—|to|bis)\s*([A-Z])\b")


def _with_code(code: tuple[str, ...], text: str, words: Sequence[Token], last: int) -> tuple[float, int]:
    """Return how well the number fits that must come with a name, and the last word of both."""
    at = _find_code(code, words)
    if at is not None:
        return 1.0, max(last, at[1])
    if code_in_range(code, text):
        return 0.97, last
    seen = [word for word, _, _ in words]
    joined = "".join(code)
    if joined[0].isalpha() and len(joined) > 1 and joined[0] in seen:
        return 0.85, last
    others = [word for word in seen if has_digit(word) or (len(word) == 1 and word.isalpha())]
    return (OTHER_NUMBER_QUALITY if others else GENERAL_QUALITY), last


def _find_code(code: tuple[str, ...], words: Sequence[Token]) -> tuple[int, int] | None:
    """Return the first and last word of a code ("B12", also read as "B 12"); None when it is not there."""
    joined = "".join(code)
    for first in range(len(words)):
        seen = ""
        for last in range(first, len(words)):
            seen += words[last][0]
            if seen == joined:
                return first, last
            if not joined.startswith(seen):
                break
    return None


def code_in_range(code: tuple[str, ...], text: str) -> bool:
    """Return whether a range in the text ("B1-B20", "1 to 4", "A-F") holds the code."""
    joined = "".join(code)
    parsed = re.fullmatch(r"([a-z]*)(\d+)[a-z]?", joined)
    if parsed is not None:
        letters, number = parsed.group(1), int(parsed.group(2))
        for found in _RANGE.finditer(text):
            before, low, _, before_high, high, _ = found.groups()
            same = before.lower() == letters and before_high.lower() in ("", letters)
            if same and int(low) <= number <= int(high):
                return True
    elif len(joined) == 1:
        return any(low.lower() <= joined <= high.lower() for low, high in _LETTER_RANGE.findall(text))
    return False


def _code_alone(code: tuple[str, ...], text: str, words: Sequence[Token]) -> tuple[float, int, int] | None:
    """Return the quality of a sign that shows the code and leaves out what it counts."""
    joined = "".join(code)
    telling = any(c.isalpha() for c in joined) and has_digit(joined)
    at = _find_code(code, words)
    if at is None:
        if len(joined) >= 3 and words and code_in_range(code, text):
            return 0.75, 0, len(words) - 1
        return None
    if at[1] - at[0] + 1 == len(words):
        return (0.9 if telling or len(joined) >= 3 else 0.75), *at
    # A number in a timetable or on a price tag counts for little.
    return (0.6 if telling else 0.25), *at


def _part(name: tuple[str, ...], words: Sequence[Token]) -> tuple[float, int, int] | None:
    """Return the quality of a text that shows only some of a name's words, or some letters of it."""
    total = sum(len(word) for word in name)
    hits: dict[int, float] = {}
    got = 0.0
    for wanted_word in name:
        scored = [(similar(wanted_word, word), index) for index, (word, _, _) in enumerate(words)]
        best = max(scored, default=(0.0, -1))
        if best[0] > 0.0:
            got += best[0] * len(wanted_word)
            hits[best[1]] = best[0]
    coverage = got / max(total, 1)
    if not hits or coverage < 0.25 or max(len(words[index][0]) for index in hits) < 4:
        return None
    inside = sum(len(words[index][0]) for index in hits)
    share = inside / max(1, sum(len(word) for word, _, _ in words))
    return coverage * (0.8 + 0.2 * share), min(hits), max(hits)
