"""``python -m hvs_ros.mock.rooms OUT``: draws scenes to search in."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from hvs_ros.mock.rooms import KINDS, write_scenes


def main(arguments: list[str] | None = None) -> int:
    """Draw the scenes that the command line asks for; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m hvs_ros.mock.rooms",
        description="Draw panoramas of invented rooms, with tasks whose answers are known exactly.",
    )
    parser.add_argument("out", type=Path, metavar="OUT", help="directory that gets one folder a scene")
    parser.add_argument("--seed", type=int, default=0, help="which rooms; the same seed draws the same ones (0)")
    parser.add_argument(
        "--scenes", type=int, default=len(KINDS), help=f"how many, of {', '.join(KINDS)} in turn ({len(KINDS)})"
    )
    parser.add_argument(
        "--width", type=int, default=4096, help="of the pictures [pixels], a multiple of 16 from 64 to 16384 (4096)"
    )
    parser.add_argument("--tasks", type=int, default=5, help="at most so many in a scene (5)")
    parser.add_argument("--starts", type=int, default=1, help="start directions for each task (1)")
    parser.add_argument("--quality", type=int, default=88, help="of the JPEG files, 1 to 100 (88)")
    given = parser.parse_args(arguments)
    if min(given.seed, given.scenes - 1, given.tasks - 1, given.starts - 1) < 0:
        parser.error("--seed must be 0 or more; --scenes, --tasks and --starts 1 or more")
    if not (64 <= given.width <= 16384 and given.width % 16 == 0):
        parser.error(f"--width {given.width}: a multiple of 16 from 64 to 16384 is needed")
    if not 1 <= given.quality <= 100:
        parser.error(f"--quality {given.quality}: 1 to 100 is needed")
    try:
        folders = write_scenes(
            given.out, given.seed, given.scenes, given.width, given.tasks, given.starts, given.quality
        )
    except OSError as error:
        print(f"{error.filename or given.out}: cannot be written: {error.strerror or error}", file=sys.stderr)
        return 1
    for folder in folders:
        print(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
