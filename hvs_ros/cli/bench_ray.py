"""``hvs bench --ray``: the options, and the workers that a run on several machines is given.

    with ray_workers(args, job, say) as workers:         # instead of a crew
        facts = workers.describe()                        # instead of crew.describe()
        run = RayRun(episodes, workers, results, listener)   # instead of BenchEngine(...)
        report = run.run()

Enter it in the main thread: the processes of a cluster that a run starts end with the thread that started them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hvs_ros.cli.arguments import number, positive

if TYPE_CHECKING:
    from hvs_ros.benchmark.ray_cluster import RayWorkers
    from hvs_ros.benchmark.ray_worker import Job

Say = Callable[[str], None]


def add_ray(group: argparse._ArgumentGroup) -> None:
    """Declare ``--ray`` and what goes with it: ``args.ray`` (None without it), ``workers``, ``worker_cpus``, ..."""
    group.add_argument(
        "--ray",
        metavar="ADDRESS",
        help="on a Ray cluster: auto, HOST:PORT, ray://HOST:PORT, or local for one on this machine (docs/cluster.md)",
    )
    group.add_argument(
        "--workers",
        type=positive,
        metavar="N",
        help="of --ray: that search, each with a policy and --in-flight searches of its own (default: one a machine, "
        "with --worker-gpus one for each such share)",
    )
    group.add_argument(
        "--worker-cpus",
        type=number(0.1, 1024),
        default=1.0,
        metavar="X",
        help="cores that a worker reserves (default 1)",
    )
    group.add_argument(
        "--worker-gpus", type=number(0, 64), default=0.0, metavar="X", help="GPUs that a worker gets (default 0)"
    )


@contextmanager
def ray_workers(args: argparse.Namespace, job: Job, say: Say, *, verbose: bool = False) -> Iterator[RayWorkers]:
    """Connect to the cluster, or start one, have the workers made, and end all that was started when the block ends.

    Args:
        args: the command line, with what ``add_ray`` declares.
        job: what the workers are for.
        say: is told what takes long, or goes wrong on one of several machines.
        verbose: what workers print is shown.

    Raises:
        VerbError: ray is missing, there is no cluster, or no worker that could do it; with one line for the user.
    """
    raise NotImplementedError
    yield
