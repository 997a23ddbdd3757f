"""``hvs scenes check DIR``: are these scenes fit to be searched?"""

from __future__ import annotations

import argparse

from hvs_ros.cli.arguments import path
from hvs_ros.cli.error import BAD_INPUT, FAILED, VerbError

NAME = "scenes"
HELP = "check a folder of scenes: what is in it, and what is wrong with it"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    check = actions.add_parser("check", help=HELP, description=HELP)
    check.add_argument("directory", type=path, help="scene folders, bare panoramas, or one of them")


def run(args: argparse.Namespace) -> int:
    """Check every annotation, and every picture by decoding it; print what there is and each problem."""
    from hvs_ros.benchmark.pictures import broken_pictures
    from hvs_ros.panorama.annotation import SceneError
    from hvs_ros.panorama.scene import load_scenes
    from hvs_ros.search.task import TaskKind

    try:
        scenes = load_scenes(args.directory)
    except SceneError as error:
        raise VerbError(str(error), BAD_INPUT) from error
    for scene in scenes:
        kinds = [item.task.kind for item in scene.items]
        tasks = ", ".join(f"{kinds.count(kind)} {kind.value}" for kind in TaskKind if kind in kinds)
        print(f"{scene.name}: {tasks or 'no tasks'}, {len(scene.episodes())} episodes ({scene.panorama_path.name})")
    problems = broken_pictures([scene.panorama_path for scene in scenes], decode=True)
    for problem in problems:
        print(f"BROKEN {problem}")
    episodes = sum(len(scene.episodes()) for scene in scenes)
    print(f"{len(scenes)} scenes, {episodes} episodes, {len(problems)} broken pictures")
    return FAILED if problems else 0
