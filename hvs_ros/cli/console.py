"""Where tables are drawn."""

from __future__ import annotations

from rich.console import Console

LEAST_WIDTH = 110
"""Columns for a table in a log, where no terminal has a width."""


def make_console() -> Console:
    """Return a console that draws in place on a terminal, and is wide enough for a table elsewhere."""
    console = Console()
    return console if console.is_terminal else Console(width=max(console.width, LEAST_WIDTH), soft_wrap=False)


def draws_in_place(console: Console) -> bool:
    """Return whether a part of the screen can be drawn again and again.

    rich says itself what a terminal is: not a pipe, not a CI's log, and TERM=dumb is none.
    """
    return console.is_terminal and not console.is_dumb_terminal
