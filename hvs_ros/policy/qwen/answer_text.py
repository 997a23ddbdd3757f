"""An answer while it is being said: bytes until a stop string."""

from __future__ import annotations

from collections.abc import Sequence

from hvs_ros.policy.qwen.tokenizer import QwenTokenizer


class AnswerText:
    """Collects tokens.

    Stop strings are looked for in the bytes, so that it does not matter how tokens cut them or a character.

    Args:
        tokenizer: of the checkpoint.
        stop: texts that end an answer and belong to it.
    """

    def __init__(self, tokenizer: QwenTokenizer, stop: Sequence[str]) -> None:
        self._tokenizer = tokenizer
        self._stop = [text.encode() for text in stop if text]
        self._longest = max(map(len, self._stop), default=0)
        self._bytes = b""
        self._end: int | None = None
        self.tokens: list[int] = []

    def add(self, token: int) -> bool:
        """Add a token and return whether a stop string is complete."""
        self.tokens.append(token)
        # A stop string that ends in the new bytes begins no earlier than this.
        start = max(0, len(self._bytes) - self._longest + 1)
        self._bytes += self._tokenizer.piece(token)
        ends = [place + len(stop) for stop in self._stop if (place := self._bytes.find(stop, start)) >= 0]
        self._end = min(ends, default=None)
        return self._end is not None

    @property
    def text(self) -> str:
        """What was said, up to and with the stop string; bytes that are no UTF-8 become U+FFFD."""
        return self._bytes[: self._end].decode("utf-8", errors="replace")

    @property
    def whole(self) -> bool:
        """The tokens say the text and nothing after it."""
        return self._end is None or self._end == len(self._bytes)
