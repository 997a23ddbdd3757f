"""What a search asks of a server: so many pictures in a request, and a context that holds them.

What a server must be started with, where it refuses that, is said here too: each has a flag of its own for it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from hvs_ros.policy.qwen.preprocess import PictureFormat, PictureSize, picture_size
from hvs_ros.policy.server_request import PICTURE_MARKS, Dialect

QWEN = PictureFormat(56 * 56, 28 * 28 * 16384, 14, 2, 2, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
"""Sizes as in Qwen2.5-VL's preprocessor_config.json; a server may have been told other limits."""
TEXT_TOKENS_A_TURN = 300
"""Instruction, format, feedback and answer, the system prompt's share included."""

_IMAGE_LIMIT = re.compile(r"at most (\d+) image|image.{0,40}(?:limit|too many|exceed)|too many image", re.IGNORECASE)
_NO_IMAGES = re.compile(r"image input is not supported|not a multimodal model|does not support image", re.IGNORECASE)
_TOO_LONG = re.compile(
    r"maximum (?:context|model) length|context (?:length|size|window)|max_model_len|too long|too large to process",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Needs:
    """Of the longest request.

    Attributes:
        views: pictures in it.
        view: the largest picture, (width, height) in pixels.
        max_tokens: of the answer.
    """

    views: int
    view: tuple[int, int]
    max_tokens: int

    @property
    def qwen_view(self) -> PictureSize:
        """What Qwen2.5-VL makes of the largest picture."""
        return picture_size(*self.view, QWEN)

    def tokens(self, view_tokens: int | None = None) -> int:
        """Return how many tokens the longest request and its answer take, about.

        Args:
            view_tokens: of the largest picture, where the server has counted them.
        """
        one = self.qwen_view.tokens + PICTURE_MARKS if view_tokens is None else view_tokens
        return self.views * (one + TEXT_TOKENS_A_TURN) + self.max_tokens

    def context_problem(self, context: int, dialect: Dialect, view_tokens: int | None = None) -> str:
        """Return what to do about a context that is too small; empty: it is not.

        Args:
            context: tokens that the server holds.
            dialect: whose server it is.
            view_tokens: as for ``tokens``.
        """
        tokens = self.tokens(view_tokens)
        if context >= tokens:
            return ""
        width, height = self.view
        one = self.qwen_view.tokens if view_tokens is None else view_tokens
        return (
            f"its context holds {context} tokens, but {self.views} views of {width}x{height} ({one} tokens each) and an"
            f" answer of {self.max_tokens} need about {tokens}: {self._context_flag(dialect, tokens)}, or set"
            " fewer views, or view_size if your views are smaller"
        )

    def advice(self, told: str, dialect: Dialect) -> str:
        """Return what to do about a request that was refused with those words; empty: they say nothing known."""
        if _NO_IMAGES.search(told):
            more = ", or start llama-server with --mmproj FILE" if dialect is Dialect.LLAMACPP else ""
            return f"it does not look at pictures: serve a vision-language model{more}"
        if _IMAGE_LIMIT.search(told):
            return f"a request holds up to {self.views} pictures: {self._image_flag(dialect)}, or set fewer views"
        if _TOO_LONG.search(told):
            return f"{self._context_flag(dialect, self.tokens())}, or set fewer views"
        return ""

    def _image_flag(self, dialect: Dialect) -> str:
        if dialect is Dialect.SGLANG:
            return f"start SGLang with --limit-mm-data-per-request '{{\"image\": {self.views}}}'"
        flag = f"--limit-mm-per-prompt '{{\"image\": {self.views}}}'"
        old = f" (old versions: --limit-mm-per-prompt image={self.views})"
        return f"start vLLM with {flag}{old}"

    @staticmethod
    def _context_flag(dialect: Dialect, tokens: int) -> str:
        room = 1 << (tokens - 1).bit_length()
        if dialect is Dialect.SGLANG:
            return f"start SGLang with --context-length {room}"
        if dialect is Dialect.LLAMACPP:
            return f"start llama-server with --ctx-size {room} for each of its slots (--parallel)"
        return f"start vLLM with --max-model-len {room}"
