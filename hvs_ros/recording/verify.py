"""Says which bags of a directory are whole, and rescues what can be rescued of the others.

Every byte of every bag is read: an index that is fine says nothing about what it points to. Rescuing never destroys:
the new bag takes the name, the old folder is kept beside it as ``NAME.damaged``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from rosbags.rosbag2 import Reader

from hvs_ros.recording.bag import MARKER, METADATA, is_being_written
from hvs_ros.recording.errors import RecordingError
from hvs_ros.recording.read import bag_files, read_episode
from hvs_ros.recording.recover import DAMAGED_SUFFIX, recover_bag
from hvs_ros.recording.scan import McapScan


class BagState(Enum):
    """What a bag turned out to be."""

    WHOLE = "whole"
    RECORDING = "being recorded"
    UNFINISHED = "unfinished"
    DAMAGED = "damaged"
    EMPTY = "empty"
    NO_EPISODE = "not an episode"
    RECOVERED = "recovered"


@dataclass(frozen=True)
class BagVerdict:
    """One bag.

    Attributes:
        path: its folder.
        state: what it is.
        detail: what is wrong, and what was done.
        messages: that can be read.
        instruction: what was searched for, where that is known.
    """

    path: Path
    state: BagState
    detail: str = ""
    messages: int = 0
    instruction: str = ""

    @property
    def fine(self) -> bool:
        """Nothing has to be done about it."""
        return self.state in (BagState.WHOLE, BagState.RECORDING, BagState.RECOVERED)


def verify_directory(directory: Path | str, *, recover: bool = False) -> list[BagVerdict]:
    """Check every bag in a directory (or the directory, if it is a bag), sorted by name.

    Args:
        directory: where recordings lie. What is no bag, and the originals of rescued ones, is passed over.
        recover: write a new bag with everything that can be read in place of each damaged or unfinished one.

    Raises:
        RecordingError: no such directory, or no bag in it.
    """
    directory = Path(directory)
    if not directory.is_dir():
        raise RecordingError(f"{directory}: there is no such folder")
    folders = [directory] if _is_bag(directory) else list(_bags(directory))
    if not folders:
        raise RecordingError(f"{directory}: no bag is there; the folder that episodes are recorded into is expected")
    return [_recovered(verdict) if recover else verdict for verdict in map(verify_bag, folders)]


def verify_bag(folder: Path) -> BagVerdict:
    """Check one bag."""
    if is_being_written(folder):
        return BagVerdict(folder, BagState.RECORDING, "a recorder is writing it")
    try:
        files = bag_files(folder)
    except RecordingError:
        return BagVerdict(folder, BagState.EMPTY, "no .mcap file is in the folder")
    counts: Counter[str] = Counter()
    problems: list[str] = []
    for file in files:
        scan = McapScan(file)
        try:
            counts.update(channel.topic for channel, _, _ in scan.messages())
        except RecordingError as error:
            problems.append(str(error))
        if scan.problem:
            problems.append(f"{file.name}: {scan.problem}")
    messages = counts.total()
    finished = (folder / METADATA).exists()
    if finished:
        problems += _index_problems(folder, counts)
    if messages == 0:
        return BagVerdict(folder, BagState.EMPTY, "; ".join(problems) or "no message is in it")
    try:
        record = read_episode(folder)
    except RecordingError as error:
        state = BagState.DAMAGED if problems else BagState.NO_EPISODE
        return BagVerdict(folder, state, "; ".join([*problems, str(error)]), messages)
    instruction = record.task.instruction
    if not finished:
        detail = "; ".join(["never finished (no metadata.yaml)", *problems])
        return BagVerdict(folder, BagState.UNFINISHED, detail, messages, instruction)
    if problems:
        return BagVerdict(folder, BagState.DAMAGED, "; ".join(problems), messages, instruction)
    detail = "" if record.outcome is not None else "the end of the search is not in it"
    return BagVerdict(folder, BagState.WHOLE, detail, messages, instruction)


def _recovered(verdict: BagVerdict) -> BagVerdict:
    if verdict.state not in (BagState.UNFINISHED, BagState.DAMAGED) or verdict.messages == 0:
        return verdict
    try:
        kept, messages = recover_bag(verdict.path)
    except RecordingError as error:
        return replace(verdict, detail=f"{verdict.detail}; not recovered: {error}")
    detail = f"{messages} messages; it was {verdict.state.value}: {verdict.detail}; the original is kept as {kept.name}"
    return BagVerdict(verdict.path, BagState.RECOVERED, detail, messages, verdict.instruction)


def _index_problems(folder: Path, counts: Counter[str]) -> list[str]:
    """Return where the index and metadata.yaml disagree with what is really there."""
    try:
        with Reader(folder) as reader:
            promised: Counter[str] = Counter()
            for connection in reader.connections:
                promised[connection.topic] += connection.msgcount
    except Exception as error:  # a damaged index breaks its reader in every way there is
        return [f"{METADATA} or the index is not readable: {error}"]
    wrong = [
        f"{topic}: {promised[topic]} messages promised, {counts[topic]} there"
        for topic in sorted({*promised, *counts})
        if promised[topic] != counts[topic]
    ]
    return wrong


def _is_bag(folder: Path) -> bool:
    return (folder / METADATA).exists() or (folder / MARKER).exists() or any(folder.glob("*.mcap"))


def _bags(directory: Path) -> Iterator[Path]:
    for folder in sorted(directory.iterdir()):
        hidden = folder.name.startswith(".") or DAMAGED_SUFFIX in folder.suffixes
        if folder.is_dir() and not hidden and _is_bag(folder):
            yield folder
