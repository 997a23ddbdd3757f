"""What an instruction asks for, as names that may be written on a sign.

Instructions are everyday English: "Find the red EXIT sign above the double door.", "Which way should you walk to reach
platform 3?" Names that are quoted, in brackets or written in capitals are what the sign says; known things (see
``vocabulary``) may go by any of their names; other words of the target count less. What only describes where the
target is ("above the double door") is kept as context: too little to submit on, enough for a guess.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from hvs_ros.policy.sign_reading.vocabulary import CONCEPTS, Concept
from hvs_ros.policy.sign_reading.vocabulary_table import STOP_WORDS
from hvs_ros.policy.sign_reading.words import fold, has_digit, token_spans, tokens

NAME_WEIGHT = 1.0
CONCEPT_WEIGHT = 0.95
PURPOSE_WEIGHT = 0.85
WORD_WEIGHT = 0.7
HINT_WEIGHT = 0.55
CONTEXT_FACTOR = 0.6


@dataclass(frozen=True)
class Wanted:
    """One thing that a sign may say.

    Attributes:
        label: for people.
        names: ways to write it, each as folded tokens.
        weight: how much a sign that says it is worth, 0 to 1.
        code: number or code that must be there too ("3", "b12"); empty when there is none.
        concept: the vocabulary's entry, if it is one.
        partial: part of the name is worth something too (a person's name, the words of a description).
    """

    label: str
    names: tuple[tuple[str, ...], ...]
    weight: float
    code: tuple[str, ...] = ()
    concept: Concept | None = None
    partial: bool = False


@dataclass(frozen=True)
class Request:
    """An instruction, understood as far as signs go.

    Attributes:
        instruction: as given.
        wanted: what a sign may say, the most telling first; empty when nothing in it can be written on a sign.
        color: the colour that the target is said to have; None when there is none.
        pitch_deg: where to look, up positive, when the instruction says so ("below you"); None: around the horizon.
        textual: a sign or writing is asked for, or a thing that signs commonly name.
    """

    instruction: str
    wanted: tuple[Wanted, ...]
    color: str | None
    pitch_deg: float | None
    textual: bool


def understand(instruction: str) -> Request:
    """Return what an instruction asks for."""
    text = _without_negation(instruction)
    literals = _literals(text)
    concepts = _concepts(text, literals)
    wanted = [*literals, *concepts, *_words(text, [*literals, *concepts])]
    wanted.sort(key=lambda item: -item.weight)
    folded = fold(text)
    return Request(
        instruction=instruction,
        wanted=tuple(wanted),
        color=_color(folded),
        pitch_deg=_pitch(folded),
        textual=bool(literals or concepts) or re.search(_WRITING, folded) is not None,
    )


COLORS = ("red", "orange", "yellow", "green", "blue", "purple", "pink")
"""Colours that a target can be told by."""

_WRITING = r"\b(signs?|signboards?|labels?|labell?ed|written|printed|says|reads|notices?|boards?|letters|name|word)\b"
_CONTEXT = re.compile(
    r"\b(?:above|below|under|underneath|beneath|next to|beside|besides|near|by the|behind|in front of|left of|right of|"
    r"at the|between|opposite|along|inside|(?<!book )(?<!books )on|in|with|that|which (?!way)|who|against|across|over|"
    r"around|where|standing|hanging|leading|seen from|among)\b"
)
_NEGATION = re.compile(
    r"[,;(]?\s*\b(?:not|but not|rather than|instead of|other than|except)\b[^.,;:?!)]*", re.IGNORECASE
)
_STOP = frozenset(STOP_WORDS.split())
_QUOTED = re.compile(
    r"\"([^\"]+)\"|“([^”]+)”|„([^“”]+)[“”]|«([^»]+)»|‘([^’]+)’|(?<![\w'])'([^']+(?:'\w+[^']*)?)'(?!\w)|\(([^)]+)\)"
)
_CAPITALS = re.compile(r"\b[^\W\d_a-zß-öø-ÿ](?:[^\W\d_a-zß-öø-ÿ]|['&.\-](?=[^\W\d_a-zß-öø-ÿ]))+\b\.?"
                       r"(?:[ ]+(?:&[ ]+)?[^\W\d_a-zß-öø-ÿ](?:[^\W\d_a-zß-öø-ÿ]|['&.\-])*(?![a-zß-ÿ]))*")  # fmt: skip
_PROPER = re.compile(r"(?<![.?!:]\s)(?<!^)\b[A-ZÀ-Þ][a-zß-ÿ]+(?:(?:[ -]|-(?:le|la|les|de|du|sur)-)[A-ZÀ-Þ][\w]+)*")
_CODE = re.compile(r"^\s*(?:number|no\.?|nr\.?|#)?\s*([A-Za-z]{0,2}\d+(?:[.\-/]\d+)*[A-Za-z]?|[A-Z])(?![\w])")
_NUMBER_WORDS = {
    "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6",
    "seven": "7", "eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12",
}  # fmt: skip


def _without_negation(text: str) -> str:
    return _NEGATION.sub(" ", text)


def _literals(text: str) -> list[Wanted]:
    """Return the names that are spelled out: quoted, in brackets, in capitals, or proper names."""
    found: list[tuple[str, float]] = []
    rest = text
    for match in _QUOTED.finditer(text):
        found.append((next(group for group in match.groups() if group), NAME_WEIGHT))
    rest = _QUOTED.sub(lambda match: " " * len(match.group()), rest)
    for match in _CAPITALS.finditer(rest):
        found.append((match.group(), NAME_WEIGHT))
    rest = _CAPITALS.sub(lambda match: " " * len(match.group()), rest)
    for match in _PROPER.finditer(rest):
        found.append((match.group(), NAME_WEIGHT))
    literals = []
    for name, weight in found:
        folded = tuple(tokens(name))
        # A gate's letter or a platform's number belongs to its concept.
        if folded and not (len(folded) == 1 and (len(folded[0]) == 1 or has_digit(folded[0]))):
            literals.append(Wanted(f"'{name.strip(' .')}'", (folded,), weight, partial=len(folded) > 1))
    return literals


@dataclass(frozen=True)
class _Phrase:
    tokens: tuple[str, ...]
    concept: Concept
    asked: bool


@lru_cache(maxsize=1)
def _phrases() -> dict[tuple[str, ...], list[_Phrase]]:
    """Return by which words each concept is asked for."""
    table: dict[tuple[str, ...], list[_Phrase]] = {}
    for concept in CONCEPTS:
        for names, asked in ((concept.signed, False), (concept.asked, True), ((concept.name,), False)):
            for name in names:
                key = tuple(tokens(name))
                if len("".join(key)) > 1 and not any(known.concept is concept for known in table.get(key, ())):
                    table.setdefault(key, []).append(_Phrase(key, concept, asked))
    return table


@lru_cache(maxsize=256)
def concept_names(concept: Concept) -> tuple[tuple[str, ...], ...]:
    """Return the names of a concept on signs, as tokens, without doubles."""
    return tuple(dict.fromkeys(tuple(tokens(name)) for name in concept.signed))


def _concepts(text: str, literals: list[Wanted]) -> list[Wanted]:
    words = token_spans(text)
    context_from = _context_starts(text)
    spelled = {word for literal in literals for name in literal.names for word in name}
    wanted: dict[str, Wanted] = {}
    position = 0
    while position < len(words):
        length, phrases = _longest(words, position)
        if not length:
            position += 1
            continue
        start, end = words[position][1], words[position + length - 1][2]
        in_context = any(begin <= start < stop for begin, stop in context_from)
        modifies = _modifies_next(text, words, position, length)
        in_name = all(word in spelled for word, _, _ in words[position : position + length])
        for phrase in phrases:
            code = _code_after(text, end) if phrase.concept.numbered else ()
            if not code and not phrase.concept.bare:
                continue
            weight = PURPOSE_WEIGHT if phrase.asked else CONCEPT_WEIGHT
            if modifies or (in_context and not in_name and not phrase.asked):
                weight *= CONTEXT_FACTOR
            elif literals and (not in_name or literals[0].partial):
                weight *= 0.75  # the name that is spelled out is what the sign says, all of it
            known = wanted.get(phrase.concept.name)
            if known is None or (bool(code), weight) > (bool(known.code), known.weight):
                label = " ".join([phrase.concept.name, *code])
                names = concept_names(phrase.concept)
                wanted[phrase.concept.name] = Wanted(label, names, weight, code, phrase.concept)
        position += length
    return [*wanted.values(), *_hints(list(wanted.values()))]


def _longest(words: list[tuple[str, int, int]], position: int) -> tuple[int, list[_Phrase]]:
    table = _phrases()
    for length in range(min(6, len(words) - position), 0, -1):
        key = tuple(word for word, _, _ in words[position : position + length])
        # "orange baskets" are no oranges.
        candidates = (key,) if key[-1] in COLORS else (key, _singular(key), _plural(key))
        for candidate in candidates:
            if candidate in table:
                return length, table[candidate]
    return 0, []


def _modifies_next(text: str, words: list[tuple[str, int, int]], position: int, length: int) -> bool:
    """Return whether a name only says more about the one after it, as the library in "library reading room"."""
    following = position + length
    if following >= len(words) or text[words[following - 1][2] : words[following][1]] != " ":
        return False
    return any(not phrase.asked and phrase.concept.bare for phrase in _longest(words, following)[1])


def _singular(key: tuple[str, ...]) -> tuple[str, ...]:
    return (*key[:-1], key[-1][:-1]) if key[-1].endswith("s") and len(key[-1]) > 3 else key


def _plural(key: tuple[str, ...]) -> tuple[str, ...]:
    return (*key[:-1], key[-1] + "s")


def _hints(wanted: list[Wanted]) -> list[Wanted]:
    hints = []
    for item in wanted:
        if item.concept is not None and item.concept.hints:
            names = tuple(tuple(tokens(hint)) for hint in item.concept.hints)
            hints.append(Wanted(f"something near {item.label}", names, HINT_WEIGHT * item.weight))
    return hints


def _code_after(text: str, end: int) -> tuple[str, ...]:
    match = _CODE.match(text[end:])
    if match:
        return tuple(tokens(match.group(1)))
    following = tokens(text[end:])[:1]
    return (_NUMBER_WORDS[following[0]],) if following and following[0] in _NUMBER_WORDS else ()


def _context_starts(text: str) -> list[tuple[int, int]]:
    """Return the parts of the text that only say where the target is: from a preposition to the end of its clause."""
    parts = []
    for clause in re.finditer(r"[^.:;?!,]+", text):
        opening = re.search(
            r"\b(?:find|locate|reach|get to|go to|enter|leave|to get|to go|walk to)\b", clause.group(), re.IGNORECASE
        )
        begin = clause.start() + (opening.end() if opening else 0)
        match = _CONTEXT.search(text.lower(), begin, clause.end())
        # "the sign that says toilets", "the shelf with history books" say what it is, not where.
        if match and not re.match(r"(?:that|which|with|where)\b", match.group()):
            parts.append((match.start(), clause.end()))
    return parts


def _words(text: str, taken: list[Wanted]) -> list[Wanted]:
    """Return the target's other words: a sign may name it although nobody foresaw it."""
    used = {word for item in taken for name in item.names for word in name}
    used |= {word for item in taken for word in tokens(item.label)}
    context = _context_starts(text)
    words = [
        (word, any(begin <= start < stop for begin, stop in context))
        for word, start, _ in token_spans(text)
        if word not in _STOP and word not in used and len(word) > 3 and not has_digit(word)
    ]
    factor = 0.8 if taken else 1.0
    return [
        Wanted(f"'{word}'", ((word,),), WORD_WEIGHT * factor * (CONTEXT_FACTOR if in_context else 1.0))
        for word, in_context in dict.fromkeys(words)
    ]


def _color(folded: str) -> str | None:
    """Return the colour nearest to the beginning, which is the target's."""
    match = re.search(r"\b(" + "|".join(COLORS) + r")\b", folded)
    return match.group(1) if match else None


def _pitch(folded: str) -> float | None:
    if re.search(r"\b(below you|beneath you|at your feet|under your feet|under you|straight down)\b", folded):
        return -48.0
    if re.search(r"\b(on the ground|on the floor|in the paving|in the pavement)\b", folded):
        return -20.0
    if re.search(r"\b(above you|overhead|over your head|on the ceiling|in the sky|straight up)\b", folded):
        return 42.0
    return None
