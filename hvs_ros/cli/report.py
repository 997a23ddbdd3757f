"""``hvs report``: makes the report of recorded episodes."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hvs_ros.cli.arguments import path
from hvs_ros.cli.error import BAD_INPUT, FAILED, VerbError

if TYPE_CHECKING:
    from hvs_ros.panorama.scene import Scene
    from hvs_ros.recording import EpisodeRecord
    from hvs_ros.search.task import EpisodeSpec

NAME = "report"
HELP = "write the report of recorded episodes: one HTML file each, and an index"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("bags", type=path, nargs="+", metavar="BAG", help="folders of bags, or folders that hold them")
    parser.add_argument(
        "--scenes", type=path, metavar="DIR", help="scenes that were searched: shows the panorama and the right answer"
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
    from hvs_ros.report import INDEX_NAME, IndexEntry, write_index, write_report

    bags = [bag for given in args.bags for bag in _bags(given)]
    scenes = _scenes(args.scenes)
    single = args.out is not None and len(bags) == 1 and args.out.suffix in (".html", ".htm")
    if not single and args.out is not None and args.out.suffix in (".html", ".htm"):
        raise VerbError(f"--out {args.out}: there are {len(bags)} bags, a folder is expected", BAD_INPUT)
    entries: list[IndexEntry] = []
    failed = 0
    for bag in bags:
        try:
            record = read_episode(bag)
        except RecordingError as error:
            print(f"hvs report: {shorten(str(error), 400)}")
            failed += 1
            continue
        scene = scenes.get(record.scene)
        spec = None if scene is None else match(record, scene)
        out = args.out if single else _report_of(bag, args.out)
        try:
            write_report(
                record,
                out,
                panorama=None if scene is None else scene.panorama_path,
                tilt=None if scene is None else scene.tilt,
                spec=spec,
            )
        except OSError as error:
            raise VerbError(f"{out}: cannot be written: {error.strerror or error}") from error
        print(out)
        target, level = (spec.target, spec.level) if spec is not None else (None, None)
        entries.append(IndexEntry(record, out, spec.episode_id if spec else "", target, level))
    if len(entries) > 1:
        index = (args.out or bags[0].parent) / INDEX_NAME
        print(write_index(index, entries))
    return FAILED if failed else 0


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

    folder = bag if bag.is_dir() else bag.parent
    return folder / REPORT_NAME if out is None else out / f"{folder.name}.html"
