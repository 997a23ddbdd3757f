"""What runs the episodes of ``hvs sim``: this process alone, or the nodes that it starts."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from hvs_ros.benchmark.in_process import InProcessBackend, SceneHead
from hvs_ros.benchmark.run import Backend
from hvs_ros.cli.error import BAD_INPUT, FAILED, VerbError
from hvs_ros.cli.running_graph import running_graph
from hvs_ros.cli.sim_plan import Plan
from hvs_ros.panorama import Camera
from hvs_ros.panorama.surroundings import Workshop
from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError
from hvs_ros.policy.registry import create_policy
from hvs_ros.search.episode import SearchFailure

if TYPE_CHECKING:
    from hvs_ros.cli.sim_reports import Reports

Say = Callable[[str], None]
CACHE_MB = 1024


@contextmanager
def open_backend(args: argparse.Namespace, plan: Plan, reports: Reports | None, say: Say) -> Iterator[Backend]:
    """Make it ready, and end everything that it needs when the block ends.

    Args:
        args: the command line.
        plan: what is run.
        reports: get pictures from it.
        say: is told what takes long, and what nodes print.

    Raises:
        VerbError: it does not become ready.
    """
    if plan.settings.run == "in-process":
        with _in_process(plan, reports) as backend:
            yield backend
    else:
        with _graph(args, plan, reports, say) as backend:
            yield backend


@contextmanager
def _in_process(plan: Plan, reports: Reports | None) -> Iterator[Backend]:
    s = plan.settings
    camera = Camera(s.camera["width"], s.camera["height"], s.camera["hfov_deg"])
    head = SceneHead(Workshop("", camera, s.view["sampling"], s.view["supersample"], CACHE_MB))
    settings = plan.all_policy_settings()
    keep = None if reports is None else reports.keep
    with InProcessBackend(
        lambda: create_policy(s.policy, settings), head, deadline_s=plan.decision_limit_s, keep=keep
    ) as backend:
        try:
            backend.load()
        except SearchFailure as failure:
            refused = isinstance(failure.__cause__, PolicyError)
            missing = isinstance(failure.__cause__, PolicyUnavailableError)
            reason = str(failure.__cause__ if refused else failure)
            raise VerbError(reason, BAD_INPUT if refused and not missing else FAILED) from failure
        yield backend


@contextmanager
def _graph(args: argparse.Namespace, plan: Plan, reports: Reports | None, say: Say) -> Iterator[Backend]:
    with running_graph(
        _specs(args, plan),
        "hvs_sim",
        domain=args.domain,
        namespace=args.namespace,
        log_level=args.log_level,
        record=args.record is not None,
        say=say,
    ) as backend:
        if reports is not None:
            reports.recordings = backend.recordings
        yield backend


def _specs(args: argparse.Namespace, plan: Plan) -> Any:
    from hvs_ros.bringup import HEAD, POLICY, sim
    from hvs_ros.share import ShareError

    s = plan.settings
    head: dict[str, Any] = {
        "width": s.camera["width"],
        "height": s.camera["height"],
        "hfov": plan.hfov_rad,
        "sampling": s.view["sampling"],
        "supersample": s.view["supersample"],
        "motion": s.motion,
    }
    if args.head_values.text("calibration"):
        head = {name: value for name, value in head.items() if name not in ("width", "height", "hfov")}
    # What the file says stays there: a key has no business on a command line.
    own = dict(args.policy_setting)
    in_file = args.policy_values.settings()
    settings = plan.all_policy_settings()
    policy = {f"policy.{name}": value for name, value in settings.items() if name in own or name not in in_file}
    if plan.uses_terminal and "decision_timeout" not in args.policy_values:
        policy["decision_timeout"] = plan.decision_limit_s
    try:
        return sim(
            scenes=plan.scenes,
            scene=str(plan.episodes[0].address),
            policy=s.policy,
            record=args.record,
            namespace=args.namespace,
            parameter_files=[] if args.params_file is None else [args.params_file],
            parameters={HEAD: head, POLICY: policy},
        )
    except (ShareError, ValueError) as error:
        raise VerbError(str(error), BAD_INPUT) from error
