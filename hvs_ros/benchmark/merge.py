"""Joins the results of shards, or of machines, into one results file.

The file depends on what was found, not on how it was told: the same bytes whatever the order in which the parts are
named and however the episodes were spread over them. So episodes are sorted by id, keys of the settings by name, and
where two parts hold the same episode the choice does not depend on which was named first.

An episode that did not complete yields to one that did. Two that completed must agree in all that was seen, said and
done; only durations may differ. If they do not, a setting that is not in the files has changed a result, or the policy
does not decide alike twice: which of the two counts is nobody's to choose, so they are refused.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hvs_ros.benchmark.natural_order import natural_order
from hvs_ros.benchmark.result import EpisodeResult
from hvs_ros.benchmark.result_json import to_json
from hvs_ros.benchmark.results_file import ResultsError, read_results
from hvs_ros.benchmark.settings import FORMAT, NOTES, differences

_MOST_NAMED = 3
_DURATIONS = ("seconds", "ended", "attempts", "bag")
_TURN_DURATIONS = ("look_s", "think_s", "move_s", "picture")


@dataclass(frozen=True)
class Merged:
    """What became of the parts.

    Attributes:
        path: the new file.
        episodes: how many it holds.
        incomplete: how many of them did not complete.
        shared: how many were in several parts.
    """

    path: Path
    episodes: int
    incomplete: int
    shared: int


def merge(files: Sequence[Path], out: Path) -> Merged:
    """Join results files into a new one.

    Args:
        files: the parts; they stay as they are.
        out: the new file; must not exist.

    Raises:
        ResultsError: a part cannot be read, they were made with different settings or disagree about an episode, or the
            new file cannot be written.
    """
    parts = [(file, *read_results(file)) for file in _distinct(files)]
    settings = _common_settings([(file, settings) for file, settings, _ in parts])
    found: dict[str, list[tuple[Path, EpisodeResult]]] = {}
    for file, _, results in parts:
        for name, result in results.items():
            found.setdefault(name, []).append((file, result))
    clashes = [clash for name in sorted(found) for clash in _clash(found[name])]
    if clashes:
        more = f" and {len(clashes) - _MOST_NAMED} more" if len(clashes) > _MOST_NAMED else ""
        raise ResultsError(
            f"results disagree: {'; '.join(clashes[:_MOST_NAMED])}{more}; take out the part that is not to count"
        )
    chosen = {name: _chosen([result for _, result in results], out.parent) for name, results in found.items()}
    lines = [chosen[name] for name in sorted(chosen, key=natural_order)]
    _write(out, [{"hvs_results": FORMAT, "settings": settings}, *lines])
    completed = sum(any(result.completed for _, result in results) for results in found.values())
    shared = sum(len(results) > 1 for results in found.values())
    return Merged(out, len(found), len(found) - completed, shared)


def _distinct(files: Sequence[Path]) -> list[Path]:
    """Return the files sorted by path, each once."""
    return sorted({file.resolve(): file for file in sorted(files)}.values())


def _common_settings(parts: Sequence[tuple[Path, Mapping[str, Any]]]) -> dict[str, Any]:
    first, settings = parts[0]
    for file, others in parts[1:]:
        found = differences(settings, others)
        if found:
            raise ResultsError(
                f"{first} and {file} were made with different settings and cannot be merged ({'; '.join(found)})"
            )
    compared = [{name: value for name, value in given.items() if name != NOTES} for _, given in parts]
    # Equal, but perhaps not in writing: 0 and 0.0.
    common: dict[str, Any] = json.loads(min(_canonical(given) for given in compared))
    notes = _common_notes([given.get(NOTES) or {} for _, given in parts])
    return {**common, NOTES: notes} if notes else common


def _common_notes(given: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return notes that hold for all parts; where they differ, the list of what there is."""
    notes: dict[str, Any] = {}
    for name in sorted({name for each in given for name in each}):
        values = [each[name] for each in given if name in each]
        distinct = {_canonical(item): item for value in values for item in _items(value)}
        same = len({_canonical(value) for value in values}) == 1
        notes[name] = json.loads(_canonical(values[0])) if same else [distinct[text] for text in sorted(distinct)]
    return notes


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _canonical(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _clash(found: Sequence[tuple[Path, EpisodeResult]]) -> Iterable[str]:
    """Say where completed results of an episode disagree."""
    completed = [(file, _substance(result)) for file, result in found if result.completed]
    for file, substance in completed[1:]:
        first, expected = completed[0]
        differ = [name for name in expected if expected[name] != substance[name]]
        if differ:
            yield f"{expected['episode']} in {first} and {file} ({', '.join(differ)})"


def _substance(result: EpisodeResult) -> dict[str, Any]:
    line = {name: value for name, value in to_json(result).items() if name not in _DURATIONS}
    line["turns"] = [{k: v for k, v in turn.items() if k not in _TURN_DURATIONS} for turn in line["turns"]]
    return line


def _chosen(results: Sequence[EpisodeResult], folder: Path) -> dict[str, Any]:
    """Return the line of the result that counts: one that completed, of several the one that ended first."""
    completed = [result for result in results if result.completed]
    lines = [to_json(_absolute(result), folder) for result in completed or results]
    return min(lines, key=lambda line: (line["ended"], _canonical(line)))


def _absolute(result: EpisodeResult) -> EpisodeResult:
    """Return it with a bag that is found from any folder."""
    bag = result.record.bag
    return result if bag is None else replace(result, record=replace(result.record, bag=bag.absolute()))


def _write(out: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """Write the file whole or not at all: part of it would look like a run over part of the data."""
    text = "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)
    taken = f"{out} is there already: name another file"
    if os.path.lexists(out):
        raise ResultsError(taken)
    beside = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        try:
            out.parent.mkdir(parents=True, exist_ok=True)
            with beside.open("xb") as file:
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
            _name(beside, out)
        finally:
            with contextlib.suppress(OSError):
                beside.unlink()
    except OSError as error:
        if isinstance(error, FileExistsError) and os.path.lexists(out):
            raise ResultsError(taken) from error
        reason = f"{out.parent} is not a folder" if isinstance(error, FileExistsError) else error.strerror or error
        raise ResultsError(f"{out} cannot be written: {reason}") from error


def _name(beside: Path, out: Path) -> None:
    try:
        os.link(beside, out)  # unlike a renaming, never over another file
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        beside.rename(out)
