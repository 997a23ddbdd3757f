"""A connection to a Ray cluster, or a cluster on this machine that lives as long as it is needed, without Ray's noise.

No dashboard, no usage statistics, no log lines of workers unless they are asked for; the files of a cluster that is
started here go with it. Ray changes how a process acts on signals, which is put back.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import shutil
import signal
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

LOCAL = "local"
CONNECT_LIMIT_S = 5.0
STORE_BYTES = 100 * 1024 * 1024
"""For objects of a cluster on this machine; episodes and results are small."""
LONGEST_FOLDER = 40
"""Characters: sockets lie below it, whose whole path may have 107."""


class RayError(Exception):
    """A run on a Ray cluster cannot begin; the message says why in one line, and what to do."""


@contextmanager
def ray_session(address: str, *, cpus: float = 1.0, verbose: bool = False) -> Iterator[Any]:
    """Connect to a cluster, or start one, and yield the package ray; at the end, leave it, or end it.

    Where this process has a connection already, that one is used and stays. Enter it in a thread that lives as long,
    best the main one: the processes of a cluster that is started end with the thread that started them.

    Args:
        address: auto (RAY_ADDRESS, or the cluster on this machine), local (one is started), host:port, ray://host:port.
        cpus: that a cluster which is started must have at least, whatever this machine has.
        verbose: what workers print is shown.

    Raises:
        RayError: ray is not installed, or there is no cluster at the address, or one of another version.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray = _package(address)
    if ray.is_initialized():
        yield ray
        return
    quiet = {"log_to_driver": verbose, "logging_level": logging.WARNING if verbose else logging.CRITICAL}
    with contextlib.ExitStack() as stack:
        if address == LOCAL:
            options = {"address": LOCAL, **_small(stack.enter_context(_folder()), cpus)}
        else:
            _check_reachable(address)
            options = {"address": address}
        if not verbose:
            stack.enter_context(_without_messages())
        try:
            with _signals_as_they_were():
                ray.init(**options, **quiet)
        except Exception as error:  # whatever it is, it is about this connection
            raise RayError(f"--ray {address}: {_first_line(error)}; {_advice(address, error)}") from error
        try:
            yield ray
        finally:
            with _signals_as_they_were():
                ray.shutdown()


def _package(address: str) -> Any:
    try:
        if address.startswith("ray://"):
            importlib.import_module("grpc")
        return importlib.import_module("ray")
    except ImportError as error:
        if error.name == "grpc":
            raise RayError("a ray:// address needs Ray's client: pip install 'ray[client]'") from error
        raise RayError(
            "--ray needs the package ray: the extra 'ray' of hvs_ros, pip install -e '.[ray]' in its folder, on every"
            " machine of the cluster"
        ) from error


def _small(folder: Path, cpus: float) -> dict[str, Any]:
    """Return what a cluster on this machine is started with: no more than a run needs."""
    options: dict[str, Any] = {
        "num_cpus": max(os.cpu_count() or 1, -(-int(cpus * 1000) // 1000)),
        "include_dashboard": False,
        "object_store_memory": STORE_BYTES,
        "_temp_dir": str(folder),
    }
    shared_memory = Path("/dev/shm")
    if not shared_memory.is_dir() or shutil.disk_usage(shared_memory).free < 2 * STORE_BYTES:
        options["_plasma_directory"] = str(folder)
    return options


@contextmanager
def _folder() -> Iterator[Path]:
    where = tempfile.gettempdir()
    folder = Path(tempfile.mkdtemp(prefix="hvs_ray_", dir=where if len(where) <= LONGEST_FOLDER else "/tmp"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _check_reachable(address: str) -> None:
    """Find out what Ray itself would only say after a minute."""
    if "/" not in address and ":" not in address:
        return
    try:
        parts = urlsplit(address if "://" in address else f"//{address}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or not port:
        raise RayError(f"--ray {address}: give auto, local, HOST:PORT or ray://HOST:PORT")
    try:
        with socket.create_connection((host, port), CONNECT_LIMIT_S) as connection:
            if os.environ.get("RAY_USE_TLS", "0") == "0" and not _speaks_grpc(connection):
                raise RayError(
                    f"--ray {address}: whoever answers there is no Ray cluster; its port is 6379 unless it was started"
                    " with another one, that of a ray:// address 10001"
                )
    except OSError as error:
        reason = error.strerror or error
        raise RayError(f"--ray {address}: nobody answers there ({reason}); {_advice(address)}") from error


def _speaks_grpc(connection: socket.socket) -> bool:
    """Return whether the first thing that comes back is what an HTTP/2 server says first: its settings."""
    connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0)))
    try:
        header = connection.recv(9)
    except TimeoutError:
        return False
    return len(header) == 9 and header[3] == 4


def _advice(address: str, error: BaseException | None = None) -> str:
    if address == LOCAL:
        return "the run needs no cluster: leave out --ray"
    while error is not None:
        if "AuthToken" in str(error) or "Authentication" in type(error).__name__:
            return "it wants a token: set RAY_AUTH_MODE=token, with its token in ~/.ray/auth_token or RAY_AUTH_TOKEN"
        error = error.__cause__
    return "start a cluster with 'ray start --head', or give --ray local for one on this machine"


def _first_line(error: BaseException) -> str:
    text = str(error).strip() or repr(error)
    return " ".join(text.split("\n\n")[0].split())[:300].rstrip(".")


@contextmanager
def _without_messages() -> Iterator[None]:
    """Keep Ray from printing that a worker died, in twenty lines; it has no setting for that."""
    worker: Any = importlib.import_module("ray._private.worker")
    printing = getattr(worker, "print_to_stdstream", None)
    if printing is None:
        yield
        return
    worker.print_to_stdstream = lambda *_, **__: None
    try:
        yield
    finally:
        worker.print_to_stdstream = printing


@contextmanager
def _signals_as_they_were() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.getsignal(number) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
