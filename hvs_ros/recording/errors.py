"""What can go wrong with recordings, as errors of their own."""

from __future__ import annotations


class RecordingError(Exception):
    """A bag cannot be written or read; the message names it, says what is wrong and what to do."""
