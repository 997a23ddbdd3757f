"""Writes a report of each episode beside its bag, while the run goes on, and an index of all runs of the folder.

The bag does not know the answer; this is the place where what was recorded and what was asked for meet. Reports are
made in one thread of their own, so that a run does not wait for them, and one that cannot be written is no more than a
note.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path

from hvs_ros.benchmark.episodes import Episode
from hvs_ros.benchmark.recorded_runs import RecordedRun, found, report_path, runs_in
from hvs_ros.benchmark.result import EpisodeResult
from hvs_ros.recording.episode import EpisodeRecord, RecordedTurn
from hvs_ros.recording.errors import RecordingError
from hvs_ros.report import INDEX_NAME, REPORT_NAME, IndexEntry, IndexRun, write_report, write_runs
from hvs_ros.search.decision import Decision


class ReportWriter:
    """Writes reports.

    Args:
        folder: of the index; reports of episodes without a bag go into a folder in it.
        name: of this run, for that folder.
        policy: name of the policy.
    """

    def __init__(self, folder: Path, name: str, policy: str) -> None:
        self._folder = folder
        self._name = name
        self._policy = policy
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="report")
        self._jobs: list[Future[None]] = []
        self.problems: list[str] = []

    def path(self, result: EpisodeResult) -> Path:
        """Return where the report of an episode is."""
        return report_path(self._folder, self._name, result)

    def submit(self, episode: Episode, result: EpisodeResult, read: Callable[[], EpisodeRecord]) -> None:
        """Write the report of an episode soon.

        Args:
            episode: with its answer.
            result: of it.
            read: returns what was recorded; called in another thread, may wait, may raise RecordingError.
        """
        self._jobs.append(self._pool.submit(self._write, episode, result, read))

    def finish(self, limit_s: float) -> None:
        """Wait for the reports under way."""
        _, late = wait(self._jobs, limit_s)
        if late:
            self.problems.append(f"{len(late)} reports were not finished within {limit_s:g} s")
        self._pool.shutdown(wait=False, cancel_futures=True)

    def write_index(self, results: Sequence[EpisodeResult], title: str, summary: str) -> Path | None:
        """Write the index: this run's results that have a report, then the folder's earlier runs.

        Returns:
            where it is, or None when it cannot be written.
        """
        entries = _entries(self._folder, self._name, self._policy, results)
        ended = max((result.ended for result in results), default="")
        try:
            return write_folder_index(
                self._folder, [IndexRun(entries, _dated(title, ended), summary)], known=self._name
            )
        except OSError as error:
            self.problems.append(f"{self._folder / INDEX_NAME} cannot be written: {error.strerror or error}")
            return None

    def _write(self, episode: Episode, result: EpisodeResult, read: Callable[[], EpisodeRecord]) -> None:
        out = self.path(result)
        try:
            record = read()
            out.parent.mkdir(parents=True, exist_ok=True)
            write_report(
                record,
                out,
                panorama=episode.scene.panorama_path,
                target=episode.target,
                start=episode.start,
                level=episode.level,
                tilt=episode.scene.tilt,
            )
        except (RecordingError, OSError) as error:
            self.problems.append(f"no report of {result.episode_id}: {error}")


def write_folder_index(
    folder: Path, first: Sequence[IndexRun] = (), *, known: str = "", last: Sequence[IndexRun] = ()
) -> Path:
    """Write the index of all reports in a folder, and return where it is.

    Args:
        folder: that was recorded into.
        first: runs to begin with; the folder's own follow, newest first.
        known: name of a results file, without its ending, that is among the first already.
        last: what is shown below the runs.

    Raises:
        OSError: it cannot be written.
    """
    earlier, _ = runs_in(folder)
    runs = [*first, *(_index_run(folder, run) for run in earlier if run.path.stem != known), *last]
    runs = [run for run in runs if run.entries] or runs[:1]
    linked = {entry.report.absolute() for run in runs for entry in run.entries}
    others = [report for report in sorted(folder.glob(f"*/{REPORT_NAME}")) if report.absolute() not in linked]
    return write_runs(folder / INDEX_NAME, runs, others)


def _index_run(folder: Path, run: RecordedRun) -> IndexRun:
    entries = _entries(folder, run.path.stem, run.policy, run.results)
    return IndexRun(entries, _dated(run.title, run.ended), found(run.results))


def _dated(title: str, ended: str) -> str:
    return f"{ended[:16].replace('T', ' ')}: {title}" if ended else title


def _entries(folder: Path, name: str, policy: str, results: Sequence[EpisodeResult]) -> list[IndexEntry]:
    return [
        IndexEntry(
            record=record_of(result, policy),
            report=report_path(folder, name, result),
            episode_id=result.episode_id,
            target=result.target,
            level=result.level,
        )
        for result in results
        if report_path(folder, name, result).exists()
    ]


def record_of(result: EpisodeResult, policy: str) -> EpisodeRecord:
    """Return what a results line knows of an episode, without pictures, as a record."""
    turns = tuple(
        RecordedTurn(
            number=turn.number,
            view=None,
            view_stamp_ns=0,
            picture=turn.picture,
            direction=turn.direction,
            decision=Decision(turn.action, turn.thought, turn.raw, turn.status, turn.guess, turn.usage),
            move=turn.move,
            move_message="",
            after=turn.after,
            feedback="",
            times=turn.times,
        )
        for turn in result.record.turns
    )
    seconds = round(result.seconds * 1e9)
    return EpisodeRecord(
        search_id=result.episode_id,
        task=result.task,
        policy=policy,
        parameters={},
        outcome=result.record.outcome,
        message=result.record.message,
        submitted=result.record.submitted,
        guess=result.record.guess,
        looking=result.record.looking,
        turns=turns,
        scene=result.scene,
        started_ns=1,
        ended_ns=1 + seconds,
        path=result.record.bag,
    )
