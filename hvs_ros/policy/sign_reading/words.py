"""Text brought to a form in which a sign and a request can be compared."""

from __future__ import annotations

import re
import unicodedata

ARROW_CHARACTERS = {
    "→": "right", "➔": "right", "➜": "right", "►": "right", "▶": "right", "»": "right", ">": "right",
    "←": "left", "◄": "left", "◀": "left", "«": "left", "<": "left",
    "↑": "up", "▲": "up", "⬆": "up", "↓": "down", "▼": "down", "⬇": "down",
    "↗": "up right", "↖": "up left", "↘": "down right", "↙": "down left",
}  # fmt: skip
"""Characters that a reader returns for drawn arrows, and where they point."""

# Readers lose spaces: PLATFORM3 is two words, B12 is one.
_TOKEN = re.compile(r"[^\W\d_]{3,}(?=\d)|[^\W_]+")


def fold(text: str) -> str:
    """Return the text in lower case, without accents; ß becomes ss."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def tokens(text: str) -> list[str]:
    """Return the folded words and numbers of a text, in order."""
    return _TOKEN.findall(fold(text))


def token_spans(text: str) -> list[tuple[str, int, int]]:
    """Return the folded words and numbers with the part of the text (start, end) that each one comes from."""
    # Folding may change the length of a text (ß), so each token is folded on its own.
    return [(fold(match.group()), match.start(), match.end()) for match in _TOKEN.finditer(text)]


def has_digit(token: str) -> bool:
    """Return whether the word holds a digit, so that it must be matched to the letter."""
    return any(c.isdigit() for c in token)


def arrow_in(text: str) -> str | None:
    """Return where an arrow character at the beginning or the end of the text points; None without one."""
    stripped = text.strip()
    if not stripped:
        return None
    return ARROW_CHARACTERS.get(stripped[0]) or ARROW_CHARACTERS.get(stripped[-1])
