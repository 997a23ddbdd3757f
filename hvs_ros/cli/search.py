"""``hvs search "find the exit sign"``: asks a running system to search, and shows each turn."""

from __future__ import annotations

import argparse

from hvs_ros.cli.arguments import namespace, number, positive, ros_name
from hvs_ros.cli.error import BAD_INPUT, VerbError
from hvs_ros.cli.graph import choose_domain

NAME = "search"
HELP = "ask a running system (hvs sim, launch, a robot) to search for something"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("instruction", help="what to find, in words")
    parser.add_argument("--target", choices=("object", "path"), default="object", help="default object")
    parser.add_argument("--turns", type=positive, default=10, metavar="N", help="after which it ends (default 10)")
    parser.add_argument(
        "--action", type=ros_name, default="search", metavar="NAME", help="of the Search action (default search)"
    )
    parser.add_argument("--namespace", type=namespace, default="", metavar="NS", help="of the system")
    parser.add_argument("--domain", type=number(0, 232, int), metavar="ID", help="ROS domain (default: ROS_DOMAIN_ID)")
    parser.add_argument("--wait", type=number(0, 3600), default=10.0, metavar="S", help="for the system (default 10)")


def run(args: argparse.Namespace) -> int:
    """Search and print; Ctrl-C cancels the search on the other side too."""
    from hvs_ros.search.task import Task, TaskError, TaskKind

    try:
        task = Task(args.instruction, TaskKind(args.target), args.turns)
    except TaskError as error:
        raise VerbError(str(error), BAD_INPUT) from error
    choose_domain(args.domain)
    from hvs_ros.benchmark.progress import record_line, turn_line
    from hvs_ros.nodes.search_client import SearchClient, SearchClientError

    inside = args.namespace and not args.action.startswith("/")
    action = f"/{args.namespace}/{args.action}" if inside else args.action
    try:
        with SearchClient(action=action) as client:
            client.wait_for_server(args.wait)
            record = client.search(
                task.instruction,
                kind=task.kind,
                max_turns=task.max_turns,
                on_turn=lambda turn: print(turn_line(turn), flush=True),
            )
    except SearchClientError as error:
        raise VerbError(str(error)) from error
    print(record_line(record))
    return 0 if record.outcome.completed else 1
