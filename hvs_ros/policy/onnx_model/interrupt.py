"""Ends a run of ONNX Runtime that nobody waits for any more.

A run of a large graph takes seconds and looks at nothing but its options, which another thread may change: it then
ends between two of its nodes. One thread does that for all runs of a model.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

from hvs_ros.policy.engine import Canceled

PERIOD = 0.02
"""Seconds between two looks."""


class Interrupter:
    """Watches over one run at a time.

    Args:
        runtime: the module onnxruntime.
    """

    def __init__(self, runtime: Any) -> None:
        self._runtime = runtime
        self._changed = threading.Condition()
        self._run: tuple[Any, Callable[[], bool]] | None = None
        self._closed = False
        self._thread = threading.Thread(target=self._watch, name="onnx_interrupter", daemon=True)
        self._thread.start()

    @contextlib.contextmanager
    def watching(self, stopped: Callable[[], bool]) -> Iterator[Any]:
        """Hand out the options of a run, which ends early when ``stopped`` returns true.

        Raises:
            Canceled: it did.
        """
        options = self._runtime.RunOptions()
        with self._changed:
            self._run = (options, stopped)
            self._changed.notify()
        try:
            yield options
        except Exception as error:
            if options.terminate:
                raise Canceled("canceled while the model was answering") from error
            raise
        finally:
            with self._changed:
                self._run = None
        if stopped():
            raise Canceled("canceled while the model was answering")

    def close(self) -> None:
        """End the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _watch(self) -> None:
        with self._changed:
            while not self._closed:
                if self._run is None:
                    self._changed.wait()
                    continue
                options, stopped = self._run
                if stopped():
                    options.terminate = True
                self._changed.wait(PERIOD)
