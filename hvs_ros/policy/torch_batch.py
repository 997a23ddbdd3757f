"""Sequences of one model that are continued together, a token each at a time.

Reading the weights is what a token costs, and one reading serves all sequences. They are of different lengths, so they
end at the same place and begin where they have to: what stands before is masked. Sequences come and go between two
tokens; then what stands is copied once, before the next one.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hvs_ros.policy.torch_network import TorchNetwork
from hvs_ros.policy.torch_weights import Tensor, TorchWeights

ROOM = 256
"""Tokens for which there is room at once; when it is used up, what stands is copied."""


@dataclass(eq=False)
class Seat:
    """A sequence's place in a batch.

    Attributes:
        network: whose sequence it is.
        length: tokens of it so far.
        seen: ids that are in it, whose logits the penalty changes; bool, shape (vocabulary,), once it is in the batch.
        layers: keys and values, each (1, heads, length, width), while they are not in the batch yet.
    """

    network: TorchNetwork
    length: int
    seen: Any = field(repr=False)
    layers: list[tuple[Tensor, Tensor]] = field(default_factory=list, repr=False)


class TorchBatch:
    """A batch of sequences.

    Args:
        weights: of the model.
        penalty: of repetition (``GenerationDefaults``).
    """

    def __init__(self, weights: TorchWeights, penalty: float) -> None:
        self._weights, self._penalty = weights, penalty
        self._torch = weights.torch
        self._cache: Any = None
        self._standing: list[Seat] = []  # as the rows of the cache are
        self._seats: list[Seat] = []  # as they will be
        self._end = 0
        self._starts: Tensor = None
        self._seen: Tensor = None

    def join(self, network: TorchNetwork, seen: NDArray[np.int64]) -> Seat:
        """Take over a network's sequence. The network is not to be used until it leaves.

        Args:
            network: it.
            seen: ids that are in the sequence or are added next.
        """
        layers = network.lend()
        seat = Seat(network, layers[0][0].shape[-2], seen, layers)
        self._seats.append(seat)
        return seat

    def leave(self, seat: Seat, *, keep: bool = True) -> None:
        """Give a sequence back to its network.

        Args:
            seat: from ``join``.
            keep: with all of its tokens; else the network has none.
        """
        self._seats.remove(seat)
        if keep:
            seat.network.give_back(seat.layers or self._rows(seat))
        if not self._seats:
            self.clear()

    def step(self, tokens: Sequence[int], positions: Sequence[int], stopped: Callable[[], bool]) -> Tensor:
        """Add a token to each sequence and return the logits of what follows, float32, shape (sequences, vocabulary).

        Args:
            tokens: of the sequences in the order in which they joined.
            positions: of these tokens, alike in all three parts.
            stopped: raises Canceled between layers when it returns true.
        """
        torch, weights = self._torch, self._weights
        with torch.inference_mode():
            if self._seats != self._standing:
                self._settle()
            ids = torch.tensor(tokens, device=weights.device)[:, None]
            place = np.full((1, len(tokens)), self._end)
            places = np.concatenate([place, np.broadcast_to(np.asarray(positions), (3, len(tokens)))])
            mask = None
            if any(seat.length < self._end for seat in self._seats):
                mask = (torch.arange(self._end + 1, device=weights.device) >= self._starts[:, None]).long()
            at = torch.from_numpy(places)[..., None].to(weights.device)
            last = weights.read(weights.embed(ids), at, self._cache, stopped, mask)
            self._end += 1
            for seat in self._seats:
                seat.length += 1
            return weights.logits(last)

    def likeliest(self, logits: Tensor) -> list[int]:
        """Return the greedy choice for each sequence, which is the next token of it.

        It is that of ``Chooser``, made where the logits are: they stay there, and who waits for the device waits once.

        Args:
            logits: of ``step``, which are not needed afterwards.
        """
        torch = self._torch
        with torch.inference_mode():
            if self._penalty == 1.0:
                chosen: list[int] = logits.argmax(-1).tolist()
                return chosen
            if self._seen is None:
                self._note_seen(logits.shape[-1])
            # A tensor: dividing by a number may be done by multiplying, and then is rounded in another way.
            penalty = torch.tensor(self._penalty, dtype=logits.dtype, device=logits.device)
            less = torch.where(logits < 0, logits * penalty, logits / penalty)
            tokens = torch.where(self._seen, less, logits).argmax(-1)
            self._seen.scatter_(1, tokens[:, None], True)
            chosen = tokens.tolist()
            return chosen

    def clear(self) -> None:
        """Forget all sequences; their networks have none of their tokens."""
        self._seats, self._standing, self._end = [], [], 0
        self._cache = self._starts = self._seen = None

    def _rows(self, seat: Seat) -> list[tuple[Tensor, Tensor]]:
        """Return a sequence's part of the keys and values of each layer."""
        row = self._standing.index(seat)
        part = (slice(row, row + 1), slice(None), slice(self._end - seat.length, self._end))
        return [(layer.keys[part], layer.values[part]) for layer in self._cache.layers]

    def _note_seen(self, vocabulary: int) -> None:
        torch, device = self._torch, self._weights.device
        for seat in self._seats:
            if isinstance(seat.seen, np.ndarray):
                ids, seat.seen = torch.from_numpy(seat.seen), torch.zeros(vocabulary, dtype=torch.bool, device=device)
                seat.seen[ids.to(device)] = True
        self._seen = torch.stack([seat.seen for seat in self._seats])
        for row, seat in enumerate(self._seats):
            seat.seen = self._seen[row]

    def _settle(self) -> None:
        """Let the cache hold the sequences that are here now, layer by layer, so that little is there twice."""
        torch, seats = self._torch, self._seats
        old = {seat: seat.layers or self._rows(seat) for seat in seats}
        end = max(seat.length for seat in seats)
        cache = self._weights.new_cache()
        for place in range(len(old[seats[0]])):
            layer = _layer_class()()
            layer.fill([old[seat][place] for seat in seats], end)
            cache.layers.append(layer)
            for seat in seats:
                old[seat][place] = (None, None)
            if self._cache is not None:
                self._cache.layers[place] = None
        for seat in seats:
            seat.layers = []
        self._cache, self._standing, self._end, self._seen = cache, list(seats), end, None
        self._starts = torch.tensor([end - seat.length for seat in seats], device=self._weights.device)


@functools.cache
def _layer_class() -> Any:
    """Return a layer of transformers' cache that has room for tokens, instead of being copied for each."""
    dynamic: Any = importlib.import_module("transformers.cache_utils").DynamicLayer

    class RoomyLayer(dynamic):  # type: ignore[misc]  # of a package without types
        def fill(self, rows: Sequence[tuple[Tensor, Tensor]], end: int) -> None:
            """Hold sequences, each (1, heads, tokens, width), such that they end at the same place."""
            self.dtype, self.device, self.is_initialized = rows[0][0].dtype, rows[0][0].device, True
            self.rooms = tuple(self._spacious([row[part] for row in rows], end) for part in (0, 1))
            self.keys, self.values = (room[..., :end, :] for room in self.rooms)

        def update(self, keys: Tensor, values: Tensor, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
            end = self.keys.shape[-2]
            more = end + keys.shape[-2]
            if more > self.rooms[0].shape[-2]:
                self.rooms = tuple(self._spacious([held], more) for held in (self.keys, self.values))
            for room, new in zip(self.rooms, (keys, values), strict=True):
                room[..., end:more, :] = new
            self.keys, self.values = (room[..., :more, :] for room in self.rooms)
            return self.keys, self.values

        @staticmethod
        def _spacious(rows: Sequence[Tensor], end: int) -> Tensor:
            _, heads, _, width = rows[0].shape
            count = sum(len(row) for row in rows)
            # What is masked is multiplied by 0 all the same, so it has to be a number.
            room = rows[0].new_zeros((count, heads, end + ROOM, width))
            first = 0
            for row in rows:
                room[first : first + len(row), :, end - row.shape[-2] : end] = row
                first += len(row)
            return room

    return RoomyLayer
