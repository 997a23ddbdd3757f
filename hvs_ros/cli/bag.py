"""``hvs bag``: are these recordings whole, and what is in one?"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from hvs_ros.cli.arguments import path
from hvs_ros.cli.error import BAD_INPUT, FAILED, VerbError

NAME = "bag"
HELP = "check recorded episodes, rescue damaged ones, look into one"
DETAIL_LENGTH = 400


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    about = "name every damaged or unfinished bag of a folder; exit code 1 when there is one"
    verify = actions.add_parser("verify", help=about, description=about)
    verify.add_argument(
        "directory", type=path, metavar="DIR", help="folder that episodes are recorded into, or one bag"
    )
    verify.add_argument(
        "--recover",
        action="store_true",
        help="put a bag with everything that can be read in the place of each; the original stays as NAME.damaged",
    )
    about = "say what a bag holds: the task, its end, every turn; exit code 1 when it is damaged"
    info = actions.add_parser("info", help=about, description=about)
    info.add_argument("bag", type=path, nargs="+", metavar="BAG", help="folder of a bag")


def run(args: argparse.Namespace) -> int:
    """Check or show."""
    return _verify(args.directory, args.recover) if args.action == "verify" else _info(args.bag)


def _verify(directory: Path, recover: bool) -> int:
    from hvs_ros.benchmark.progress import shorten
    from hvs_ros.recording.errors import RecordingError
    from hvs_ros.recording.verify import BagState, verify_directory

    try:
        verdicts = verify_directory(directory, recover=recover)
    except RecordingError as error:
        raise VerbError(str(error), BAD_INPUT) from error
    for verdict in verdicts:
        # What a damaged file says may be long and of many lines.
        detail = f": {shorten(verdict.detail, DETAIL_LENGTH)}" if verdict.detail else ""
        print(f"{verdict.state.value:<15} {verdict.path.name} ({verdict.messages} messages){detail}")
    wrong = [verdict for verdict in verdicts if not verdict.fine]
    rescued = sum(verdict.state is BagState.RECOVERED for verdict in verdicts)
    print(f"{len(verdicts)} bags, {len(wrong)} not in order" + (f", {rescued} recovered" if rescued else ""))
    if not recover and any(v.messages and v.state in (BagState.UNFINISHED, BagState.DAMAGED) for v in wrong):
        print(f"what can be read of them is rescued by: hvs bag verify {directory} --recover")
    return FAILED if wrong else 0


def _info(bags: list[Path]) -> int:
    from hvs_ros.benchmark.progress import plain, shorten
    from hvs_ros.recording import RecordingError, read_episode
    from hvs_ros.recording.episode import EpisodeRecord
    from hvs_ros.recording.verify import BagState, verify_bag
    from hvs_ros.report.command import command
    from hvs_ros.report.words import degrees, seconds

    def show(record: EpisodeRecord) -> None:
        outcome = record.outcome.value if record.outcome else "its end is not recorded"
        started = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(record.started_ns / 1e9))
        answer = f", submitted {degrees(record.submitted)}" if record.submitted else ""
        print(f"{record.path}\n  task     {plain(record.task.instruction)} ({record.task.kind.value})")
        print(f"  search   {record.search_id}, {started}, {seconds(record.duration_s)}")
        print(f"  scene    {record.scene or '(not known)'}\n  policy   {record.policy} {dict(record.parameters) or ''}")
        print(f"  end      {outcome}{': ' + plain(record.message) if record.message else ''}{answer}")
        for turn in record.turns:
            print(f"  turn {turn.number:<3} {degrees(turn.direction)}: {command(turn)}")

    def whole(folder: Path) -> bool:
        verdict = verify_bag(folder)
        if verdict.fine:
            if verdict.state is BagState.RECORDING:
                print(f"  state    {verdict.state.value}")
            return True
        print(f"  state    {verdict.state.value.upper()}: {shorten(verdict.detail, DETAIL_LENGTH)}")
        print(f"           what can be read is rescued by: hvs bag verify {folder} --recover")
        return False

    failed = False
    for bag in bags:
        if _holds_bags(bag):
            failed = True
            print(f"hvs bag: {bag} is a folder of bags; name one of them, or check all: hvs bag verify {bag}")
            continue
        try:
            show(read_episode(bag))
            failed |= not whole(bag if bag.is_dir() else bag.parent)
        except RecordingError as error:
            failed = True
            print(f"hvs bag: {shorten(str(error), DETAIL_LENGTH)}")
    return FAILED if failed else 0


def _holds_bags(folder: Path) -> bool:
    return folder.is_dir() and not any(folder.glob("*.mcap")) and any(folder.glob("*/*.mcap"))
