"""The runs of a recording folder, read back from their results files.

A bag does not hold the answer, and an index that knew only the run that wrote it would hide the earlier ones: both are
found again here, beside the bags.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hvs_ros.benchmark.result import EpisodeResult
from hvs_ros.benchmark.results_file import ResultsError, read_results
from hvs_ros.benchmark.summary import summarize
from hvs_ros.panorama.view import view_name
from hvs_ros.recording.naming import slug
from hvs_ros.report import REPORT_NAME
from hvs_ros.search.scoring import ScoringMode

RESULTS_PATTERN = "results_*.jsonl"
"""Names of the results files in a recording folder."""


@dataclass(frozen=True)
class RecordedRun:
    """One run.

    Attributes:
        path: its results file.
        settings: of the run, as in the file's first line.
        results: in the order in which they were written.
    """

    path: Path
    settings: Mapping[str, Any]
    results: tuple[EpisodeResult, ...]

    @property
    def policy(self) -> str:
        """Name of the policy."""
        return str(self.settings.get("policy", ""))

    @property
    def title(self) -> str:
        """What was run, in one line."""
        camera, view = self.settings.get("camera", {}), self.settings.get("view", {})
        how = "in process" if self.settings.get("run") == "in-process" else "through ROS 2"
        size = f"{camera.get('width')}x{camera.get('height')}, {camera.get('hfov_deg', 0):g}°"
        made = view_name(str(view.get("sampling")), view.get("supersample", 1))
        return f"Policy '{self.policy}', views {size} {made}, {how}"

    @property
    def ended(self) -> str:
        """When its last episode ended, sortable; empty where none did."""
        return max((result.ended for result in self.results), default="")


def read_run(path: Path) -> RecordedRun:
    """Read a results file, whole or still being written.

    Raises:
        ResultsError: it cannot be read or is no results file.
    """
    settings, results = read_results(path)
    return RecordedRun(path, settings, tuple(results.values()))


def runs_in(folder: Path) -> tuple[list[RecordedRun], list[str]]:
    """Return the runs whose results lie in a folder, newest first, and what could not be read."""
    runs: list[RecordedRun] = []
    problems: list[str] = []
    for path in sorted(folder.glob(RESULTS_PATTERN)):
        try:
            runs.append(read_run(path))
        except ResultsError as error:
            problems.append(str(error))
    return sorted(runs, key=lambda run: (run.ended, run.path.name), reverse=True), problems


def report_path(folder: Path, run: str, result: EpisodeResult) -> Path:
    """Return where the report of an episode is: in its bag, or in a folder of its run where there is none.

    Args:
        folder: that is recorded into.
        run: name of the results file without its ending.
        result: of the episode.
    """
    bag = result.record.bag
    return bag / REPORT_NAME if bag is not None else folder / f"{run}_reports" / f"{slug(result.episode_id, 80)}.html"


def found(results: Iterable[EpisodeResult], mode: ScoringMode = ScoringMode.PAPER) -> str:
    """Return how many searches succeeded, as a phrase."""
    total = summarize(list(results), mode).total
    if not total.scored:
        return f"{total.episodes} searches"
    return f"{total.success} of {total.scored} found, by the {mode.value} rule"
