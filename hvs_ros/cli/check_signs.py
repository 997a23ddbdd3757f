"""``hvs check-signs``: four small moves, and a person who says whether they are the right ones.

Joint states cannot tell that a sign in the robot's YAML is wrong, for they carry the same sign; eyes can, and so can
the camera. What the camera saw is worked out here and never passed over. All four right: the head is no longer slow.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from hvs_ros.cli.error import FAILED, VerbError
from hvs_ros.cli.graph import require_ros
from hvs_ros.cli.head_specs import head_specs
from hvs_ros.cli.options import add_graph
from hvs_ros.cli.robot_graph import robot_graph
from hvs_ros.cli.robot_options import add_confirm, add_robot, add_running, add_wait, load
from hvs_ros.cli.robot_words import moving_text, reach_text, robot_line

if TYPE_CHECKING:
    from hvs_ros.neck.robot import Robot

NAME = "check-signs"
HELP = "four small, slow moves of a robot's head, to see that it turns the way its YAML says"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_robot(parser)
    add_confirm(parser)
    add_running(parser)
    add_wait(parser)
    add_graph(parser, log_level="warn")


def run(args: argparse.Namespace) -> int:
    """Make the moves, ask, and keep the answer."""
    require_ros()
    robot = load(args)
    specs = [] if args.running else head_specs(args, robot)
    _tell(robot_line(robot, twin=args.twin))
    asks = sys.stdin.isatty()
    if not (args.twin or _confirmed(args, robot, asks)):
        return 0
    from hvs_ros.cli.sign_session import SignSession
    from hvs_ros.nodes.watched_head import watched_head
    from hvs_ros.search.episode import SearchFailure

    with robot_graph(args, "hvs_check_signs", specs, searcher=False, say=_tell) as graph:
        _tell(f"{robot.name} may look {reach_text(graph.capabilities)}")
        try:
            with watched_head(graph.node, robot.joint_states) as head:
                session = SignSession(head, graph.capabilities, robot, _tell, _ask if asks else None)
                session.run()
        except SearchFailure as failure:
            raise VerbError(graph.trouble() or str(failure)) from failure
    return _conclude(args, robot, session, asks)


def _conclude(args: argparse.Namespace, robot: Robot, session: Any, asks: bool) -> int:
    from hvs_ros.neck.sign_check import record_pass

    for line in session.advice():
        _tell(f"in {robot.name}.yaml: {line}")
    if session.contradicted or session.denied or not session.moves:
        _tell("NOT PASSED; nothing is recorded")
        return FAILED
    if args.twin:
        _tell(
            "the twin turns the way its URDF says; nothing is recorded, for it has no driver whose signs could be wrong"
        )
    elif not asks:
        _tell("nobody was asked, for this is no terminal: nothing is recorded, and the head stays slow")
    else:
        _tell(f"passed: {robot.name} moves at full speed from its next start on ({record_pass(robot)})")
    return 0


def _confirmed(args: argparse.Namespace, robot: Robot, asks: bool) -> bool:
    moving = moving_text(robot, torso=False, base=False)
    _tell(f"{moving} will move, slowly, by about 10 degrees to each side; keep clear, the e-stop topic is head/e_stop")
    if args.confirm:
        return True
    if not asks:
        _tell("nothing was moved: this is no terminal to ask in, and --confirm was not given")
        return False
    if _ask("may it move?"):
        return True
    _tell("nothing was moved")
    return False


def _ask(question: str) -> bool:
    while True:
        try:
            answer = input(f"hvs check-signs: {question} [y/n] ").strip().lower()
        except EOFError:
            return False
        if answer in ("y", "yes", "n", "no"):
            return answer.startswith("y")


def _tell(text: str) -> None:
    print(f"hvs check-signs: {text}" if not text.startswith("[") else text, flush=True)
