"""From what the user said to ``hvs bench`` to what is run; what is wrong with it is found before anything starts."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hvs_ros.benchmark.dataset import DataSet, open_dataset, plan_benchmark
from hvs_ros.benchmark.episodes import Episode, Selection, SelectionError, annotated
from hvs_ros.benchmark.pictures import broken_pictures
from hvs_ros.benchmark.protocol import PROTOCOLS
from hvs_ros.benchmark.results_file import ResultsError, read_settings, refuse_others
from hvs_ros.benchmark.settings import RunSettings
from hvs_ros.benchmark.viewing import Viewing
from hvs_ros.cli.error import BAD_INPUT, VerbError
from hvs_ros.cli.options import check_short_forms
from hvs_ros.cli.sim_plan import TERMINAL_SETTING
from hvs_ros.panorama import Camera
from hvs_ros.panorama.annotation import SceneError
from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError
from hvs_ros.policy.registry import policy_settings
from hvs_ros.recording.naming import slug
from hvs_ros.search.scoring import ScoringMode
from hvs_ros.search.task import TaskKind
from hvs_ros.share import write_problem

FOLDER = Path("runs", "bench")
CHECKED_BYTES = 1024**3
"""Pictures that take no more in all are looked at before the run; more of them would take minutes."""


@dataclass(frozen=True)
class BenchPlan:
    """A run that can start.

    Attributes:
        dataset: what was opened.
        episodes: what is run, in the published order.
        total: how many episodes the data set has.
        part: which part of them was asked for, in words; empty: all.
        viewing: how views are made.
        settings: all that changes a result, and the deviations from the protocol.
        results: the results file.
    """

    dataset: DataSet
    episodes: list[Episode]
    total: int
    part: str
    viewing: Viewing
    settings: RunSettings
    results: Path

    @property
    def mode(self) -> ScoringMode:
        """The rule that counts."""
        return ScoringMode(self.settings.scoring)


def make_plan(args: argparse.Namespace) -> BenchPlan:
    """Read the data set and check everything that can be checked before a run.

    Raises:
        VerbError: with one line for the user.
    """
    settings = _settings(args)
    try:
        dataset = open_dataset(args.dataset)
        selection = Selection(
            tuple(args.select), None if args.kind is None else TaskKind(args.kind), args.starts, args.episodes
        )
        episodes = plan_benchmark(dataset, selection, seed=args.seed, shard=args.shard, max_turns=settings.max_turns)
    except (SceneError, SelectionError) as error:
        raise VerbError(str(error), BAD_INPUT) from error
    _check_pictures(episodes)
    results = args.results or default_results(
        args.policy, str(dict(args.policy_setting).get("model", "")), args.protocol, args.shard
    )
    if args.through_ros is None:
        _check_results(args, results, settings)
    camera = settings.camera
    part = _part(args)
    total = len(annotated(dataset.scenes))
    notes: dict[str, Any] = {"dataset": os.path.abspath(args.dataset), "episodes": total}
    if part:
        notes["part"] = part
    return BenchPlan(
        dataset=dataset,
        episodes=episodes,
        total=total,
        part=part,
        viewing=Viewing(Camera(camera["width"], camera["height"], camera["hfov_deg"]), settings.view["sampling"]),
        settings=settings.with_notes(notes),
        results=results,
    )


def _settings(args: argparse.Namespace) -> RunSettings:
    protocol = PROTOCOLS[args.protocol]
    camera = protocol.camera
    width, height = args.size or (camera.width, camera.height)
    try:
        check_short_forms(args, args.policy)
        if TERMINAL_SETTING in policy_settings(args.policy):
            raise VerbError(f"the policy '{args.policy}' asks a person: search with it in `hvs sim`", BAD_INPUT)
        return protocol.run_settings(
            args.policy,
            dict(args.policy_setting),
            camera=Camera(width, height, args.hfov or camera.hfov_deg),
            sampling=args.sampling,
            max_turns=args.turns,
            scoring=None if args.scoring is None else ScoringMode(args.scoring),
            seed=args.seed,
        )
    except PolicyUnavailableError as error:
        raise VerbError(str(error)) from error
    except PolicyError as error:
        raise VerbError(str(error), BAD_INPUT) from error


def _check_pictures(episodes: Sequence[Episode]) -> None:
    paths = list(dict.fromkeys(episode.scene.panorama_path for episode in episodes))
    if sum(path.stat().st_size for path in paths) > CHECKED_BYTES:
        return
    broken = broken_pictures(paths, decode=False)  # the run decodes each, once
    if broken:
        more = f" (and {len(broken) - 1} more: `hvs bench check` lists them)" if len(broken) > 1 else ""
        raise VerbError(f"{broken[0]}{more}", BAD_INPUT)


def _check_results(args: argparse.Namespace, path: Path, settings: RunSettings) -> None:
    """Find out now: a model may take minutes to load before the file is opened."""
    if path.is_dir():
        raise VerbError(f"--results {path} is a folder: name a file", BAD_INPUT)
    if not args.resume:
        if path.exists():
            raise VerbError(
                f"{path} is there already: continue it with --resume, or name another file with --results", BAD_INPUT
            )
        if problem := write_problem(path.parent):
            raise VerbError(f"--results {problem}", BAD_INPUT)
        return
    if not path.exists():
        raise VerbError(f"there are no results {path} to resume: begin without --resume", BAD_INPUT)
    try:
        made_with = read_settings(path)
        if made_with is not None:
            refuse_others(path, _known_before(made_with), _known_before(settings.to_json()))
    except ResultsError as error:
        raise VerbError(str(error), BAD_INPUT) from error


def _known_before(settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings without what only the policy itself tells: its facts, and which prompts those of a name are."""
    values = {name: value for name, value in settings.items() if name != "facts"}
    given = values.get("policy_settings")
    if isinstance(given, dict):
        values["policy_settings"] = {name: value for name, value in given.items() if name != "prompts"}
    return values


def default_results(policy: str, model: str, protocol: str, shard: tuple[int, int] | None) -> Path:
    """Return where results are kept unless it is said: a file of its own for each policy, model, protocol and shard."""
    names = [slug(policy) or "policy", slug(Path(model).name), protocol]
    if shard is not None:
        names.append(f"{shard[0]}of{shard[1]}")
    return FOLDER / ("_".join(name for name in names if name) + ".jsonl")


def _part(args: argparse.Namespace) -> str:
    """Return which part of the data set was asked for, in words; empty: all of it."""
    parts = [
        f"shard {args.shard[0]} of {args.shard[1]}" if args.shard else "",
        f"only {' '.join(args.select)}" if args.select else "",
        f"only {args.kind} tasks" if args.kind else "",
        f"the first {args.starts} starts" if args.starts else "",
        f"the first {args.episodes} episodes" if args.episodes else "",
    ]
    return ", ".join(part for part in parts if part)
