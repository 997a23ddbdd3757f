"""``hvs bench check DIR``: is this the data set, all of it, and fit to be run?"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from hvs_ros.cli.arguments import path
from hvs_ros.cli.error import BAD_INPUT, FAILED, VerbError

if TYPE_CHECKING:
    from rich.table import Table

    from hvs_ros.benchmark.dataset_check import DataSetCheck

HELP = "check a data set: what is in it, whether it is all that was published, and what is wrong with it"

MOST_OF_A_PROBLEM = 400
"""Letters of a line."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("dataset", type=path, metavar="DIR", help="the data set: scene folders, or folders of those")
    parser.add_argument(
        "--decode",
        action="store_true",
        default=None,
        help="look at every pixel: finds damage, and pictures that show the same (default: where there are few)",
    )


def run(args: argparse.Namespace) -> int:
    """Print what there is, then each problem; return 1 where there is one."""
    from hvs_ros.benchmark.dataset_check import check_dataset
    from hvs_ros.benchmark.progress import shorten
    from hvs_ros.cli.console import make_console
    from hvs_ros.panorama.annotation import SceneError

    try:
        check = check_dataset(args.dataset, decode=args.decode)
    except SceneError as error:
        raise VerbError(str(error), BAD_INPUT) from error
    make_console().print(_table(check))
    print(_published(check))
    for problem in check.problems:
        print(f"WRONG {shorten(problem, MOST_OF_A_PROBLEM)}")
    scenes = sum(split.scenes for split in check.splits)
    problems = len(check.problems)
    print(f"{scenes} scenes, {problems or 'no'} problem{'' if problems == 1 else 's' if problems else ''}")
    return FAILED if problems else 0


def _table(check: DataSetCheck) -> Table:
    from rich import box
    from rich.table import Table

    from hvs_ros.search.task import LEVEL_NAMES

    names = max(LEVEL_NAMES.values(), key=len)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for title in ("split", "kind"):
        table.add_column(title, no_wrap=True)
    for title in ("scenes", "tasks", "episodes", *names):
        table.add_column(title, justify="right", no_wrap=True)
    for split in check.splits:
        for kind, count in split.kinds.items():
            levels = [str(count.levels[level]) if level < len(LEVEL_NAMES[kind]) else "" for level in range(len(names))]
            table.add_row(
                split.name or "-", kind.value, str(count.scenes), str(count.tasks), str(count.episodes), *levels
            )
    return table


def _published(check: DataSetCheck) -> str:
    from hvs_ros.benchmark.dataset_check import PUBLISHED_STARTS, PUBLISHED_TASKS

    whole = " and ".join(f"{tasks} {kind.value}" for kind, tasks in PUBLISHED_TASKS.items())
    whole += f" tasks from {PUBLISHED_STARTS} starts each, {PUBLISHED_STARTS * sum(PUBLISHED_TASKS.values())} episodes"
    if check.as_published:
        return f"As many as were published: {whole}."
    here = " and ".join(f"{check.tasks(kind)} {kind.value}" for kind in PUBLISHED_TASKS)
    episodes = sum(check.episodes(kind) for kind in PUBLISHED_TASKS)
    return f"Not as many as were published ({whole}): {here} tasks, {episodes} episodes."
