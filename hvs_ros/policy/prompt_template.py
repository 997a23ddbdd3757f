"""Text with places to fill in: ``{instruction}``. A literal brace is written twice, ``{{`` or ``}}``.

Nothing but names is allowed in the braces, and what is filled in is never read for braces again: an instruction is
anybody's text.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from string import Formatter

from hvs_ros.policy.prompt import Around, PromptError

PICTURE = "picture"
"""The place of the picture; a message has it once."""


class Template:
    """A text with places.

    Args:
        text: with placeholders in braces.
        allowed: names that may stand there.
        where: file and key, for errors.
        picture: the text belongs to a picture, whose place it must hold once; otherwise it may not hold it.

    Raises:
        PromptError: a placeholder that is not known, a brace alone, or no place for the picture.
    """

    def __init__(self, text: str, allowed: Collection[str], where: str, *, picture: bool = False) -> None:
        known = {*allowed, PICTURE} if picture else set(allowed)
        self._pieces: list[tuple[str, str | None]] = []
        try:
            parsed = list(Formatter().parse(text))
        except ValueError as error:
            raise PromptError(f"{where}: {error}; write a literal brace twice") from error
        for literal, name, spec, conversion in parsed:
            if name is not None and (name not in known or spec or conversion):
                raise PromptError(f"{where}: {_unknown(name, spec, conversion, known)}")
            self._pieces.append((literal, name))
        pictures = sum(name == PICTURE for _, name in self._pieces)
        if picture and pictures != 1:
            raise PromptError(f"{where}: {{picture}} is there {pictures} times; a message shows one picture")

    @property
    def names(self) -> set[str]:
        """The placeholders in it."""
        return {name for _, name in self._pieces if name is not None}

    def fill(self, values: Mapping[str, object]) -> str:
        """Return the text with the values in their places."""
        return "".join(self._filled(self._pieces, values))

    def around(self, values: Mapping[str, object]) -> Around:
        """Return the text before the picture and the text after it."""
        at = next(index for index, (_, name) in enumerate(self._pieces) if name == PICTURE)
        before = [*self._pieces[:at], (self._pieces[at][0], None)]
        return "".join(self._filled(before, values)), "".join(self._filled(self._pieces[at + 1 :], values))

    @staticmethod
    def _filled(pieces: list[tuple[str, str | None]], values: Mapping[str, object]) -> list[str]:
        return [literal + ("" if name is None else str(values[name])) for literal, name in pieces]


def _unknown(name: str, spec: str | None, conversion: str | None, known: set[str]) -> str:
    written = name + (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "")
    near = get_close_matches(name, known, 1)
    hint = f"did you mean {{{near[0]}}}? " if near and near[0] != written else ""
    names = ", ".join(f"{{{item}}}" for item in sorted(known)) or "none"
    return f"there is no placeholder {{{written}}} here; {hint}Known: {names}. A literal brace is written twice"
