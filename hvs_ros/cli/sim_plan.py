"""From what the user said to what will be run; whatever is wrong with it is found here, before anything starts."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hvs_ros.angles import ros_turn
from hvs_ros.benchmark.episodes import Episode, FreeTask, Selection, SelectionError, bare_scenes, plan_episodes
from hvs_ros.benchmark.pictures import broken_pictures
from hvs_ros.benchmark.results_file import ResultsError, ResultsFile
from hvs_ros.benchmark.settings import RunSettings, installed_versions
from hvs_ros.cli.error import BAD_INPUT, VerbError
from hvs_ros.cli.options import check_short_forms
from hvs_ros.panorama.annotation import SceneError
from hvs_ros.panorama.scene import Scene, load_scenes
from hvs_ros.panorama.view import view_name
from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError
from hvs_ros.policy.registry import check_policy, policy_settings
from hvs_ros.search.task import TaskKind
from hvs_ros.share import write_problem

Say = Callable[[str], None]

TERMINAL_SETTING = "tty"
"""A policy with a setting of this name talks to a person at that terminal."""
DECISION_LIMIT_S, PERSON_LIMIT_S = 120.0, 3600.0
"""For one decision: of a program, and of a person."""


@dataclass(frozen=True)
class Plan:
    """A run that can start.

    Attributes:
        scenes: where the scenes are.
        episodes: what is run, in order.
        settings: how.
        uses_terminal: the policy itself talks to the person at the terminal.
    """

    scenes: Path
    episodes: list[Episode]
    settings: RunSettings
    uses_terminal: bool = False

    def all_policy_settings(self) -> dict[str, Any]:
        """Return the policy's settings, with this terminal for one that talks to a person and was given none."""
        settings = dict(self.settings.policy_settings)
        if self.uses_terminal and sys.stdin.isatty():
            settings.setdefault(TERMINAL_SETTING, os.ttyname(sys.stdin.fileno()))
        return settings

    @property
    def decision_limit_s(self) -> float:
        """How long one decision may take."""
        return PERSON_LIMIT_S if self.uses_terminal else DECISION_LIMIT_S

    @property
    def hfov_rad(self) -> float:
        """The camera's field of view as the head's parameter."""
        return abs(ros_turn(self.settings.camera["hfov_deg"]))

    @property
    def title(self) -> str:
        """What was run, in one line."""
        s = self.settings
        how = "in process" if s.run == "in-process" else "through ROS 2"
        view = view_name(s.view["sampling"], s.view["supersample"])
        camera = f"{s.camera['width']}x{s.camera['height']}, {s.camera['hfov_deg']:g}° {view}"
        return f"Policy '{s.policy}' in {self.scenes.name or self.scenes.absolute().name}, views {camera}, {how}"


def make_plan(args: argparse.Namespace, say: Say) -> Plan:
    """Read the scenes and check everything that can be checked before a run.

    Args:
        args: the command line, after ``sim_options.fill_in``.
        say: is told what else the user should know.

    Raises:
        VerbError: with one line for the user.
    """
    _check_together(args)
    settings = {**args.policy_values.settings(), **dict(args.policy_setting)}
    _check_policy(args, settings)
    uses_terminal = TERMINAL_SETTING in policy_settings(args.policy)
    directory = _scenes_directory(args.scenes)
    try:
        scenes = load_scenes(directory)
        episodes = _episodes(args, scenes, say)
    except (SceneError, SelectionError) as error:
        raise VerbError(str(error), BAD_INPUT) from error
    _check_pictures(episodes)
    if args.record is not None:
        check_writable(args.record)
    width, height = args.size
    return Plan(
        scenes=directory,
        episodes=episodes,
        settings=RunSettings(
            policy=args.policy,
            policy_settings=settings,
            camera={"width": width, "height": height, "hfov_deg": args.hfov},
            view={"sampling": args.sampling, "supersample": args.supersample},
            max_turns=args.turns,
            run="in-process" if args.in_process else "graph",
            motion=args.motion,
            parameters=args.parameters,
            versions=installed_versions(args.policy),
        ),
        uses_terminal=uses_terminal,
    )


def open_results(args: argparse.Namespace, plan: Plan) -> ResultsFile | None:
    """Begin the results file, or continue one; None when results are kept nowhere.

    Raises:
        VerbError: it cannot be written, or continued with these settings.
    """
    path = _results_path(args)
    if path is None:
        return None
    if args.resume and not path.exists():
        raise VerbError(f"nothing to resume in {args.results or args.record}: begin without --resume", BAD_INPUT)
    try:
        if args.resume:
            results = ResultsFile.resume(path, plan.settings)
            try:
                results.check(plan.episodes)
            except ResultsError:
                results.close()
                raise
            return results
        return ResultsFile.create(path, plan.settings)
    except ResultsError as error:
        raise VerbError(str(error), BAD_INPUT) from error


def check_writable(folder: Path) -> None:
    """Refuse a folder that nothing can be written to, before anything is done in vain.

    Raises:
        VerbError: why not.
    """
    if problem := write_problem(folder):
        raise VerbError(f"--record {problem}", BAD_INPUT)


def _check_together(args: argparse.Namespace) -> None:
    if args.in_process and args.motion != "instant":
        raise VerbError("--motion profile needs the ROS graph: a head in this process turns at once", BAD_INPUT)
    if args.sampling == "hstar" and args.supersample != 1:
        raise VerbError("--sampling hstar reproduces published pixels: it goes with --supersample 1 only", BAD_INPUT)
    if args.resume and args.results is None and args.record is None:
        raise VerbError("--resume needs to know what to continue: give --results FILE or --record DIR", BAD_INPUT)


def _check_policy(args: argparse.Namespace, settings: dict[str, Any]) -> None:
    try:
        check_short_forms(args, args.policy)
        check_policy(args.policy, settings)
    except PolicyUnavailableError as error:
        raise VerbError(str(error)) from error
    except PolicyError as error:
        raise VerbError(str(error), BAD_INPUT) from error


def _scenes_directory(given: Path | None) -> Path:
    if given is not None:
        return given
    from hvs_ros.share import sample_scenes

    return sample_scenes()


def _episodes(args: argparse.Namespace, scenes: Sequence[Scene], say: Say) -> list[Episode]:
    kind = None if args.target is None else TaskKind(args.target)
    free = None if args.instruction is None else FreeTask(args.instruction, kind or TaskKind.OBJECT)
    selection = Selection(tuple(args.select), None if free else kind, args.starts, args.episodes)
    episodes = plan_episodes(scenes, selection, free_task=free, max_turns=args.turns)
    bare = bare_scenes(scenes)
    if free is None and bare:
        names = ", ".join(scene.name for scene in bare[:5]) + (" ..." if len(bare) > 5 else "")
        say(f"passed over, as they have no tasks: {names} (--instruction TEXT searches there too)")
    return episodes


def _check_pictures(episodes: Sequence[Episode]) -> None:
    scenes = {episode.scene.panorama_path: episode.scene for episode in episodes}
    broken = broken_pictures(list(scenes))
    if broken:
        more = f" (and {len(broken) - 1} more: `hvs scenes check` lists them)" if len(broken) > 1 else ""
        raise VerbError(f"{broken[0]}{more}", BAD_INPUT)


def _results_path(args: argparse.Namespace) -> Path | None:
    if args.results is not None:
        return Path(args.results)
    if args.record is None:
        return None
    folder = Path(args.record)
    if args.resume:
        earlier = sorted(folder.glob("results_*.jsonl"))
        if earlier:
            return earlier[-1]
    return folder / f"results_{time.strftime('%Y%m%d_%H%M%S')}{os.getpid() % 1000:03d}.jsonl"
