"""``hvs report``: makes the report of recorded episodes.

A bag does not hold the answer. It comes from the results files beside the bags, or from ``--scenes``; a report that has
it is never replaced by one that does not.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hvs_ros.cli.arguments import path
from hvs_ros.cli.error import BAD_INPUT, FAILED, VerbError

if TYPE_CHECKING:
    from hvs_ros.benchmark.result import EpisodeResult
    from hvs_ros.panorama.scene import Scene
    from hvs_ros.recording import EpisodeRecord
    from hvs_ros.report import IndexEntry
    from hvs_ros.search.task import EpisodeSpec

NAME = "report"
HELP = "write the report of recorded episodes: one HTML file each, and an index"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("bags", type=path, nargs="+", metavar="BAG", help="folders of bags, or folders that hold them")
    parser.add_argument(
        "--scenes",
        type=path,
        metavar="DIR",
        help="scenes that were searched: shows the panorama and the right answer (default: as the results beside the "
        "bags and the recorded parameters say)",
    )
    parser.add_argument(
        "--out",
        type=path,
        metavar="PATH",
        help="folder for the reports, or the file of a single one (default: in each bag)",
    )


def run(args: argparse.Namespace) -> int:
    """Write the reports; a bag that cannot be read is named and passed over."""
    from hvs_ros.benchmark.progress import shorten
    from hvs_ros.recording import RecordingError, read_episode
    from hvs_ros.report import knows_more, write_report

    bags = [bag for given in args.bags for bag in _bags(given)]
    scenes = _scenes(args.scenes)
    results = _results(bags)
    single = args.out is not None and len(bags) == 1 and args.out.suffix in (".html", ".htm")
    if not single and args.out is not None and args.out.suffix in (".html", ".htm"):
        raise VerbError(f"--out {args.out}: there are {len(bags)} bags, a folder is expected", BAD_INPUT)
    entries: list[IndexEntry] = []
    failed = kept = 0
    for bag in bags:
        try:
            record = read_episode(bag)
        except RecordingError as error:
            print(f"hvs report: {shorten(str(error), 400)}")
            failed += 1
            continue
        result = results.get(_folder(bag).resolve())
        given = scenes.get(record.scene)
        spec = (match(record, given) if given is not None else None) or _spec(result)
        scene = given or _recorded_scene(record, result)
        out = args.out if single else _report_of(bag, args.out)
        panorama = None if scene is None else scene.panorama_path
        entries.append(_entry(record, out, spec))
        if knows_more(out, answer=spec is not None, picture=panorama is not None):
            print(f"{out} (kept: it shows a panorama or an answer that is not found now)")
            kept += 1
            continue
        try:
            write_report(record, out, panorama=panorama, tilt=None if scene is None else scene.tilt, spec=spec)
        except OSError as error:
            raise VerbError(f"{out}: cannot be written: {error.strerror or error}") from error
        print(out)
    if kept:
        print(f"{kept} reports kept as they were: give --scenes DIR to make them anew, or --out to write elsewhere")
    if len(entries) > 1:
        print(_write_index(args.out, bags[0].parent, entries))
    return FAILED if failed else 0


def _entry(record: EpisodeRecord, out: Path, spec: EpisodeSpec | None) -> IndexEntry:
    from hvs_ros.report import IndexEntry

    if spec is None:
        return IndexEntry(record, out)
    return IndexEntry(record, out, spec.episode_id, spec.target, spec.level)


def _write_index(out: Path | None, folder: Path, entries: list[IndexEntry]) -> Path:
    from hvs_ros.benchmark.recorded_runs import report_path, runs_in
    from hvs_ros.benchmark.reports import write_folder_index
    from hvs_ros.report import INDEX_NAME, IndexRun, write_index

    if out is not None:
        return write_index(out / INDEX_NAME, entries)
    listed = {
        report_path(folder, run.path.stem, result).resolve() for run in runs_in(folder)[0] for result in run.results
    }
    others = [entry for entry in entries if entry.report.resolve() not in listed]
    if not listed:
        return write_index(folder / INDEX_NAME, entries)
    return write_folder_index(folder, last=[IndexRun(others, "Other recordings")] if others else [])


def _results(bags: list[Path]) -> dict[Path, EpisodeResult]:
    """Return what the results files beside the bags say, by the bag's folder."""
    from hvs_ros.benchmark.recorded_runs import runs_in

    found: dict[Path, EpisodeResult] = {}
    for folder in dict.fromkeys(_folder(bag).absolute().parent for bag in bags):
        runs, problems = runs_in(folder)
        for problem in problems:
            print(f"hvs report: {problem}")
        for run in reversed(runs):
            found.update({r.record.bag.resolve(): r for r in run.results if r.record.bag is not None})
    return found


def _spec(result: EpisodeResult | None) -> EpisodeSpec | None:
    from hvs_ros.search.task import EpisodeSpec

    if result is None or result.target is None:
        return None
    return EpisodeSpec(result.episode_id, result.scene, result.task, result.start, result.target, result.level)


def _recorded_scene(record: EpisodeRecord, result: EpisodeResult | None) -> Scene | None:
    """Return the scene where the recording says that it lay, or among the samples; None: its picture is not there."""
    from hvs_ros.panorama.scene import SceneError, load_scene
    from hvs_ros.share import ShareError, sample_scenes

    if result is None or not record.scene:
        return None
    nodes = record.info.get("nodes")
    parameters = [values for values in nodes.values() if isinstance(values, dict)] if isinstance(nodes, dict) else []
    folders = [Path(str(values["scenes"])) for values in parameters if values.get("scenes")]
    with contextlib.suppress(ShareError):
        folders.append(sample_scenes())
    name, size = result.panorama
    for place in (folder / part for folder in folders for part in (record.scene, name, "")):
        with contextlib.suppress(SceneError, OSError):
            scene = load_scene(place)
            # Another picture of that name would show the search in a place where it was not.
            if (scene.panorama_path.name, scene.panorama_path.stat().st_size) == (name, size):
                return scene
    return None


def match(record: EpisodeRecord, scene: Scene) -> EpisodeSpec | None:
    """Return the episode of a scene that a record is of: same words, same kind, nearest start; None: none.

    Its difficulty, where it is not annotated, is worked out as for a benchmark.
    """
    from hvs_ros.benchmark.episodes import level_of

    specs = [
        spec
        for index, item in enumerate(scene.items)
        for spec in item.episodes(scene.name, index)
        if spec.task.instruction == record.task.instruction and spec.task.kind is record.task.kind
    ]
    if not specs:
        return None
    first = record.turns[0].direction if record.turns else specs[0].start
    spec = min(specs, key=lambda spec: spec.start.angle_to_deg(first))
    return spec if spec.level is not None else replace(spec, level=level_of(spec.target, spec.start))


def _bags(given: Path) -> Iterator[Path]:
    """Yield the bag, or the bags in a folder; rescued ones' originals are passed over."""
    if not given.is_dir() or any(given.glob("*.mcap")):
        yield given
        return
    folders = sorted(folder for folder in given.iterdir() if folder.is_dir() and ".damaged" not in folder.suffixes)
    found = [folder for folder in folders if any(folder.glob("*.mcap"))]
    if not found:
        raise VerbError(f"{given}: no bag is there", BAD_INPUT)
    yield from found


def _scenes(directory: Path | None) -> dict[str, Scene]:
    from hvs_ros.panorama.annotation import SceneError
    from hvs_ros.panorama.scene import load_scenes

    if directory is None:
        return {}
    try:
        return {scene.name: scene for scene in load_scenes(directory)}
    except SceneError as error:
        raise VerbError(str(error), BAD_INPUT) from error


def _report_of(bag: Path, out: Path | None) -> Path:
    from hvs_ros.report import REPORT_NAME

    folder = _folder(bag)
    return folder / REPORT_NAME if out is None else out / f"{folder.name}.html"


def _folder(bag: Path) -> Path:
    return bag if bag.is_dir() else bag.parent
