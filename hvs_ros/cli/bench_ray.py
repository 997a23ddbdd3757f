"""``hvs bench --ray``: the options, and the workers that a run on several machines is given instead of a crew.

Where a run in this process has ``BenchEngine(episodes, crew, viewing, results, listener, settings, patience)``, one on
a cluster has ``with ray_workers(...) as workers: RayRun(episodes, workers, results, listener, patience)``; what goes
into the results file, and what comes out, is the same.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hvs_ros.cli.arguments import number, positive
from hvs_ros.cli.error import BAD_INPUT, FAILED, VerbError

if TYPE_CHECKING:
    from hvs_ros.benchmark.ray_cluster import RayWorkers
    from hvs_ros.benchmark.ray_worker import Job

Say = Callable[[str], None]


def add_ray(group: argparse._ArgumentGroup) -> None:
    """Declare ``--ray`` (None without it) and what goes with it."""
    group.add_argument(
        "--ray",
        metavar="ADDRESS",
        help="on a Ray cluster: auto, HOST:PORT, ray://HOST:PORT, or local for one on this machine (docs/cluster.md)",
    )
    group.add_argument(
        "--workers",
        type=positive,
        metavar="N",
        help="of --ray: so many search, each with a policy and --in-flight searches of its own (default: one a"
        " machine; with --worker-gpus as many as there are GPUs for)",
    )
    group.add_argument(
        "--worker-cpus", type=number(0.1, 1024), metavar="X", help="cores that a worker reserves (default 1)"
    )
    group.add_argument("--worker-gpus", type=number(0, 64), metavar="X", help="GPUs that a worker gets (default 0)")
    group.add_argument("--verbose", action="store_true", help="of --ray: show what workers print")


def check_ray(args: argparse.Namespace) -> None:
    """Refuse what goes with ``--ray`` where that is not given.

    Raises:
        VerbError: naming the option.
    """
    if args.ray is None:
        for name in ("workers", "worker_cpus", "worker_gpus"):
            if getattr(args, name) is not None:
                option = name.replace("_", "-")
                raise VerbError(f"--{option} goes with --ray: give --ray local or an address", BAD_INPUT)


@contextmanager
def ray_workers(args: argparse.Namespace, job: Job, say: Say) -> Iterator[RayWorkers]:
    """Connect to the cluster, or start one, and yield its workers when the first is ready; end all at the end.

    Args:
        args: the command line, with what ``add_ray`` declares.
        job: what the workers are for.
        say: is told what takes long, or goes wrong on one of several machines.

    Raises:
        VerbError: ray is missing, there is no cluster, or no worker that could do it; with one line for the user.
    """
    from hvs_ros.benchmark.ray_cluster import RaySettings, RayWorkers
    from hvs_ros.benchmark.ray_session import LOCAL, RayError
    from hvs_ros.policy.contract import PolicyError

    settings = RaySettings(
        address=args.ray,
        workers=args.workers,
        cpus=args.worker_cpus or 1.0,
        gpus=args.worker_gpus or 0.0,
        verbose=args.verbose,
    )
    if args.ray == LOCAL:
        say("starting a Ray cluster on this machine")
    try:
        with RayWorkers(job, settings, say) as workers:
            yield workers
    except RayError as error:
        raise VerbError(str(error), FAILED) from error
    except PolicyError as error:
        raise VerbError(str(error), BAD_INPUT) from error
