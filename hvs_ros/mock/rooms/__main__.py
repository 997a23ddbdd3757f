"""``python -m hvs_ros.mock.rooms OUT``: draws scenes to search in."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from hvs_ros.mock.rooms import KINDS, Order, write_scenes
from hvs_ros.mock.rooms.data_set import SPLITS
from hvs_ros.mock.rooms.tasks import PUBLISHED_STARTS


def main(arguments: list[str] | None = None) -> int:
    """Draw the scenes that the command line asks for; return the exit status."""
    parser = _parser()
    given = parser.parse_args(arguments)
    if min(given.seed, given.scenes - 1, given.tasks - 1) < 0:
        parser.error("--seed must be 0 or more; --scenes and --tasks 1 or more")
    if not 1 <= given.starts <= 100:
        parser.error(f"--starts {given.starts}: 1 to 100 is needed")
    if not (64 <= given.width <= 16384 and given.width % 16 == 0):
        parser.error(f"--width {given.width}: a multiple of 16 from 64 to 16384 is needed")
    if not 1 <= given.quality <= 100:
        parser.error(f"--quality {given.quality}: 1 to 100 is needed")
    if given.jobs is not None and given.jobs < 1:
        parser.error(f"--jobs {given.jobs}: 1 or more is needed")
    order = Order(
        seed=given.seed,
        scenes=given.scenes,
        width=given.width,
        tasks=given.tasks,
        starts=PUBLISHED_STARTS if given.published_starts else given.starts,
        format=given.format,
        quality=given.quality,
        splits=given.splits,
    )
    try:
        for folder in write_scenes(given.out, order, min(given.jobs or _cores(), given.scenes)):
            print(folder)
    except OSError as error:
        print(f"{error.filename or given.out}: cannot be written: {error.strerror or error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m hvs_ros.mock.rooms",
        description="Draw panoramas of invented rooms, with tasks whose answers are known exactly.",
    )
    add = parser.add_argument
    add("out", type=Path, metavar="OUT", help="directory that gets one folder a scene")
    add("--seed", type=int, default=0, help="which rooms; the same seed draws the same ones (0)")
    kinds = ", ".join(KINDS)
    add("--scenes", type=int, default=len(KINDS), help=f"how many, of {kinds} in turn ({len(KINDS)})")
    add("--width", type=int, default=4096, help="of the pictures [pixels], a multiple of 16 from 64 to 16384 (4096)")
    add("--tasks", type=int, default=5, help="at most so many in a scene (5)")
    starts = parser.add_mutually_exclusive_group()
    starts.add_argument("--starts", type=int, default=1, help="start directions for each task (1)")
    starts.add_argument(
        "--published-starts",
        action="store_true",
        help="start every task at 0, 90, 180 and 270, as the published benchmark does",
    )
    splits = " and ".join(SPLITS)
    add("--splits", action="store_true", help=f"objects and ways in folders of their own: {splits}, as published")
    add("--format", choices=("jpg", "png"), default="jpg", help="of the pictures (jpg)")
    add("--quality", type=int, default=88, help="of the JPEG files, 1 to 100 (88)")
    add("--jobs", type=int, help="draw in so many processes (as many as there are cores)")
    return parser


def _cores() -> int:
    return len(os.sched_getaffinity(0))


if __name__ == "__main__":
    sys.exit(main())
