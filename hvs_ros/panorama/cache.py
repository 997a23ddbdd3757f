"""Decoded panoramas under a memory budget.

Decoding takes a tenth of a second or more, and an 8k picture holds 90 MB, so a benchmark that returns to a scene
wants it kept and a robot's computer cannot keep them all. A file is known by path, time of change and size, so that
one that was replaced is decoded again. The tilt is no part of the pixels: whoever opens the same file with another one
shares them.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import replace
from pathlib import Path

from hvs_ros.panorama.geometry import Tilt
from hvs_ros.panorama.picture import Panorama, PictureError, open_panorama

DEFAULT_BUDGET_BYTES = 1024**3

_Key = tuple[Path, int, int]


class PanoramaCache:
    """Panoramas by file, least recently used out first, for any number of threads.

    Two threads that ask for the same file decode it once; other files are not held up meanwhile. A panorama larger
    than the budget is handed out but not kept.
    """

    def __init__(self, budget_bytes: int = DEFAULT_BUDGET_BYTES) -> None:
        if budget_bytes < 0:
            raise ValueError(f"budget_bytes is {budget_bytes}: give 0 (keep nothing) or more")
        self._budget = budget_bytes
        self._lock = threading.Lock()
        self._held: OrderedDict[_Key, Panorama] = OrderedDict()
        self._opening: dict[_Key, threading.Lock] = {}

    @property
    def nbytes(self) -> int:
        """Memory held."""
        with self._lock:
            return sum(panorama.nbytes for panorama in self._held.values())

    def __len__(self) -> int:
        return len(self._held)

    def get(self, path: str | Path, *, roll_deg: float = 0.0, pitch_deg: float = 0.0) -> Panorama:
        """Return the panorama of a file, as ``open_panorama`` does.

        Raises:
            PictureError: see ``open_panorama``; nothing about the failure is kept.
        """
        path = Path(path).absolute()
        try:
            status = path.stat()
        except OSError as error:
            raise PictureError(path, f"cannot be read: {error.strerror or error}") from error
        key = (path, status.st_mtime_ns, status.st_size)
        tilt = Tilt(roll_deg, pitch_deg)
        with self._lock:
            opening = self._opening.setdefault(key, threading.Lock())
        try:
            with opening:
                panorama = self._find(key)
                if panorama is None:
                    panorama = open_panorama(path)
                    self._keep(key, panorama)
        finally:
            with self._lock:
                self._opening.pop(key, None)
        return replace(panorama, offset=tilt) if tilt else panorama

    def clear(self) -> None:
        """Forget every panorama."""
        with self._lock:
            self._held.clear()

    def _find(self, key: _Key) -> Panorama | None:
        with self._lock:
            panorama = self._held.get(key)
            if panorama is not None:
                self._held.move_to_end(key)
            return panorama

    def _keep(self, key: _Key, panorama: Panorama) -> None:
        if panorama.nbytes > self._budget:
            return
        with self._lock:
            for stale in [held for held in self._held if held[0] == key[0]]:
                del self._held[stale]
            self._held[key] = panorama
            while sum(held.nbytes for held in self._held.values()) > self._budget:
                self._held.popitem(last=False)
