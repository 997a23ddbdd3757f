"""A connection to a Ray cluster, or a cluster on this machine that lives as long as it is needed, without Ray's noise.

No dashboard, no usage statistics, no log lines of workers unless they are asked for; the files of a cluster that is
started here go with it.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib
import logging
import os
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

LOCAL = "local"
CONNECT_LIMIT_S = 5.0
STORE_BYTES = 100 * 1024 * 1024
"""For objects of a cluster on this machine; episodes and results are small."""
FOLDER, IN_USE = "hvs_ray_", "in_use"
"""Of a cluster on this machine; the file in it is locked as long as it is needed."""
STALE_S = 60.0
"""A folder that is older and not locked was left by a run that was killed."""
LONGEST_FOLDER = 40
"""Characters: sockets lie below it, whose whole path may have 107."""


class RayError(Exception):
    """A run on a Ray cluster cannot begin; the message says why in one line, and what to do."""


@contextmanager
def ray_session(address: str, *, cpus: float = 1.0, verbose: bool = False) -> Iterator[Any]:
    """Connect to a cluster, or start one, and yield the package ray; at the end, leave it, or end it.

    Where this process has a connection already, that one is used and stays. Interrupted while it connects, it ends in
    order, which may take the seconds that a start takes.

    Args:
        address: auto (RAY_ADDRESS, or the cluster on this machine), local (one is started), host:port, ray://host:port.
        cpus: that a cluster which is started must have at least, whatever this machine has.
        verbose: what workers print is shown.

    Raises:
        RayError: ray is not installed, or there is no cluster at the address, or one of another version.
    """
    session = _Session(address, cpus, verbose)
    session.start()
    try:
        session.opened.wait()
        if session.error is not None:
            raise session.error
        yield session.ray
    finally:
        session.over.set()
        session.join()


class _Session(threading.Thread):
    """Lives as long as the connection.

    A thread of its own, for two reasons: the processes of a cluster end with the thread that started them, and only in
    a main thread would Ray take over the signals of the process and be cut short by them.
    """

    def __init__(self, address: str, cpus: float, verbose: bool) -> None:
        super().__init__(name="ray", daemon=True)
        self.ray: Any = None
        self.error: BaseException | None = None
        self.opened, self.over = threading.Event(), threading.Event()
        self._address, self._cpus, self._verbose = address, cpus, verbose

    def run(self) -> None:
        """Connect, wait until it is over, and disconnect."""
        try:
            with contextlib.ExitStack() as stack:
                self.ray = self._connected(stack)
                self.opened.set()
                self.over.wait()
        except BaseException as error:  # the waiting thread raises it
            self.error = error
        finally:
            self.opened.set()

    def _connected(self, stack: contextlib.ExitStack) -> Any:
        address, verbose = self._address, self._verbose
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        ray = _package(address)
        if ray.is_initialized():
            return ray
        if address == LOCAL:
            options = {"address": LOCAL, **_small(stack.enter_context(_folder()), self._cpus)}
        else:
            _check_reachable(address)
            options = {"address": address}
        if not verbose:
            stack.enter_context(_without_messages())
        stack.callback(ray.shutdown)
        try:
            ray.init(**options, log_to_driver=verbose, logging_level=logging.WARNING if verbose else logging.CRITICAL)
        except Exception as error:  # whatever it is, it is about this connection
            raise RayError(f"--ray {address}: {_first_line(error)}; {_advice(address, error)}") from error
        return ray


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
    """Make a folder for the files of a cluster, and remove it with those that killed runs have left."""
    temporary = tempfile.gettempdir()
    where = Path(temporary if len(temporary) <= LONGEST_FOLDER else "/tmp")
    for old in where.glob(f"{FOLDER}*"):
        with contextlib.suppress(OSError):
            if time.time() - old.stat().st_mtime > STALE_S:
                with (old / IN_USE).open("w") as lock:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    _remove(old)
    folder = Path(tempfile.mkdtemp(prefix=FOLDER, dir=where))
    with (folder / IN_USE).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield folder
        finally:
            _remove(folder)


def _remove(folder: Path) -> None:
    """Remove a folder; whoever is just ending may write one more line into it."""
    for _ in range(10):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(0.1)


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
