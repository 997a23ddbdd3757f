"""What places and things are called, in a request and on a sign.

A concept is one thing with its names in the languages that signs are commonly written in. Its ``signed`` names stand
on signs, and in requests; ``asked`` phrases stand only in requests: nobody writes "wash my hands" on a door, but who
asks for it means the washroom. ``hints`` stand on signs near the thing without naming it. Names are compared folded
(lower case, no accents); a plural in s is understood. Single letters ("i", "P") count on signs only.

The table (``vocabulary_table``) has one entry a concept: its name, then indented its signed names, and where there are
any, "asked:" and "near:" (hints); a deeper indent continues a line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from hvs_ros.policy.sign_reading.vocabulary_table import TABLE


@dataclass(frozen=True)
class Concept:
    """One thing and its names.

    Attributes:
        name: for people.
        signed: names as written on signs.
        asked: further phrases by which a request means it.
        hints: words on signs that stand near it.
        numbered: it comes with a number or code that tells it from others of its kind (platform 3, gate B12).
        bare: a request means it even without a number; "on the floor" means no floor.
    """

    name: str
    signed: tuple[str, ...]
    asked: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    numbered: bool = False
    bare: bool = True


def read_table(table: str) -> tuple[Concept, ...]:
    """Return the concepts of a table.

    Raises:
        ValueError: an entry without signed names, or with a line of an unknown kind.
    """
    entries = re.split(r"\n(?=\S)", table.strip())
    return tuple(_concept(entry) for entry in entries)


def _concept(entry: str) -> Concept:
    head, *rest = re.sub(r"\n {8,}", " ", entry).splitlines()
    name, _, mark = head.partition(" (")
    parts: dict[str, tuple[str, ...]] = {}
    for line in rest:
        kind, colon, names = line.strip().partition(": ")
        kind, names = (kind, names) if colon else ("signed", kind)
        if kind not in ("signed", "asked", "near"):
            raise ValueError(f"vocabulary: '{name}' has a line of the unknown kind '{kind}'")
        parts[kind] = tuple(item.strip() for item in names.split(",") if item.strip())
    if "signed" not in parts:
        raise ValueError(f"vocabulary: '{name}' has no names")
    return Concept(
        name=name,
        signed=parts["signed"],
        asked=parts.get("asked", ()),
        hints=parts.get("near", ()),
        numbered="numbered" in mark,
        bare="only" not in mark,
    )


CONCEPTS = read_table(TABLE)
"""Everything that is known by more than one name."""
