"""``hvs real``: the search on a robot's head, or on its physics twin.

It does what ``ros2 launch hvs_ros real.launch.py`` does, from the same description, and says what it waits for, where
the head may look and how a search goes.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvs_ros.cli.arguments import path
from hvs_ros.cli.error import BAD_INPUT, VerbError
from hvs_ros.cli.graph import require_ros
from hvs_ros.cli.options import add_graph, add_policy, check_short_forms
from hvs_ros.cli.robot_graph import RobotGraph, robot_graph, where
from hvs_ros.cli.robot_options import add_confirm, add_robot, add_wait, load, require_packages
from hvs_ros.cli.robot_words import camera_text, moving_text, reach_text, robot_line, speed_text, view_text

if TYPE_CHECKING:
    from hvs_ros.bringup import NodeSpec
    from hvs_ros.cli.params_file import ParamsFile
    from hvs_ros.cli.real_tasks import RealTask
    from hvs_ros.neck.robot import Robot
    from hvs_ros.panorama.scene import Scene

NAME = "real"
HELP = "search with a robot's head, or with its physics twin"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_robot(parser)
    add_policy(parser)
    parser.add_argument("--instruction", metavar="TEXT", help="what to find; with a twin, default: a task of its scene")
    parser.add_argument("--target", choices=("object", "path"), default="object", help="default object")
    parser.add_argument("--record", type=path, metavar="DIR", help="keep a bag of each search in DIR")
    add_confirm(parser)
    parser.add_argument("--torso", action="store_true", help="torso joints help where the neck is not enough")
    parser.add_argument("--turn-base", action="store_true", help="the base turns where the rest is not enough")
    parser.add_argument("--stay", action="store_true", help="stay after the search, for `hvs search` and other clients")
    add_wait(parser)
    add_graph(parser, log_level="warn")


def run(args: argparse.Namespace) -> int:
    """Bring the head up, search if there is something to search for, and end or stay."""
    require_ros()
    from hvs_ros.cli.params_file import ParamsFile
    from hvs_ros.cli.real_search import run_search

    robot, file = load(args), ParamsFile(args.params_file)
    require_packages(robot, twin=file.twin(args.namespace) if args.twin else None)
    plan = _Plan(args, robot, file)
    for line in plan.introduction():
        _tell(line)
    with robot_graph(args, "hvs_real", plan.specs, searcher=True, say=_tell) as graph:
        _tell(f"{robot.name} may look {reach_text(graph.capabilities)}")
        _tell(f"camera {camera_text(robot, graph.camera(robot))}; views {view_text(graph.capabilities)}")
        task = plan.task(graph.capabilities)
        code = 0
        if task is not None:
            if not plan.moves:
                raise VerbError(
                    f"everything is there, nothing was moved: --confirm is needed before {plan.moving} move"
                )
            code = run_search(graph, task, record=args.record is not None, say=_tell)
        if task is None or args.stay:
            _stay(graph, args)
    return code


@dataclass(frozen=True)
class _Switches:
    """What the head may do, by command line or parameter file."""

    confirm: bool
    torso: bool
    base: bool


class _Plan:
    """What the command line and the parameter file come to.

    Raises:
        VerbError: they come to nothing.
    """

    def __init__(self, args: argparse.Namespace, robot: Robot, file: ParamsFile) -> None:
        self._args, self._robot = args, robot
        head = file.robot_head(args.namespace)

        def on(option: bool, parameter: str) -> bool:
            return option or head.values.get(parameter) is True

        self._switches = _Switches(
            on(args.confirm, "confirm"), on(args.torso, "use_torso"), on(args.turn_base, "turn_base")
        )
        self._check(file)
        self._scenes: Path | None = None
        self._scene: Scene | None = None
        if args.twin:
            self._scenes, self._scene = self._surroundings(file)
        self.specs = self._specs()

    @property
    def moves(self) -> bool:
        """The head will move when told to."""
        return self._args.twin or self._switches.confirm

    @property
    def moving(self) -> str:
        """What moves then."""
        return moving_text(self._robot, torso=self._switches.torso, base=self._switches.base)

    def introduction(self) -> list[str]:
        """Return what a person should know before anything moves."""
        lines = [robot_line(self._robot, twin=self._args.twin)]
        if self._args.twin:
            return lines
        if self.moves:
            lines.append(
                f"{self.moving} will move, {speed_text(self._robot)}; keep clear, the e-stop topic is head/e_stop"
            )
        else:
            lines.append(f"nothing moves without --confirm; with it {self.moving} will, {speed_text(self._robot)}")
        return lines

    def task(self, capabilities: Any) -> RealTask | None:
        """Return what is searched for, by what the head can do; None: nothing."""
        from hvs_ros.cli.real_tasks import own_task, scene_task

        if self._args.instruction is not None:
            return own_task(self._args.instruction, self._args.target)
        return None if self._scene is None else scene_task(self._scene, capabilities)

    def _check(self, file: ParamsFile) -> None:
        from hvs_ros.cli.real_tasks import own_task
        from hvs_ros.cli.sim_options import DEFAULT_POLICY
        from hvs_ros.cli.sim_plan import check_writable
        from hvs_ros.policy.contract import PolicyError
        from hvs_ros.policy.registry import check_policy

        in_policy = file.policy(self._args.namespace)
        if self._args.instruction is not None:
            own_task(self._args.instruction, self._args.target)
        settings = {**in_policy.settings(), **dict(self._args.policy_setting)}
        try:
            name = self._args.policy or in_policy.text("policy") or DEFAULT_POLICY
            check_short_forms(self._args, name)
            check_policy(name, settings)
        except PolicyError as error:
            raise VerbError(str(error), BAD_INPUT) from error
        if self._args.record is not None:
            check_writable(self._args.record)

    def _surroundings(self, file: ParamsFile) -> tuple[Path, Scene]:
        """Return the twin's folder of scenes, and the scene that it starts in."""
        from hvs_ros.cli.params_file import chosen_scenes
        from hvs_ros.cli.real_tasks import find_scene
        from hvs_ros.share import sample_scenes

        in_twin = file.twin(self._args.namespace)
        folder = chosen_scenes(self._args, in_twin) or sample_scenes()
        return folder, find_scene(folder, self._args.scene or in_twin.text("scene") or "")

    def _specs(self) -> list[NodeSpec]:
        from hvs_ros.bringup import POLICY, ROBOT_HEAD, real
        from hvs_ros.share import ShareError

        args = self._args
        parameters: dict[str, dict[str, Any]] = {
            POLICY: {f"policy.{name}": value for name, value in args.policy_setting}
        }
        if self._scene is not None:
            parameters[ROBOT_HEAD] = {"scene": self._scene.name}
        try:
            return real(
                robot=args.robot,
                twin=args.twin,
                scenes=self._scenes,
                scene=args.scene,
                policy=args.policy or "",
                record=args.record,
                confirm=args.confirm,
                use_torso=args.torso,
                turn_base=args.turn_base,
                namespace=args.namespace,
                parameter_files=[] if args.params_file is None else [args.params_file],
                parameters=parameters,
            )
        except (ShareError, ValueError) as error:
            raise VerbError(str(error), BAD_INPUT) from error


def _stay(graph: RobotGraph, args: argparse.Namespace) -> None:
    _tell(f'ready; Ctrl-C ends it; in another terminal: hvs search{where(args)} "find the exit sign"')
    assert graph.nodes is not None
    try:
        graph.nodes.wait()
    except KeyboardInterrupt:
        _tell("ending")
        return
    raise VerbError(graph.trouble())


def _tell(text: str) -> None:
    print(f"hvs real: {text}" if not text.startswith("[") else text, flush=True)
