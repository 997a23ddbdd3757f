"""An event loop in a thread of its own, and a wait for what it does that ends as soon as somebody cancels it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from hvs_ros.policy.engine import Canceled

POLL_S = 0.02
"""How often a wait looks for a cancellation."""
CLOSE_LIMIT_S = 2.0

T = TypeVar("T")


class EventLoopThread:
    """An event loop in a daemon thread, which does not keep the process alive.

    Args:
        name: of the thread.
    """

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T], canceled: threading.Event | None = None) -> T:
        """Do it and return what it returns; from any other thread.

        Args:
            work: it is canceled as soon as nobody waits for it any more.
            canceled: set when that is so.

        Raises:
            Canceled: ``canceled`` was set, or the loop was closed.
            Exception: whatever it raises.
        """
        if self._closed:
            work.close()
            raise Canceled("closed")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        while not future.done():
            with contextlib.suppress(concurrent.futures.TimeoutError, concurrent.futures.CancelledError):
                future.exception(POLL_S)
            if canceled is not None and canceled.is_set():
                future.cancel()
                raise Canceled("canceled")
        try:
            return future.result()
        except concurrent.futures.CancelledError:
            raise Canceled("closed") from None

    def close(self, last: Coroutine[Any, Any, None]) -> None:
        """Cancel everything, do a last thing, and end the loop."""
        if self._closed:
            last.close()
            return
        self._closed = True
        with contextlib.suppress(concurrent.futures.TimeoutError, RuntimeError):
            asyncio.run_coroutine_threadsafe(self._ended(last), self._loop).result(CLOSE_LIMIT_S)
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(CLOSE_LIMIT_S)

    async def _ended(self, last: Coroutine[Any, Any, None]) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await last

    def _run(self) -> None:
        self._loop.run_forever()
        self._loop.close()
