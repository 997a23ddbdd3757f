"""The results file: JSON lines, one an episode, that survives being cut off at any moment.

The first line holds the settings of the run. Each further line is written with a single write and synced, so that a
kill or a full disk can only leave a torn last line, which the next run drops. A line is never changed: an episode that
is run again, because the machinery failed, gets a new line, and the last one counts.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from hvs_ros.benchmark.episodes import Episode
from hvs_ros.benchmark.result import EpisodeResult, tilt_of
from hvs_ros.benchmark.result_json import from_json, to_json
from hvs_ros.benchmark.settings import FORMAT, RunSettings, differences

_HEADER_BEGINS = b'{"hvs_results":'
_KINDS = dict.fromkeys(("policy_settings", "camera", "view", "parameters", "versions", "facts", "notes"), dict)


class ResultsError(Exception):
    """A results file that cannot be used; the message names it, and what to do."""


class ResultsFile:
    """Appends results; made by ``create`` or ``resume``, closed by ``close`` or a ``with`` block.

    Attributes:
        path: the file.
        results: what it holds, by episode id; the last line of each.
        dropped: a torn last line was found and dropped.
    """

    def __init__(self, path: Path, descriptor: int, results: dict[str, EpisodeResult], dropped: bool = False) -> None:
        self.path = path
        self.results = results
        self.dropped = dropped
        self._descriptor: int | None = descriptor

    @classmethod
    def create(cls, path: Path, settings: RunSettings) -> ResultsFile:
        """Begin a new file.

        Raises:
            ResultsError: there is one already, or it cannot be written.
        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = "is not a folder" if isinstance(error, FileExistsError) else error.strerror or error
            raise ResultsError(f"{path} cannot be written: {path.parent} {reason}") from error
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        except FileExistsError as error:
            raise ResultsError(f"{path} is there already: continue it with --resume, or name another file") from error
        except OSError as error:
            raise ResultsError(f"{path} cannot be written: {error.strerror or error}") from error
        results = cls(path, descriptor, {})
        try:
            _lock(descriptor, path)
            results._write_header(settings)
        except ResultsError:
            results.close()
            path.unlink(missing_ok=True)
            raise
        return results

    @classmethod
    def resume(cls, path: Path, settings: RunSettings) -> ResultsFile:
        """Continue a file that was made with the same settings.

        Raises:
            ResultsError: it cannot be read or written, is no results file, another run writes it, or it was made
                with other settings; the message names the difference.
        """
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_APPEND)
        except OSError as error:
            raise ResultsError(f"{path} cannot be continued: {error.strerror or error}") from error
        try:
            _lock(descriptor, path)
            text = path.read_bytes()
            whole = text[: text.rfind(b"\n") + 1]
            file = cls(path, descriptor, {}, dropped=len(whole) < len(text))
            if _cut_off_in_header(text):
                os.ftruncate(descriptor, 0)
                file._write_header(settings)
                return file
            made_with, file.results = _parse(path, whole)
            refuse_others(path, made_with, settings.to_json())
            if file.dropped:
                os.ftruncate(descriptor, len(whole))
        except BaseException:
            os.close(descriptor)
            raise
        return file

    def check(self, episodes: list[Episode]) -> None:
        """Refuse to mix results of tasks that only share their names, which hold the start.

        Those that did not complete are passed over: they are run again, and perhaps a broken picture was the reason.

        Raises:
            ResultsError: a completed episode's task, answer, level or picture is not what it was.
        """
        for episode in episodes:
            earlier = self.results.get(episode.episode_id)
            changed = [] if earlier is None or not earlier.completed else _changes(earlier, episode)
            if changed:
                raise ResultsError(
                    f"{self.path} cannot be continued: episode {episode.episode_id} has changed "
                    f"({'; '.join(changed)}); begin a new file with --results"
                )

    def check_known(self, episode_ids: Collection[str]) -> None:
        """Refuse to continue with a data set that lacks episodes which were completed: the figures would hold both.

        Args:
            episode_ids: all that the data set has.

        Raises:
            ResultsError: completed episodes are not among them.
        """
        unknown = [name for name, result in self.results.items() if result.completed and name not in episode_ids]
        if unknown:
            more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
            raise ResultsError(
                f"{self.path} cannot be continued: the data set has no episode {unknown[0]}{more}, which it holds; "
                "name the same data set, or begin a new file with --results"
            )

    def append(self, result: EpisodeResult) -> EpisodeResult:
        """Add a result, on disk when this returns, and return it as whoever reads the file finds it: rounded.

        Raises:
            ResultsError: it cannot be written.
        """
        line = to_json(result, self.path.parent)
        self._write(line)
        self.results[result.episode_id] = held = from_json(line, self.path.parent)
        return held

    def close(self) -> None:
        """Close the file; without effect the second time."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def __enter__(self) -> ResultsFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _write_header(self, settings: RunSettings) -> None:
        self._write({"hvs_results": FORMAT, "settings": settings.to_json()})

    def _write(self, values: Mapping[str, Any]) -> None:
        if self._descriptor is None:
            raise ResultsError(f"{self.path} is closed")
        # A message may hold what is no text, such as half of a surrogate pair.
        line = json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode(errors="replace") + b"\n"
        before = os.fstat(self._descriptor).st_size
        try:
            written = os.write(self._descriptor, line)
            if written < len(line):
                raise OSError(28, "no space left on the device")
            os.fsync(self._descriptor)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, before)
            raise ResultsError(f"{self.path} cannot be written: {error.strerror or error}") from error


def read_results(path: Path) -> tuple[dict[str, Any], dict[str, EpisodeResult]]:
    """Return the settings and the results of a file, by episode id; a torn last line is passed over.

    Raises:
        ResultsError: it cannot be read or is no results file.
    """
    try:
        text = path.read_bytes()
    except OSError as error:
        raise ResultsError(f"{path} cannot be read: {error.strerror or error}") from error
    return _parse(path, text[: text.rfind(b"\n") + 1])


def read_settings(path: Path) -> dict[str, Any] | None:
    """Return the settings of a file, without reading its results; None: it was cut off before they were written.

    Raises:
        ResultsError: it cannot be read or is no results file.
    """
    try:
        with path.open("rb") as file:
            line = file.readline()
    except OSError as error:
        raise ResultsError(f"{path} cannot be read: {error.strerror or error}") from error
    return None if _cut_off_in_header(line) else _header(path, line)


def refuse_others(path: Path, made_with: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Refuse to continue a file with settings that could change a result.

    Args:
        path: the file.
        made_with: its settings.
        settings: those of the run, as JSON values.

    Raises:
        ResultsError: naming what differs.
    """
    found = differences(made_with, settings)
    if found:
        raise ResultsError(
            f"{path} was made with other settings and cannot be continued ({'; '.join(found)}); "
            "use the same settings, or begin a new file with --results"
        )


def _lock(descriptor: int, path: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise ResultsError(f"{path}: another run is writing this file; wait for it, or name another one") from error
    except OSError:
        # Some network file systems have no locks; two runs on one file are then the user's to avoid.
        return


def _parse(path: Path, text: bytes) -> tuple[dict[str, Any], dict[str, EpisodeResult]]:
    lines = text.split(b"\n")[:-1]
    settings = _header(path, lines[0] if lines else b"")
    results: dict[str, EpisodeResult] = {}
    for number, line in enumerate(lines[1:], start=2):
        try:
            result = from_json(json.loads(line), path.parent)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ResultsError(f"{path}: line {number} is not a result ({error!r}); remove it to continue") from error
        results[result.episode_id] = result
    return settings, results


def _cut_off_in_header(text: bytes) -> bool:
    """Return whether it is what a kill leaves before the first line is written: nothing, or the beginning of it."""
    return b"\n" not in text and _HEADER_BEGINS.startswith(text[: len(_HEADER_BEGINS)])


def _header(path: Path, line: bytes) -> dict[str, Any]:
    try:
        header = json.loads(line)
        found, settings = header["hvs_results"], dict(header["settings"])
    except (ValueError, KeyError, TypeError) as error:
        raise ResultsError(f"{path} is not a results file: its first line holds no settings of a run") from error
    if type(found) is not int or found != FORMAT:
        raise ResultsError(f"{path} has results of format {found}, this version writes {FORMAT}; begin a new file")
    for name, kind in {**_KINDS, "deviations": list}.items():
        if not isinstance(settings.get(name, kind()), kind):
            raise ResultsError(f"{path} is not a results file: in its first line '{name}' is {settings[name]!r:.60}")
    return settings


def _changes(earlier: EpisodeResult, episode: Episode) -> list[str]:
    panorama = episode.scene.panorama_path
    pairs = {
        "instruction": (earlier.instruction, episode.task.instruction),
        "kind": (earlier.kind.value, episode.task.kind.value),
        "target": (earlier.target, episode.target),
        "level": (earlier.level, episode.level),
        "tilt of the camera": (earlier.tilt, tilt_of(episode)),
        "picture": (earlier.panorama, (panorama.name, panorama.stat().st_size)),
    }
    return [f"{name}: was {was}, is {now} now" for name, (was, now) in pairs.items() if was != now]
