"""The reports of a run: fed by the bags where there are bags, by the searches themselves in this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from hvs_ros.benchmark.episodes import Episode
from hvs_ros.benchmark.recorded_runs import found
from hvs_ros.benchmark.reports import ReportWriter
from hvs_ros.benchmark.result import EpisodeResult
from hvs_ros.benchmark.results_file import ResultsFile
from hvs_ros.benchmark.run import Listener
from hvs_ros.cli.sim_plan import Plan
from hvs_ros.recording import EpisodeRecord, from_search, read_episode
from hvs_ros.search.episode import SearchResult
from hvs_ros.search.scoring import ScoringMode

BAG_LIMIT_S = 20.0
MOST_PROBLEMS = 5


class Ended(Protocol):
    """What is known of a finished bag."""

    @property
    def state(self) -> str:
        """Complete, incomplete or failed."""

    @property
    def message(self) -> str:
        """Why it is not complete."""


class BagWaiter(Protocol):
    """Knows when a bag is finished (``nodes.benchmark_recordings.Recordings``)."""

    def end_of(self, bag: Path, limit_s: float) -> Ended | None:
        """Wait until it is; None when it is not within the limit."""


class Reports(Listener):
    """Writes a report of every episode that has ended.

    Args:
        folder: of the index.
        plan: of the run.
        results: the run's file.

    Attributes:
        recordings: the recorder's messages; None: searches are kept by ``keep``.
    """

    def __init__(self, folder: Path, plan: Plan, results: ResultsFile | None) -> None:
        self._episodes = {episode.episode_id: episode for episode in plan.episodes}
        self._plan = plan
        self._results = results
        self._kept: dict[str, EpisodeRecord] = {}
        name = "run" if results is None else results.path.stem
        self._writer = ReportWriter(folder, name, plan.settings.policy)
        self.recordings: BagWaiter | None = None

    def keep(self, episode: Episode, result: SearchResult) -> None:
        """Keep a search of this process, its pictures as JPEG, until its result is known."""
        self._kept[episode.episode_id] = from_search(
            result,
            episode.task,
            search_id=episode.episode_id,
            policy=self._plan.settings.policy,
            parameters=self._plan.settings.policy_settings,
            scene=episode.scene.name,
        )

    def on_result(self, result: EpisodeResult) -> None:
        """Have the report written."""
        kept = self._kept.pop(result.episode_id, None)
        bag = result.record.bag
        if kept is not None:
            self._writer.submit(self._episodes[result.episode_id], result, lambda: kept)
        elif bag is not None:
            self._writer.submit(self._episodes[result.episode_id], result, lambda: self._read(bag))

    def finish(self, limit_s: float) -> None:
        """Wait for the reports under way."""
        self._writer.finish(limit_s)

    def say_where(self, results: Sequence[EpisodeResult], mode: ScoringMode, say: Callable[[str], None]) -> None:
        """Write the index and say where things are, and what went wrong with them."""
        # A run that was continued in part has more in its file than was asked for now.
        every = results if self._results is None else list(self._results.results.values())
        index = self._writer.write_index(every, self._plan.title, found(every, mode))
        for problem in self._writer.problems[:MOST_PROBLEMS]:
            say(problem)
        if len(self._writer.problems) > MOST_PROBLEMS:
            say(f"... and {len(self._writer.problems) - MOST_PROBLEMS} more")
        if index is not None:
            say(f"reports: {index}")

    def _read(self, bag: Path) -> EpisodeRecord:
        end = None if self.recordings is None else self.recordings.end_of(bag, BAG_LIMIT_S)
        if end is not None and end.state != "complete":
            self._writer.problems.append(f"{bag}: {end.state}: {end.message}")
        return read_episode(bag)
