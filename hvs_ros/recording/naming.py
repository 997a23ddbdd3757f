"""Names of bag folders: sortable by time, readable, safe on every file system."""

from __future__ import annotations

import re
import time
import unicodedata

SLUG_LENGTH = 40
ID_LENGTH = 32


def slug(text: str, length: int = SLUG_LENGTH) -> str:
    """Return the text in lower-case ASCII letters and digits, words joined by hyphens; cut at a word where possible."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    words = re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")
    if len(words) <= length:
        return words
    cut = words[: length + 1]
    return (cut.rsplit("-", 1)[0] if "-" in cut else words[:length]).strip("-")


def bag_name(instruction: str, search_id: str, started_ns: int) -> str:
    """Return ``YYYYmmdd_HHMMSS_task_id`` in local time.

    Args:
        instruction: the task in words.
        search_id: of the search.
        started_ns: when the search started; 0 (or a clock that has not begun): now.
    """
    seconds = started_ns / 1e9
    # A simulated clock begins at zero: its times say nothing to a person.
    stamp = time.strftime("%Y%m%d_%H%M%S", time.localtime(seconds if seconds > 1e9 else time.time()))
    parts = [stamp, slug(instruction) or "search", slug(search_id.replace("_", "-"), ID_LENGTH)]
    return "_".join(part for part in parts if part)
