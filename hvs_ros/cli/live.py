"""Shows how a run goes on a terminal: finished episodes scroll by, the present one is redrawn in place."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from hvs_ros.benchmark.episodes import Episode
from hvs_ros.benchmark.progress import Tally, plain, result_line, turn_line
from hvs_ros.benchmark.record import SearchRecord, TurnRecord
from hvs_ros.benchmark.result import EpisodeResult
from hvs_ros.benchmark.run import Listener
from hvs_ros.search.scoring import ScoringMode


class LiveProgress(Listener):
    """Draws the present episode; a context manager.

    Args:
        console: a terminal.
        mode: the rule that counts.
    """

    def __init__(self, console: Console, mode: ScoringMode = ScoringMode.PAPER) -> None:
        self._console = console
        self._mode = mode
        self._tally = Tally(mode)
        self._began = time.monotonic()
        self._number, self._total = 0, 1
        self._episode: Episode | None = None
        self._turn: TurnRecord | None = None
        self._note = "starting"
        self._spinner = Spinner("dots")
        self._live = Live(get_renderable=self._draw, console=console, refresh_per_second=8, transient=True)

    def __enter__(self) -> LiveProgress:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def on_episode(self, number: int, total: int, episode: Episode) -> None:
        """Show which episode runs."""
        self._number, self._total, self._episode = number, total, episode
        self._turn, self._note = None, "looking"

    def on_turn(self, turn: TurnRecord) -> None:
        """Show what the policy said."""
        self._turn = turn

    def on_retry(self, episode: Episode, record: SearchRecord, attempt: int) -> None:
        """Show why it runs again."""
        self.on_note(f"{episode.episode_id}, attempt {attempt}: {record.outcome.value}: {record.message}; once more")

    def on_result(self, result: EpisodeResult) -> None:
        """Print a line above the moving part."""
        self._tally.add(result)
        success = result.success(self._mode)
        mark, style = {True: ("✓", "green"), False: ("✗", "red"), None: ("•", "yellow")}[success]
        line = Text(f"{mark} ", style=style)
        line.append(result.episode_id, style="bold")
        line.append(plain(f"  {result.instruction}\n    "), style="default")
        line.append(result_line(result, self._mode), style="dim")
        self._console.print(line)

    def on_note(self, text: str) -> None:
        """Print a line above the moving part."""
        self._note = plain(text)
        self._console.print(Text(self._note, style="yellow"))

    def _draw(self) -> RenderableType:
        head = Table.grid(padding=(0, 1))
        seconds = int(time.monotonic() - self._began)
        done = max(0, self._number - 1)
        head.add_row(
            self._spinner,
            f"episode {self._number}/{self._total}",
            ProgressBar(total=self._total, completed=done, width=30),
            str(self._tally),
            f"{seconds // 60}:{seconds % 60:02d}",
        )
        lines: list[RenderableType] = [head]
        if self._episode is not None:
            lines.append(Text(plain(f"  {self._episode.episode_id}: {self._episode.task.instruction}"), no_wrap=True))
        status = turn_line(self._turn) if self._turn is not None else self._note
        lines.append(Text(f"  {status}", style="dim", no_wrap=True, overflow="ellipsis"))
        return Group(*lines)
