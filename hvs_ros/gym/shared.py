"""What the environments of a process have in common, as long as one of them holds it."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Shared(Generic[K, V]):
    """Makes a thing once for all who ask for the same; it goes with the last one who holds it. From any thread.

    Args:
        make: makes it.
    """

    def __init__(self, make: Callable[[K], V]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._held: weakref.WeakValueDictionary[K, V] = weakref.WeakValueDictionary()

    def get(self, key: K) -> V:
        """Return it, or raise what ``make`` does."""
        with self._lock:
            found = self._held.get(key)
            if found is None:
                found = self._held[key] = self._make(key)
            return found
