"""Tables that are drawn in another form where there is no room for them: what does not fit is cut off, unseen."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table

_ANY_WIDTH = 1000


@dataclass(frozen=True)
class Fitting:
    """A table in two forms.

    Attributes:
        wide: drawn where all of it fits.
        narrow: drawn otherwise.
    """

    wide: Table
    narrow: Table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the form that fits."""
        needed = Measurement.get(console, options.update(width=_ANY_WIDTH), self.wide).maximum
        yield self.wide if needed <= options.max_width else self.narrow
