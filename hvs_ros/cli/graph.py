"""What every verb needs that starts nodes: ROS itself, a domain, and nobody else in it."""

from __future__ import annotations

import fcntl
import importlib.util
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hvs_ros.cli.error import BAD_INPUT, VerbError

LARGEST_DOMAIN = 232


def require_ros() -> None:
    """Find out before anything starts.

    Raises:
        ImportError: rclpy or hvs_interfaces is missing; ``hvs_ros.cli.main`` says what brings it.
    """
    for module in ("rclpy", "hvs_interfaces"):
        if importlib.util.find_spec(module) is None:
            raise ImportError(f"No module named '{module}'", name=module)


def choose_domain(domain: int | None) -> str:
    """Let this process be in a ROS domain, and return which.

    Args:
        domain: None: as the environment says.

    Raises:
        VerbError: the environment says nonsense, which ROS itself would only notice half-way.
    """
    if domain is not None:
        os.environ["ROS_DOMAIN_ID"] = str(domain)
    text = os.environ.get("ROS_DOMAIN_ID", "").strip() or "0"
    if not text.isdecimal() or int(text) > LARGEST_DOMAIN:
        raise VerbError(f"ROS_DOMAIN_ID is '{text}': a number from 0 to {LARGEST_DOMAIN} is expected", BAD_INPUT)
    return text


def enter_domain(domain: int | None, *, local: bool = True) -> str:
    """Give this process the environment of the nodes that it starts, and return its ROS domain.

    Call it before rclpy is initialised: Fast DDS reads its environment then.

    Args:
        domain: None: as the environment says.
        local: the graph stays on this machine unless the user has chosen; a robot's drivers may run on another one.

    Raises:
        VerbError: as from ``choose_domain``.
    """
    from hvs_ros.bringup import graph_environment, local_environment

    chosen = choose_domain(domain)
    os.environ.update(local_environment() if local else graph_environment())
    return chosen


@contextmanager
def claimed(domain: str, namespace: str) -> Iterator[None]:
    """Let no second graph into the same domain and namespace of this machine.

    The graph itself shows other systems too, but only once they have been discovered, and two that start in the
    same second have not.

    Raises:
        VerbError: another one is there.
    """
    name = f"hvs_sim_{os.getuid()}_{domain}_{namespace.strip('/').replace('/', '.')}.lock"
    with (Path(tempfile.gettempdir()) / name).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise VerbError(
                f"another hvs sim, bench, up, real or check-signs runs in ROS domain {domain} on this machine: give"
                " this one a domain of its own (--domain or ROS_DOMAIN_ID), or a --namespace"
            ) from error
        yield
