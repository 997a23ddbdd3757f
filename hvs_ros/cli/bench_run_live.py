"""Draws how a benchmark goes on a terminal: a bar that moves, and above it what a person should know."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from hvs_ros.benchmark.bench_progress import Standing, Troubles, clock
from hvs_ros.benchmark.episodes import Episode
from hvs_ros.benchmark.progress import plain
from hvs_ros.benchmark.record import SearchRecord
from hvs_ros.benchmark.result import EpisodeResult
from hvs_ros.benchmark.run import Listener

BAR_WIDTH = 30


class BenchLive(Listener):
    """Draws the bar; a context manager.

    Args:
        console: a terminal.
        standing: counts.
    """

    def __init__(self, console: Console, standing: Standing) -> None:
        self._console = console
        self._standing = standing
        self._spinner = Spinner("dots")
        self._retries, self._failures = Troubles(), Troubles()
        self._live = Live(get_renderable=self._draw, console=console, refresh_per_second=4, transient=True)

    def __enter__(self) -> BenchLive:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def on_retry(self, episode: Episode, record: SearchRecord, attempt: int) -> None:
        """Say why it is run again."""
        self._print(self._retries.of(episode.episode_id, record, "it is run again"), "yellow")

    def on_result(self, result: EpisodeResult) -> None:
        """Count it."""
        self._standing.add(result)
        if not result.completed:
            self._print(self._failures.of(result.episode_id, result.record, "NOT COMPLETED"), "red")

    def on_note(self, text: str) -> None:
        """Say it."""
        self._print(plain(text), "yellow")

    def _print(self, text: str, style: str) -> None:
        if text:
            self._console.print(Text(f"{time.strftime('%H:%M:%S')} {text}", style=style))

    def _draw(self) -> RenderableType:
        standing = self._standing
        line = Table.grid(padding=(0, 1))
        line.add_row(
            self._spinner,
            ProgressBar(total=max(1, standing.total), completed=standing.done + standing.failed, width=BAR_WIDTH),
            f"{standing.done}/{standing.total}",
            Text(", ".join(standing.parts()), no_wrap=True, overflow="ellipsis"),
            clock(standing.elapsed_s),
        )
        return line
