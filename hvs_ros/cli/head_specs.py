"""The nodes of a head by itself, for verbs that turn it and do not search."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from hvs_ros.cli.error import BAD_INPUT, VerbError
from hvs_ros.cli.robot_options import require_packages

if TYPE_CHECKING:
    from hvs_ros.bringup import NodeSpec
    from hvs_ros.neck.robot import Robot


def head_specs(args: argparse.Namespace, robot: Robot) -> list[NodeSpec]:
    """Return a head's nodes, confirmed to move, without a searcher; with a twin also the twin's.

    Args:
        args: the command line, with the options of ``add_robot`` and of every graph.
        robot: the one that they name.

    Raises:
        VerbError: a package is missing, or the options do not go together.
    """
    from hvs_ros.bringup import ROBOT_HEAD, TWIN, real
    from hvs_ros.cli.params_file import ParamsFile, chosen_scenes
    from hvs_ros.cli.real_tasks import find_scene
    from hvs_ros.share import ShareError, sample_scenes

    file = ParamsFile(args.params_file)
    in_twin = file.twin(args.namespace) if args.twin else None
    require_packages(robot, twin=in_twin)
    scenes = None
    if in_twin is not None:
        scenes = chosen_scenes(args, in_twin) or sample_scenes()
        find_scene(scenes, args.scene)
    try:
        specs = real(
            robot=args.robot,
            twin=args.twin,
            scenes=scenes,
            scene=args.scene,
            confirm=True,  # whoever starts them asks first
            namespace=args.namespace,
            parameter_files=[] if args.params_file is None else [args.params_file],
        )
    except (ShareError, ValueError) as error:
        raise VerbError(str(error), BAD_INPUT) from error
    return [spec for spec in specs if spec.executable in (ROBOT_HEAD, TWIN)]
