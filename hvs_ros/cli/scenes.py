"""``hvs scenes check DIR``: are these scenes fit to be searched?"""

from __future__ import annotations

import argparse

from hvs_ros.cli.arguments import path
from hvs_ros.cli.error import BAD_INPUT, FAILED, VerbError

NAME = "scenes"
HELP = "check a folder of scenes: what is in it, and what is wrong with it"

MOST_OF_A_PROBLEM = 400
"""Letters of a line."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    check = actions.add_parser("check", help=HELP, description=HELP)
    check.add_argument("directory", type=path, help="scene folders, bare panoramas, or one of them")


def run(args: argparse.Namespace) -> int:
    """Check every annotation, and every picture by decoding it; print what there is and each problem."""
    from hvs_ros.benchmark.pictures import broken_pictures
    from hvs_ros.benchmark.progress import shorten
    from hvs_ros.panorama.annotation import SceneError
    from hvs_ros.panorama.scene import check_scenes
    from hvs_ros.search.task import TaskKind

    try:
        check = check_scenes(args.directory)
    except SceneError as error:
        raise VerbError(str(error), BAD_INPUT) from error
    for scene in check.scenes:
        kinds = [item.task.kind for item in scene.items]
        tasks = ", ".join(f"{kinds.count(kind)} {kind.value}" for kind in TaskKind if kind in kinds)
        print(f"{scene.name}: {tasks or 'no tasks'}, {len(scene.episodes())} episodes ({scene.panorama_path.name})")
    problems = [*check.problems, *broken_pictures(check.pictures, decode=True)]
    for problem in problems:
        print(f"WRONG {shorten(problem, MOST_OF_A_PROBLEM)}")
    episodes = sum(len(scene.episodes()) for scene in check.scenes)
    print(f"{len(check.scenes)} scenes, {episodes} episodes, " + _count(len(problems)))
    return FAILED if problems else 0


def _count(problems: int) -> str:
    return "no problem" if problems == 0 else "1 problem" if problems == 1 else f"{problems} problems"
