"""``hvs bench``: runs the benchmark on a data set in its published layout, and all that is done with the results.

Each action is a module of this package, ``bench_<action>``, with HELP, ``add_arguments(parser)`` and
``run(args) -> int``. To run is what is meant mostly, so ``hvs bench DIR`` is ``hvs bench run DIR``; a data set whose
folder is called like an action is written with a slash (``./check``).
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Sequence
from typing import Protocol

NAME = "bench"
HELP = "run H*Bench on a data set and print the paper's table; check data sets, compare, merge and report runs"

RUN = "run"
ACTIONS = (RUN, "check", "compare", "merge", "show", "report")
"""In the order of the help."""


class Action(Protocol):
    """What an action's module offers."""

    HELP: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the options."""

    def run(self, args: argparse.Namespace) -> int:
        """Do it, and return the exit code."""


EPILOG = "`hvs bench DIR` runs the benchmark on the data set DIR; its options: `hvs bench run --help`."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the actions and their options."""
    usage = f"{parser.prog} DIR [OPTION ...]", f"{parser.prog} [-h] ACTION ..."
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True, title="actions", prog=parser.prog)
    parser.usage, parser.epilog = "\n       ".join(usage), EPILOG
    for name in ACTIONS:
        action = _action(name)
        short = usage[0] if name == RUN else None  # all options of a run are a screen of usage before each error
        action.add_arguments(actions.add_parser(name, usage=short, help=action.HELP, description=action.HELP))


def run(args: argparse.Namespace) -> int:
    """Do what the action says."""
    return _action(args.action).run(args)


def with_action(arguments: Sequence[str]) -> list[str]:
    """Return a command line in which ``bench`` is followed by an action: ``run`` where none is named.

    Args:
        arguments: what follows ``hvs``; of other verbs it is returned as it is.
    """
    verb, *rest = arguments or [""]
    if verb != NAME or not rest or rest[0] in (*ACTIONS, "-h", "--help"):
        return list(arguments)
    return [verb, RUN, *rest]


def _action(name: str) -> Action:
    module: Action = importlib.import_module(f"hvs_ros.cli.bench_{name}")
    return module
