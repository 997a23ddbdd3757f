"""Every damaged bag is named, what can be read is rescued, nothing is destroyed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from recording_builders import episode, write
from rosbags.rosbag2 import Reader

from hvs_ros.recording import RecordingError, read_episode, verify_directory
from hvs_ros.recording.verify import BagState


def finished(directory: Path, name: str = "bag", **more: object) -> Path:
    with write(directory, episode(**more), name) as bag:  # type: ignore[arg-type]
        bag.description = {"search_id": "s1"}
    return bag.path


def state_of(directory: Path) -> BagState:
    (verdict,) = verify_directory(directory)
    return verdict.state


def test_a_whole_bag_is_whole(tmp_path: Path) -> None:
    finished(tmp_path)
    (verdict,) = verify_directory(tmp_path)
    assert (verdict.state, verdict.detail, verdict.instruction) == (BagState.WHOLE, "", "find the exit sign")
    assert verdict.fine and verdict.messages == len(episode())


def test_a_bag_may_be_named_itself(tmp_path: Path) -> None:
    assert [verdict.path for verdict in verify_directory(finished(tmp_path))] == [tmp_path / "bag"]


def test_a_search_without_an_end_is_whole_and_says_so(tmp_path: Path) -> None:
    finished(tmp_path, done=False)
    (verdict,) = verify_directory(tmp_path)
    assert verdict.state is BagState.WHOLE and "end of the search" in verdict.detail


@pytest.mark.parametrize("cut", [1, 8, 40, 3000, 20_000])
def test_a_file_that_was_cut_is_damaged_and_rescued_up_to_the_cut(tmp_path: Path, cut: int) -> None:
    path = finished(tmp_path)
    file = path / "bag.mcap"
    os.truncate(file, file.stat().st_size - cut)
    before = file.read_bytes()
    (verdict,) = verify_directory(tmp_path)
    assert verdict.state is BagState.DAMAGED and "bag.mcap" in verdict.detail
    (rescued,) = verify_directory(tmp_path, recover=True)
    assert rescued.state is BagState.RECOVERED and rescued.messages == verdict.messages
    assert (tmp_path / "bag.damaged" / "bag.mcap").read_bytes() == before, "the original is kept"
    with Reader(path) as reader:
        assert reader.message_count == verdict.messages
    assert state_of(tmp_path) is BagState.WHOLE
    assert read_episode(path).problem == ""


def test_missing_metadata_is_written_again(tmp_path: Path) -> None:
    path = finished(tmp_path)
    (path / "metadata.yaml").unlink()
    assert state_of(tmp_path) is BagState.UNFINISHED
    assert [verdict.state for verdict in verify_directory(tmp_path, recover=True)] == [BagState.RECOVERED]
    assert len(read_episode(path).turns) == 3


def test_latched_topics_stay_latched_in_what_is_rescued(tmp_path: Path) -> None:
    path = finished(tmp_path)
    (path / "metadata.yaml").unlink()
    verify_directory(tmp_path, recover=True)
    with Reader(path) as reader:
        durability = {c.topic: c.ext.offered_qos_profiles[0].durability.name for c in reader.connections}
    assert durability["/search/state"] == "TRANSIENT_LOCAL" and durability["/search/turn"] == "VOLATILE"


def test_counts_that_disagree_are_named(tmp_path: Path) -> None:
    path = finished(tmp_path)
    text = (path / "metadata.yaml").read_text()
    (path / "metadata.yaml").write_text(text.replace("message_count: 3\n", "message_count: 4\n", 1))
    (verdict,) = verify_directory(tmp_path)
    assert verdict.state is BagState.DAMAGED and "4 messages promised, 3 there" in verdict.detail


@pytest.mark.parametrize(
    ("content", "state"),
    [(b"", BagState.EMPTY), (b"\x89MCAP0\r\n", BagState.EMPTY), (b"GIF89a" * 50, BagState.EMPTY)],
)
def test_files_without_a_message_are_named(tmp_path: Path, content: bytes, state: BagState) -> None:
    path = finished(tmp_path)
    (path / "bag.mcap").write_bytes(content)
    (verdict,) = verify_directory(tmp_path, recover=True)
    assert verdict.state is state and verdict.detail and not verdict.fine
    assert (path / "bag.mcap").read_bytes() == content


def test_noise_in_the_middle_never_crashes(tmp_path: Path) -> None:
    path = finished(tmp_path)
    good = (path / "bag.mcap").read_bytes()
    for place in range(0, len(good), len(good) // 15):
        bad = bytearray(good)
        bad[place : place + 5] = b"\xff\xfe\xff\xff\xff"
        (path / "bag.mcap").write_bytes(bad)
        assert isinstance(state_of(tmp_path), BagState)


def test_a_bag_of_something_else_is_no_episode(tmp_path: Path) -> None:
    with write(tmp_path, [item for item in episode() if item.topic == "/head/pose"]):
        pass
    assert state_of(tmp_path) is BagState.NO_EPISODE


def test_what_is_no_bag_is_passed_over(tmp_path: Path) -> None:
    finished(tmp_path)
    (tmp_path / "results.jsonl").write_text("{}")
    (tmp_path / "reports").mkdir()
    (tmp_path / "bag" / "report.html").write_text("<html>")
    assert state_of(tmp_path) is BagState.WHOLE


def test_nothing_to_verify_is_said(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="no bag"):
        verify_directory(tmp_path)
    with pytest.raises(RecordingError, match="no such folder"):
        verify_directory(tmp_path / "missing")


_KILLED = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from recording_builders import append, episode, write
bag = write(Path(sys.argv[1]), episode(done=False)[:-3], name="killed")
bag.flush()
append(bag, episode()[-2])  # never flushed: this is what a kill costs
print("ready", flush=True)
time.sleep(60)
"""


def test_after_a_kill_the_last_bag_is_rescued(tmp_path: Path) -> None:
    finished(tmp_path, "earlier")
    line = [sys.executable, "-c", _KILLED, str(tmp_path), str(Path(__file__).parent)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        states = {verdict.path.name: verdict.state for verdict in verify_directory(tmp_path, recover=True)}
        assert states == {"earlier": BagState.WHOLE, "killed": BagState.RECORDING}, "a living recorder is left alone"
        process.send_signal(signal.SIGKILL)
    end = time.monotonic() + 10
    while state_of(tmp_path / "killed") is BagState.RECORDING and time.monotonic() < end:
        time.sleep(0.05)
    assert state_of(tmp_path / "killed") is BagState.UNFINISHED
    rescued = {verdict.path.name: verdict for verdict in verify_directory(tmp_path, recover=True)}
    assert rescued["killed"].state is BagState.RECOVERED
    assert rescued["killed"].messages == len(episode(done=False)[:-3])
    assert len(read_episode(tmp_path / "killed").turns) == 2


def test_originals_never_overwrite_each_other(tmp_path: Path) -> None:
    for _ in range(2):
        path = finished(tmp_path)
        (path / "metadata.yaml").unlink()
        verify_directory(tmp_path, recover=True)
        shutil.rmtree(path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bag.damaged", "bag.damaged.2"]
