"""A run in a thread of its own, so that the main thread is free for what only it gets: signals.

The first Ctrl-C cancels the searches under way, and everything ends in order: bags are closed, the table of what was
done is printed. The second one ends at once.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Protocol

from hvs_ros.benchmark.run import RunReport


class Run(Protocol):
    """A run over many episodes."""

    def run(self) -> RunReport:
        """Do it."""
        ...

    def stop(self) -> None:
        """End it soon; from any thread."""
        ...


def supervised(run: Run, say: Callable[[str], None]) -> RunReport:
    """Run in a thread; stop in good order at the first signal.

    Args:
        run: is called once.
        say: is told that it stops.

    Raises:
        KeyboardInterrupt: at the second signal.
        Exception: whatever the run raises.
    """
    outcome: list[RunReport | BaseException] = []

    def work() -> None:
        try:
            outcome.append(run.run())
        except BaseException as error:  # the main thread raises it
            outcome.append(error)

    worker = threading.Thread(target=work, name="benchmark", daemon=True)
    with _counted_signals() as count:
        worker.start()
        told = False
        while worker.is_alive():
            worker.join(0.1)
            if count() and not told:
                told = True
                say("stopping: what is under way is canceled (Ctrl-C once more ends at once)")
                run.stop()
            if count() > 1:
                raise KeyboardInterrupt
    ended = outcome[0]
    if isinstance(ended, BaseException):
        raise ended
    return ended


@contextlib.contextmanager
def _counted_signals() -> Iterator[Callable[[], int]]:
    """Count SIGINT and SIGTERM instead of acting on them; the handler does nothing that could need a lock."""
    seen: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        seen.append(number)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: len(seen)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
