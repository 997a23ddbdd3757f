"""How a verb ends when it cannot do what it was asked for: with one line and an exit code."""

from __future__ import annotations

FAILED = 1
BAD_INPUT = 2


class VerbError(Exception):
    """Why a verb cannot do what it was asked for. Printed as one line without a traceback.

    Attributes:
        code: exit code of the process.
    """

    def __init__(self, message: str, code: int = FAILED) -> None:
        super().__init__(" ".join(message.split()))
        self.code = code
