"""What a worker of a run on several machines does: searches with an engine of its own, and tells of everything.

Nothing here imports ray: a worker is an ordinary object whose methods are called from several threads. ``tidings`` and
``finish`` wait, with a limit; the others return at once.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hvs_ros.benchmark.engine import EngineSettings
from hvs_ros.benchmark.episodes import Episode
from hvs_ros.benchmark.fed_engine import FedEngine
from hvs_ros.benchmark.record import SearchRecord, TurnRecord
from hvs_ros.benchmark.result import EpisodeResult
from hvs_ros.benchmark.run import Listener, Patience
from hvs_ros.benchmark.settings import installed_versions
from hvs_ros.benchmark.tidings import Began, Box, Ended, Noted, Ready, Retried, Tiding, Turned, Unfit
from hvs_ros.benchmark.viewing import Viewing
from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError
from hvs_ros.policy.crews import make_crew

CODE = "code of hvs_ros"
"""The name of its hash."""


@dataclass(frozen=True)
class Job:
    """What every worker is told before its first episode.

    Attributes:
        policy: name of the policy.
        policy_settings: of it. They travel to the workers; keys do not belong there (HVS_API_KEY is each machine's).
        crew_size: searches at the same time that a worker's crew is made for; None: the crew's own number.
        viewing: how views are made.
        engine: of each worker; ``in_flight`` and ``memory_mb`` are per worker.
        patience: with the machinery.
        pictures: panoramas that will be looked at, absolute, with their sizes in bytes here: the same on every machine.
        folder: that relative names in the settings are meant from, where a machine has it.
    """

    policy: str
    policy_settings: Mapping[str, Any]
    crew_size: int | None
    viewing: Viewing
    engine: EngineSettings
    patience: Patience
    pictures: tuple[tuple[Path, int], ...] = ()
    folder: Path | None = None


def pictures_of(episodes: Sequence[Episode]) -> tuple[tuple[Path, int], ...]:
    """Return the panoramas of the episodes as in ``Job.pictures``."""
    paths = dict.fromkeys(episode.scene.panorama_path.absolute() for episode in episodes)
    return tuple((path, path.stat().st_size) for path in paths if path.exists())


def software(policy: str) -> dict[str, str]:
    """Return what must be the same on every machine of a run: versions, and the code of hvs_ros as a hash."""
    return {**installed_versions(policy), CODE: _code()}


@cache
def _code() -> str:
    folder = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


class Worker:
    """Searches on one machine."""

    def __init__(self) -> None:
        self._box = Box()
        self._engine: FedEngine | None = None
        self._thread: threading.Thread | None = None

    def about(self, policy: str) -> tuple[str, dict[str, str]]:
        """Return the machine's name and its ``software``: only what every version of hvs_ros can read."""
        return socket.gethostname(), software(policy)

    def start(self, job: Job) -> None:
        """Make the policy and be ready for episodes; how that went is among the tidings."""
        self._thread = threading.Thread(target=self._work, args=(job,), name="engine", daemon=True)
        self._thread.start()

    def give(self, episodes: Sequence[Episode]) -> None:
        """Search these too; only after Ready."""
        if self._engine is not None:
            self._engine.give(episodes)

    def tidings(self, heard: int, limit_s: float) -> list[Tiding]:
        """Return what has happened since so many tidings were heard; waits for it."""
        return self._box.after(heard, limit_s)

    def stop(self) -> None:
        """End the searches under way; nothing is told of them."""
        if self._engine is not None:
            self._engine.stop()

    def finish(self, limit_s: float) -> None:
        """Close the policy; waits for that."""
        if self._engine is not None and self._thread is not None:
            self._engine.give(None)
            self._thread.join(limit_s)

    def _work(self, job: Job) -> None:
        try:
            unfit = self._search(job)
        except PolicyError as error:
            unfit = Unfit(str(error), everywhere=not isinstance(error, PolicyUnavailableError))
        except Exception as error:  # a bug, or a machine that is not as it should be: said, and others go on
            unfit = Unfit(f"the worker failed: {error!r}")
        if unfit is not None:
            self._box.put(unfit)

    def _search(self, job: Job) -> Unfit | None:
        if missing := _missing(job.pictures):
            return Unfit(missing)
        _enter(job.folder)
        crew = make_crew(job.policy, job.policy_settings, job.crew_size)
        self._engine = FedEngine(
            crew,
            job.viewing,
            _Teller(self._box),
            job.engine,
            job.patience,
            on_open=lambda facts, room: self._box.put(Ready(dict(facts), room)),
        )
        report = self._engine.run()
        return Unfit(report.gave_up) if report.gave_up else None


class _Teller(Listener):
    def __init__(self, box: Box) -> None:
        self._box = box

    def on_episode(self, number: int, total: int, episode: Episode) -> None:
        """Tell which; its number is the driver's to know."""
        self._box.put(Began(episode.episode_id))

    def on_turn(self, turn: TurnRecord) -> None:
        """Tell."""
        self._box.put(Turned(turn))

    def on_retry(self, episode: Episode, record: SearchRecord, attempt: int) -> None:
        """Tell."""
        self._box.put(Retried(episode.episode_id, record, attempt))

    def on_result(self, result: EpisodeResult) -> None:
        """Tell."""
        self._box.put(Ended(result))

    def on_note(self, text: str) -> None:
        """Tell."""
        self._box.put(Noted(text))


def _missing(pictures: Sequence[tuple[Path, int]]) -> str:
    """Return what is wrong with the data set as this machine sees it; empty: nothing."""
    for path, size in pictures:
        try:
            found = path.stat().st_size
        except OSError as error:
            reason = error.strerror or error
            return f"{path}: {reason}; the data set must have the same path on every machine"
        if found != size:
            return f"{path} is another picture there: {found} bytes instead of {size}"
    return ""


def _enter(folder: Path | None) -> None:
    """Let relative names, of modules too, mean what they mean where the run was started."""
    if folder is None:
        return
    with contextlib.suppress(OSError):
        os.chdir(folder)
        if str(folder) not in sys.path:
            sys.path.append(str(folder))
