"""The ``hvs`` command line.

Each verb is a module of this package with NAME, HELP, ``add_arguments(parser)`` and ``run(args) -> int``. Those modules
import what they work with inside ``run``, so that ``hvs --help`` answers at once and a verb asks for no package that it
does not use. Exit codes: 0 done, 1 tried and failed, 2 asked for something that cannot be done, 130 interrupted.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Protocol

from hvs_ros.cli.bench import with_action
from hvs_ros.cli.error import VerbError

VERBS = (
    *("sim", "bench", "up", "real", "search", "check_signs", "calibrate_latency"),
    *("view", "scenes", "policies", "model", "report", "results", "bag"),
)
"""Modules of this package, in the order of the help."""

INTERRUPTED = 130


class Verb(Protocol):
    """What a verb's module offers."""

    NAME: str
    HELP: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the options."""

    def run(self, args: argparse.Namespace) -> int:
        """Do it, and return the exit code."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    with contextlib.suppress(AttributeError):
        # A pipe gets each line when it is printed, not at the end; and a terminal that cannot show a letter is no
        # reason to end a run (standard error does the same by itself).
        odd = sys.stdout.errors in ("strict", "surrogateescape")  # the latter is what the locale C has
        errors = "backslashreplace" if odd else sys.stdout.errors
        sys.stdout.reconfigure(line_buffering=True, errors=errors)  # type: ignore[union-attr]
    _find_own_policies()
    try:
        parser = build_parser()
        args = parser.parse_args(with_action(sys.argv[1:] if arguments is None else arguments))
    except KeyboardInterrupt:
        return INTERRUPTED
    if args.verb is None:
        parser.print_help()
        return 2
    # SIGTERM means what Ctrl-C does: finish what must be finished, and go.
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        return _verb(args.verb).run(args)
    except VerbError as failure:
        print(f"hvs {args.verb}: {failure}", file=sys.stderr)
        return failure.code
    except ImportError as error:
        print(f"hvs {args.verb}: {missing_package(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"hvs {args.verb}: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has gone (`hvs ... | head`); there is nobody left to tell.
        _drop_output()
        return 1
    except OSError as error:
        # What the verbs foresee they name themselves; names too long and full disks may come anywhere.
        named = f"{error.filename!s:.300}: " if error.filename is not None else ""
        print(f"hvs {args.verb}: {named}{error.strerror or error}", file=sys.stderr)
        try:
            sys.stdout.flush()
        except OSError:  # it was the output itself
            _drop_output()
        return 1
    finally:
        signal.signal(signal.SIGTERM, before)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser with every verb."""
    parser = argparse.ArgumentParser(
        prog="hvs",
        description="Humanoid visual search: a head turns inside a panorama, or on a robot, until it has found what "
        "it was told to find.",
    )
    parser.add_argument("--version", action=_Version, help="print the version and exit")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", title="verbs")
    for name in VERBS:
        verb = _verb(name)
        verb.add_arguments(verbs.add_parser(verb.NAME, help=verb.HELP, description=verb.HELP))
    return parser


def missing_package(error: ImportError) -> str:
    """Say in one line which package is missing and what brings it."""
    name = (error.name or "").split(".")[0]
    if name == "hvs_ros":
        return f"{error}: a part of hvs_ros itself, so its installation is incomplete, or this is a bug in it"
    if name in _MISSING:
        return _MISSING[name]
    hint = f"; install it, e.g. pip install {name}" if name and isinstance(error, ModuleNotFoundError) else ""
    return f"{error}{hint}"


_ROS = (
    "ROS 2 is not there ({}): source its setup.bash, or install the extra 'ros' of hvs_ros and hvs_interfaces: "
    "pip install -e '.[ros]' ./interfaces in its folder; without it, `hvs sim --in-process` runs searches too"
)
_MISSING = {
    "rclpy": _ROS.format("rclpy cannot be imported"),
    "hvs_interfaces": _ROS.format("hvs_interfaces is not built"),
    "rosbags": "bags need the package rosbags: the extra 'record' of hvs_ros, pip install -e '.[record]' in its folder",
    "rich": "tables need the package rich: pip install rich",
    "cv2": "pictures need OpenCV: pip install opencv-python-headless",
    "pinocchio": "a robot's kinematics need pinocchio: the extra 'robot' of hvs_ros, pip install -e '.[robot]' in its"
    " folder, or '.[twin]' with the physics twin",
    "mujoco": "a physics twin needs MuJoCo: the extra 'twin' of hvs_ros, pip install -e '.[twin]' in its folder",
    "torch": "torch is not installed: the extra 'torch' of hvs_ros runs a checkpoint, 'export' exports one, pip install"
    " -e '.[export]' in its folder",
    "onnxruntime": "ONNX Runtime is not installed: the extra 'onnx' of hvs_ros, pip install -e '.[onnx]' in its folder",
    "ray": "Ray is not installed: several machines need the extra 'ray' of hvs_ros, pip install -e '.[ray]' in its"
    " folder",
    "gymnasium": "Gymnasium is not installed: the extra 'gym' of hvs_ros, pip install -e '.[gym]' in its folder",
    "dynamixel_sdk": "Dynamixel servos need dynamixel-sdk: the extra 'dynamixel' of hvs_ros, pip install -e"
    " '.[dynamixel]' in its folder",
}


def _find_own_policies() -> None:
    """Let this process find modules in the current folder too: the nodes, started as modules, find them there."""
    with contextlib.suppress(OSError):  # the folder may be gone
        folder = os.getcwd()
        if folder not in sys.path:
            sys.path.append(folder)


def _drop_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _verb(name: str) -> Verb:
    module: Verb = importlib.import_module(f"hvs_ros.cli.{name.replace('-', '_')}")
    return module


class _Version(argparse.Action):
    """Prints the version; looked up only when it is asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from hvs_ros.benchmark.settings import package_version

        print(f"hvs_ros {package_version()}")
        parser.exit()


if __name__ == "__main__":
    sys.exit(main())
