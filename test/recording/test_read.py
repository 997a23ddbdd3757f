"""An episode read back is the episode that was recorded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from recording_builders import DEFINITIONS, KINDS, Sent, episode, header, message, write

from hvs_ros.angles import Direction
from hvs_ros.recording import RecordingError, decode, from_search, read_episode
from hvs_ros.recording.definitions import store_of
from hvs_ros.search.action import Rotate, Submit
from hvs_ros.search.decision import Decision, ParseStatus, Usage
from hvs_ros.search.episode import Outcome, TurnTimes
from hvs_ros.search.loop import run_search
from hvs_ros.search.task import Task, TaskKind
from hvs_ros.search.view import Arrival, MoveOutcome, Observation, View


def test_everything_comes_back(tmp_path: Path) -> None:
    with write(tmp_path) as bag:
        pass
    record = read_episode(bag.path)
    assert (record.search_id, record.policy, record.parameters) == ("s1", "signs", {"reader": "rapidocr"})
    assert record.task == Task("find the exit sign", TaskKind.OBJECT, 10)
    assert (record.outcome, record.guess, record.problem, record.scene) == (Outcome.SUBMITTED, False, "", "hall")
    assert record.submitted == Direction(140.0, -8.0)
    assert record.looking is not None and record.looking.angle_to_deg(Direction(135.0, -10.0)) < 1e-9
    assert record.head.hfov_deg == pytest.approx(100.0) and record.head.kind == "panorama"
    assert (record.head.yaw_deg, record.head.pitch_deg) == ((-140.0, 150.0), (-45.0, 60.0)), "what could be reached"
    assert record.duration_s == pytest.approx(1.231)
    assert [turn.decision.action for turn in record.turns] == [
        Rotate(90.0, 0.0),
        Rotate(45.0, -10.0),
        Submit(140.0, -8.0),
    ]
    first = record.turns[0]
    assert first.view is not None and (first.view.width, first.view.height) == (320, 180)
    assert first.view.stamp_ns == first.view_stamp_ns
    assert (first.move, record.turns[2].move) == (MoveOutcome.REACHED, None)
    assert first.times == TurnTimes(0.01, 0.2, 0.3)
    assert first.decision.usage == Usage(1200, 40, None)
    assert (first.decision.thought, first.decision.raw) == ("I look for it", "rotate(90,0)")


def test_the_mcap_file_alone_is_enough(tmp_path: Path) -> None:
    with write(tmp_path) as bag:
        pass
    moved = tmp_path / "mailed.mcap"
    (bag.path / "bag.mcap").rename(moved)
    record = read_episode(moved)
    assert len(record.turns) == 3 and "unfinished" in record.problem


def test_an_unfinished_bag_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    bag = write(tmp_path, episode(done=False)[:-1])
    bag.flush()
    bag.abandon("killed")
    record = read_episode(bag.path)
    assert record.outcome is None and len(record.turns) == 2
    assert "unfinished" in record.problem


@pytest.mark.parametrize("encoding", ["rgb8", "rgb16"])
def test_raw_views_are_read(tmp_path: Path, encoding: str) -> None:
    sent = [item for item in episode() if not item.topic.endswith("compressed")]
    stamps = [item.ns for item in episode() if item.topic.endswith("compressed")]
    red = np.zeros((4, 7, 3), np.uint8)
    red[:, :6] = (255, 0, 0)
    for ns in stamps:
        # rows are longer than the pixels in them
        rows = red if encoding == "rgb8" else (red.astype("<u2") * 257).view(np.uint8)
        fields = {"width": 6, "height": 4, "encoding": encoding, "step": rows[0].size, "data": rows.reshape(-1)}
        sent.append(
            Sent("/head/camera/image_raw", ns, message(KINDS["head/camera/image_raw"], header=header(ns), **fields))
        )
    with write(tmp_path, sorted(sent, key=lambda item: item.ns)) as bag:
        pass
    view = read_episode(bag.path).turns[0].view
    assert view is not None and (view.width, view.height) == (6, 4)
    picture = cv2.imdecode(np.frombuffer(view.jpeg, np.uint8), cv2.IMREAD_COLOR)
    assert picture[..., 2].min() > 220 and picture[..., 0].max() < 40


def test_a_missing_view_is_none(tmp_path: Path) -> None:
    with write(tmp_path, [item for item in episode() if not item.topic.endswith("compressed")]) as bag:
        pass
    assert [turn.view for turn in read_episode(bag.path).turns] == [None] * 3


@pytest.mark.parametrize("wrong", ["nothing", "empty folder", "empty file", "no mcap", "no search"])
def test_what_is_no_episode_is_refused_by_name(tmp_path: Path, wrong: str) -> None:
    path = tmp_path / "bag"
    if wrong == "no search":
        with write(tmp_path, [item for item in episode() if item.topic == "/head/pose"]):
            pass
    elif wrong != "nothing":
        path.mkdir()
        if wrong == "empty file":
            (path / "bag.mcap").write_bytes(b"")
        if wrong == "no mcap":
            (path / "bag.mcap").write_bytes(b"GIF89a" * 100)
    with pytest.raises(RecordingError, match="bag"):
        read_episode(path)


def test_numbers_are_those_of_the_interfaces() -> None:
    """The tables of decode.py follow the order of the core's enumerations; the definitions must have the same."""

    def constants(text: str) -> dict[str, int]:
        pairs = (
            line.split("#")[0].split("=") for line in text.splitlines() if line.startswith("uint8") and "=" in line
        )
        return {left.split()[1]: int(right) for left, right in pairs}

    interfaces = Path(__file__).parents[2] / "interfaces"
    search = constants((interfaces / "action" / "Search.action").read_text())
    move = constants((interfaces / "action" / "MoveHead.action").read_text())
    turn = constants(DEFINITIONS["hvs_interfaces/msg/Turn"].text)
    state = constants(DEFINITIONS["hvs_interfaces/msg/SearchState"].text)
    assert {item.name: number for number, item in decode.OUTCOMES.items()}.items() <= search.items()
    assert {item.name: number for number, item in decode.MOVES.items()}.items() <= move.items()
    assert {f"STATUS_{item.name}": number for number, item in decode.STATUSES.items()}.items() <= turn.items()
    assert {kind.name: number for number, kind in decode.TARGETS.items()}.items() <= search.items()
    assert (turn["ROTATE"], turn["SUBMIT"]) == (decode.ROTATE, decode.SUBMIT)
    assert [state[name] for name in ("IDLE", "LOOKING", "THINKING", "MOVING", "DONE")] == list(range(5))


def test_stamps_are_read_without_decoding() -> None:
    data = message("hvs_interfaces/msg/HeadPose", header=header(1_234_567_890_123_456_789))
    assert decode.header_stamp_ns(data) == 1_234_567_890_123_456_789
    store = store_of({"hvs_interfaces/msg/HeadPose": DEFINITIONS["hvs_interfaces/msg/HeadPose"].text})
    pose = store.deserialize_cdr(data, "hvs_interfaces/msg/HeadPose")
    big = bytes(store.serialize_cdr(pose, "hvs_interfaces/msg/HeadPose", little_endian=False))
    assert decode.header_stamp_ns(big) == 1_234_567_890_123_456_789


def test_a_search_of_this_process_makes_the_same_record() -> None:
    class Head:
        direction = Direction(0.0, 0.0)

        def look(self) -> View:
            return View(np.zeros((36, 64, 3), np.uint8), self.direction, 5, 100.0, "exact")

        def turn_to(self, goal: Direction) -> Arrival:
            self.direction = goal
            return Arrival(MoveOutcome.REACHED, goal)

    class Decider:
        def start(self, task: Task) -> None:
            pass

        def decide(self, observation: Observation) -> Decision:
            if observation.turn == 1:
                return Decision(None, status=ParseStatus.NO_ANSWER)
            return Decision(Rotate(90.0, 0.0)) if observation.turn == 2 else Decision(Submit(-90.0, 0.0), guess=True)

    task = Task("find it")
    record = from_search(run_search(task, Head(), Decider()), task, policy="p", scene="hall", duration_s=2.0)
    assert [turn.number for turn in record.turns] == [1, 2, 3]
    assert (record.submitted, record.guess, record.looking) == (Direction(270.0, 0.0), True, Direction(90.0, 0.0))
    assert record.turns[0].view is not None and record.turns[0].view.width == 64
    assert record.duration_s == pytest.approx(2.0) and record.head.hfov_deg == 100.0
    assert replace(record, turns=()).travel_deg == 0.0 and record.travel_deg == pytest.approx(90.0)
