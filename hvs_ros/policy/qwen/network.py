"""What the engine needs of a runtime: Qwen2.5-VL's network, with a cache of keys and values that grows and is cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hvs_ros.policy.engine import Description
from hvs_ros.policy.qwen.preprocess import Pixels

Features = Any
"""A picture as the decoder takes it, one row a token, in the runtime's own kind of array."""


@dataclass(frozen=True)
class SeenPiece:
    """Rows of a picture's features among tokens.

    Attributes:
        place: of its first token among those of the call.
        features: of the picture.
        first: the first row that is meant.
        count: how many rows.
    """

    place: int
    features: Features
    first: int
    count: int


class Network(Protocol):
    """Runs the network on one sequence.

    Each method looks at ``stopped`` now and then, and raises ``Canceled`` when it returns true. After that, or after
    any other error, the next call is ``cut``.

    Attributes:
        chunk: at most so many tokens are given to ``extend`` at once.
    """

    chunk: int

    def describe(self) -> Description:
        """Return the runtime, the device or provider and the precision."""
        ...

    def see(self, pixels: Pixels, stopped: Callable[[], bool]) -> Features:
        """Return what the vision tower makes of a picture."""
        ...

    def cut(self, length: int) -> None:
        """Forget all tokens but the first ones; 0 forgets everything. All of them have been in finished calls."""
        ...

    def extend(
        self,
        ids: NDArray[np.int64],
        positions: NDArray[np.int64],
        pieces: Sequence[SeenPiece],
        stopped: Callable[[], bool],
    ) -> None:
        """Add tokens to the sequence.

        Args:
            ids: shape (n,).
            positions: shape (3, n).
            pieces: what stands in place of the tokens' own embeddings.
            stopped: see above.
        """
        ...

    def logits(self) -> NDArray[np.float32]:
        """Return the logits of what follows the last token, float32, shape (vocabulary,)."""
        ...

    def close(self) -> None:
        """Release the memory. No other call is under way, and none follows but perhaps this one once more."""
        ...
