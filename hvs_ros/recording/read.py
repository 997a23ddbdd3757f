"""Reads a recorded episode back, finished or not.

The search's own messages are few and decoded in a first pass; of the pictures, which are most of a bag, only those that
a turn refers to are kept in a second one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rosbags.typesys.store import Typestore

from hvs_ros.angles import Direction, wrap_yaw_deg
from hvs_ros.image_encodings import ImageError, decompress, encode_jpeg, unpack
from hvs_ros.recording import decode
from hvs_ros.recording.bag import METADATA
from hvs_ros.recording.definitions import store_of
from hvs_ros.recording.episode import EpisodeRecord, RecordedHead, RecordedTurn, RecordedView
from hvs_ros.recording.errors import RecordingError
from hvs_ros.recording.info import INFO_TOPIC
from hvs_ros.recording.scan import Channel, McapScan
from hvs_ros.search.action import Submit
from hvs_ros.search.episode import Outcome

_KINDS = (decode.TURN, decode.STATE, decode.CAPABILITIES)


def bag_files(path: Path) -> list[Path]:
    """Return the MCAP files of a bag, given its folder, its metadata.yaml or one of them.

    Raises:
        RecordingError: there is none.
    """
    if path.name == METADATA:
        path = path.parent
    if not path.exists():
        raise RecordingError(f"{path}: there is no such bag")
    files = sorted(path.glob("*.mcap")) if path.is_dir() else [path]
    if not files or files[0].suffix != ".mcap":
        other = " (a bag in another storage: convert it with 'ros2 bag convert')" if _has_database(path) else ""
        raise RecordingError(f"{path}: no .mcap file is there{other}; the folder of an episode's bag is expected")
    return files


def read_episode(path: Path | str) -> EpisodeRecord:
    """Read the episode in a bag.

    Args:
        path: the bag's folder or its ``.mcap`` file.

    Raises:
        RecordingError: it cannot be read, or holds no search.
    """
    path = Path(path)
    files = bag_files(path)
    found = _Found()
    problems: list[str] = []
    for file in files:
        scan = McapScan(file)
        for channel, stamp, data in scan.messages():
            found.take(channel, stamp, data)
        if scan.problem:
            problems.append(f"{file.name}: {scan.problem}")
    folder = path if path.is_dir() else path.parent
    if not (folder / METADATA).exists():
        problems.insert(0, f"unfinished, {METADATA} is missing")
    if found.state is None:
        because = f" ({'; '.join(problems)})" if problems else ""
        raise RecordingError(f"{path}: not an episode, nothing in it says what was searched for{because}")
    views = _views(files, {decode.stamp_ns(turn.view_stamp) for turn in found.turns})
    return _record(found, views, folder, "; ".join(problems))


@dataclass
class _Found:
    """What the first pass keeps: decoded messages, as rosbags makes them."""

    state: Any = None
    by_turn: dict[tuple[str, int], Any] = field(default_factory=dict)
    capabilities: Any = None
    info: dict[str, Any] = field(default_factory=dict)
    last_ns: int = 0
    _stores: dict[str, Typestore] = field(default_factory=dict)

    @property
    def turns(self) -> list[Any]:
        """The turns of the recorded search, in order; of a bag with several searches, of the last."""
        return [turn for (search, _), turn in sorted(self.by_turn.items()) if search == self.state.search_id]

    def take(self, channel: Channel, stamp: int, data: bytes) -> None:
        self.last_ns = max(self.last_ns, stamp)
        if channel.kind in _KINDS or (channel.kind == decode.TEXT and channel.topic.endswith(INFO_TOPIC)):
            message = self._decoded(channel, data)
        else:
            return
        if channel.kind == decode.TURN:
            self.by_turn[message.search_id, message.turn] = message
        elif channel.kind == decode.STATE and message.state != decode.IDLE:
            self.state = message
        elif channel.kind == decode.CAPABILITIES:
            self.capabilities = message
        elif channel.kind == decode.TEXT:
            self.info = _object(message.data) or self.info

    def _decoded(self, channel: Channel, data: bytes) -> Any:
        return decoded(self._stores, channel, data)


def decoded(stores: dict[str, Typestore], channel: Channel, data: bytes) -> Any:
    """Return a message, decoded by the definition that the bag holds.

    Raises:
        RecordingError: it does not decode.
    """
    if channel.kind not in stores:
        if channel.encoding != "ros2msg":
            raise RecordingError(f"{channel.topic}: its definition is {channel.encoding!r}, not understood here")
        stores[channel.kind] = store_of({channel.kind: channel.definition})
    try:
        return stores[channel.kind].deserialize_cdr(data, channel.kind)
    except Exception as error:  # damaged bytes break a decoder in every way there is
        raise RecordingError(f"{channel.topic}: a message does not decode as {channel.kind}: {error!r}") from error


def _views(files: list[Path], wanted: set[int]) -> dict[int, RecordedView]:
    """Return the pictures with these stamps; a compressed one is preferred to the same picture raw."""
    views: dict[int, RecordedView] = {}
    stores: dict[str, Typestore] = {}
    for file in files:
        for channel, _, data in McapScan(file).messages():
            if channel.kind not in (decode.COMPRESSED, decode.IMAGE):
                continue
            stamp = decode.header_stamp_ns(data) if len(data) >= decode.HEADER_BYTES else 0
            if stamp in wanted and (stamp not in views or channel.kind == decode.COMPRESSED):
                view = _view(decoded(stores, channel, data), stamp, channel.kind)
                if view is not None:
                    views[stamp] = view
    return views


def _view(message: Any, stamp: int, kind: str) -> RecordedView | None:
    jpeg = b"" if kind == decode.IMAGE else bytes(message.data)
    try:
        pixels = unpack(message) if kind == decode.IMAGE else decompress(jpeg, message.format)
    except ImageError:
        return None
    if jpeg[:2] != b"\xff\xd8":
        jpeg = encode_jpeg(pixels)
    height, width = pixels.shape[:2]
    return RecordedView(jpeg, stamp, width, height)


def _record(found: _Found, views: dict[int, RecordedView], path: Path, problem: str) -> EpisodeRecord:
    turns = tuple(_turn(turn, views) for turn in found.turns)
    state = found.state
    outcome = None
    message = ""
    if state.state == decode.DONE:
        outcome, message = decode.OUTCOMES.get(state.outcome), state.message
    submitted, guess = _submitted(turns, outcome)
    return EpisodeRecord(
        search_id=state.search_id,
        task=decode.task(state),
        policy=state.policy,
        parameters=decode.settings(state),
        outcome=outcome,
        message=message,
        submitted=submitted,
        guess=guess,
        looking=turns[-1].after if turns else None,
        turns=turns,
        scene=found.capabilities.scene if found.capabilities is not None else str(found.info.get("scene", "")),
        head=RecordedHead() if found.capabilities is None else decode.head(found.capabilities),
        started_ns=decode.stamp_ns(state.started),
        ended_ns=decode.stamp_ns(state.header.stamp) if state.state == decode.DONE else found.last_ns,
        path=path,
        problem=problem,
        info=found.info,
    )


def _submitted(turns: tuple[RecordedTurn, ...], outcome: Outcome | None) -> tuple[Direction | None, bool]:
    if not turns or outcome not in (None, Outcome.SUBMITTED):
        return None, False
    last = turns[-1].decision
    if not isinstance(last.action, Submit):
        return None, False
    return Direction(wrap_yaw_deg(last.action.yaw_deg), last.action.pitch_deg), last.guess


def _turn(turn: Any, views: dict[int, RecordedView]) -> RecordedTurn:
    stamp = decode.stamp_ns(turn.view_stamp)
    return RecordedTurn(
        number=int(turn.turn),
        view=views.get(stamp),
        view_stamp_ns=stamp,
        picture=turn.picture,
        direction=decode.direction(turn.pose),
        decision=decode.decision(turn),
        move=decode.MOVES.get(turn.move_outcome),
        move_message=turn.move_message,
        after=decode.direction(turn.achieved),
        feedback=turn.feedback,
        times=decode.times(turn),
    )


def _object(text: str) -> dict[str, Any]:
    try:
        values = json.loads(text)
    except ValueError:
        return {}
    return values if isinstance(values, dict) else {}


def _has_database(path: Path) -> bool:
    return path.suffix == ".db3" or (path.is_dir() and any(path.glob("*.db3")))
