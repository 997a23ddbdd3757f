"""Runs many episodes at the same time, in this process: an event loop, a crew of searchers, threads that draw views."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from hvs_ros.benchmark.episodes import Episode
from hvs_ros.benchmark.results_file import ResultsFile
from hvs_ros.benchmark.run import Listener, Patience, RunReport
from hvs_ros.benchmark.viewing import Viewing
from hvs_ros.policy.crew import Crew

OpenResults = Callable[[Mapping[str, str]], ResultsFile]
"""Opens the results file, given what the crew tells of itself (``Crew.describe``) once it is open."""


@dataclass(frozen=True)
class EngineSettings:
    """How a run uses the machine; none of it changes a result.

    Attributes:
        in_flight: searches at the same time, at most as many as the crew has searchers.
        memory_mb: for decoded panoramas.
        threads: that draw views, and as many that decode panoramas; 0: one a core.
    """

    in_flight: int
    memory_mb: int = 4096
    threads: int = 0


class BenchEngine:
    """One run over a list of episodes.

    Args:
        episodes: what is run; grouped by scene for it, whatever their order.
        crew: decides; opened when the run begins and closed when it ends.
        viewing: makes the views.
        results: where results are kept, or what opens it once the crew is open; whoever opens it closes it. Episodes
            that are completed there are not run again. None: nowhere.
        listener: is told, in the thread of ``run``.
        settings: how much at once.
        patience: with the machinery.
    """

    def __init__(
        self,
        episodes: Sequence[Episode],
        crew: Crew,
        viewing: Viewing,
        results: ResultsFile | OpenResults | None,
        listener: Listener,
        settings: EngineSettings,
        patience: Patience | None = None,
    ) -> None:
        self._episodes = list(episodes)

    def run(self) -> RunReport:
        """Run what is not completed yet, and return how it went.

        Raises:
            PolicyError: the crew cannot be opened.
            ResultsError: a result cannot be kept, or the file belongs to other episodes.
        """
        raise NotImplementedError

    def stop(self) -> None:
        """End the run and the searches under way; nothing half-done is written. From any thread."""
        raise NotImplementedError
