"""Tasks of an event loop, of which none is left behind and no error is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


async def together(work: Sequence[Coroutine[Any, Any, None]]) -> None:
    """Do all of it at the same time; when a part fails, or this is cancelled, the others are cancelled and awaited.

    Raises:
        Exception: what the first part that failed has raised.
    """
    tasks = [asyncio.create_task(part) for part in work]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        for ended in await asyncio.gather(*tasks, return_exceptions=True):
            # Also what fails on the way out: a result that could not be written.
            if isinstance(ended, BaseException) and not isinstance(ended, asyncio.CancelledError):
                raise ended


async def to_its_end(work: Coroutine[Any, Any, T]) -> T:
    """Do it, and be cancelled only when it is done."""
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await task
        raise
