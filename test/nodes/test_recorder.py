"""The episode recorder, driven by a stand-in for the head and the searcher."""

from __future__ import annotations

import json
import resource
import signal
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rosbags", reason="rosbags is not installed")

from diagnostic_msgs.msg import DiagnosticArray
from node_launcher import NodeProcess
from recorder_stage import LATCHED, Stage
from ros_graph import Graph, wait_until
from rosbags.interfaces import QosDurability
from rosbags.rosbag2 import Reader
from std_msgs.msg import String

from hvs_ros.recording import read_episode, verify_directory
from hvs_ros.recording.verify import BagState
from hvs_ros.search.action import Rotate, Submit
from hvs_ros.search.episode import Outcome

MODULE = "hvs_ros.nodes.episode_recorder"


class Bags:
    """What the recorder says about its bags."""

    def __init__(self, graph: Graph) -> None:
        self.messages = graph.collect(String, "recorder/episodes", LATCHED)

    def said(self, search_id: str) -> list[dict[str, Any]]:
        return [one for one in map(lambda m: json.loads(m.data), self.messages) if one["search_id"] == search_id]

    def end(self, search_id: str) -> dict[str, Any]:
        """Wait for the end of a bag; there is exactly one."""
        wait_until(
            lambda: any(one["state"] != "recording" for one in self.said(search_id)), what=f"the end of {search_id}"
        )
        ends = [one for one in self.said(search_id) if one["state"] != "recording"]
        assert len(ends) == 1
        return ends[0]

    def begun(self, search_id: str) -> Path:
        return Path(wait_until(lambda: self.said(search_id), what=f"the bag of {search_id}")[0]["path"])


@pytest.fixture
def stage(graph: Graph) -> Stage:
    return Stage(graph.node)


@pytest.fixture
def bags(graph: Graph) -> Bags:
    return Bags(graph)


def start(start_node: Any, stage: Stage, directory: Path, **more: Any) -> NodeProcess:
    process: NodeProcess = start_node(MODULE, directory=str(directory), **more)
    stage.wait_for_listeners()
    return process


def test_a_search_becomes_a_bag_with_all_of_it(start_node: Any, stage: Stage, bags: Bags, tmp_path: Path) -> None:
    start(start_node, stage, tmp_path / "new" / "folder", grace=1.0)
    stage.search("one", "find the exit sign")
    end = bags.end("one")
    assert end["state"] == "complete", end
    record = read_episode(end["path"])
    assert record.problem == ""
    assert record.task.instruction == "find the exit sign"
    assert (record.outcome, record.scene, record.policy) == (Outcome.SUBMITTED, "hall", "signs")
    assert [turn.decision.action for turn in record.turns] == [
        Rotate(90.0, 0.0),
        Rotate(45.0, -10.0),
        Submit(140.0, -8.0),
    ]
    assert all(turn.view is not None for turn in record.turns), "every view, the first one too"
    assert record.parameters == {"reader": "rapidocr"}
    assert record.info["task"]["instruction"] == "find the exit sign"
    assert record.info["nodes"]["/test"]["use_sim_time"] is False
    assert record.info["result"] == {"outcome": "SUBMITTED", "message": ""}
    assert not list(Path(end["path"]).glob("UNFINISHED"))
    with Reader(end["path"]) as reader:
        durability = {c.topic: c.ext.offered_qos_profiles[0].durability for c in reader.connections}
        counts = {c.topic: c.msgcount for c in reader.connections}
    latched = {topic for topic, kind in durability.items() if kind == QosDurability.TRANSIENT_LOCAL}
    assert latched == {"/search/state", "/head/capabilities", "/robot_description", "/recorder/episode"}
    assert counts["/head/camera/image_raw/compressed"] == 3 and "/head/camera/image_raw" not in counts
    assert counts["/head/camera/camera_info"] == 3 and counts["/search/turn"] == counts["/search/command"] == 3


def test_searches_in_a_row_do_not_mix(start_node: Any, stage: Stage, bags: Bags, tmp_path: Path) -> None:
    start(start_node, stage, tmp_path, grace=1.0)
    names = [f"s{number}" for number in range(5)]
    for name in names:
        stage.search(name, f"find {name}")
    records = [read_episode(bags.end(name)["path"]) for name in names]
    assert [record.task.instruction for record in records] == [f"find {name}" for name in names]
    assert [[turn.number for turn in record.turns if turn.view] for record in records] == [[1, 2, 3]] * 5
    assert all(verdict.state is BagState.WHOLE for verdict in verify_directory(tmp_path))


def test_a_name_may_come_again(start_node: Any, stage: Stage, bags: Bags, tmp_path: Path) -> None:
    start(start_node, stage, tmp_path)
    for _ in range(2):
        stage.search("same", "find it")
        wait_until(lambda: [one["state"] for one in bags.said("same")][-1:] == ["complete"])
        time.sleep(0.1)
    paths = {one["path"] for one in bags.said("same")}
    assert len(paths) == 2 and len(verify_directory(tmp_path)) == 2


def test_the_view_of_a_head_at_rest_from_before_the_search_is_in_the_bag(
    start_node: Any, stage: Stage, bags: Bags, tmp_path: Path
) -> None:
    start(start_node, stage, tmp_path, buffer_time=0.2)
    stamp = stage.view(0.0, 0.0)
    time.sleep(0.6)
    stage.begin("late view", "find it")
    stage.turn(1, stamp, (0.0, 0.0), "submit", (0.0, 0.0))
    stage.done(1)
    record = read_episode(bags.end("late view")["path"])
    assert record.turns[0].view is not None


def test_raw_views(start_node: Any, stage: Stage, bags: Bags, tmp_path: Path) -> None:
    start(start_node, stage, tmp_path, views="raw")
    stage.search("raw", "find it")
    path = bags.end("raw")["path"]
    with Reader(path) as reader:
        topics = {connection.topic for connection in reader.connections}
    assert "/head/camera/image_raw" in topics and "/head/camera/image_raw/compressed" not in topics
    assert all(turn.view is not None for turn in read_episode(path).turns)


def test_raw_pictures_stay_where_they_are_unless_asked_for(start_node: Any, stage: Stage, tmp_path: Path) -> None:
    start(start_node, stage, tmp_path)
    assert stage.raw.get_subscription_count() == 0


def test_a_best_effort_camera_is_heard(start_node: Any, graph: Graph, bags: Bags, tmp_path: Path) -> None:
    stage = Stage(graph.node, reliable_camera=False)
    start(start_node, stage, tmp_path)
    stage.search("best effort", "find it")
    assert all(turn.view is not None for turn in read_episode(bags.end("best effort")["path"]).turns)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_finishes_the_bag(
    start_node: Any, stage: Stage, bags: Bags, tmp_path: Path, number: signal.Signals
) -> None:
    process = start(start_node, stage, tmp_path)
    stage.begin("cut short", "find it")
    stage.turn(1, stage.view(0.0, 0.0), (0.0, 0.0), "rotate", (30.0, 0.0))
    bags.begun("cut short")
    time.sleep(0.3)
    assert process.stop(number) == 0
    (verdict,) = verify_directory(tmp_path)
    assert (verdict.state, verdict.detail) == (BagState.WHOLE, "the end of the search is not in it")
    record = read_episode(verdict.path)
    assert record.outcome is None and len(record.turns) == 1
    assert "stopped" in record.info["notes"][0]
    assert "Traceback" not in process.output


def test_after_a_kill_earlier_bags_open_and_the_last_is_rescued(
    start_node: Any, stage: Stage, bags: Bags, tmp_path: Path
) -> None:
    process = start(start_node, stage, tmp_path)
    stage.search("whole", "find the whole")
    bags.end("whole")
    stage.begin("torn", "find the torn")
    stage.turn(1, stage.view(0.0, 0.0), (0.0, 0.0), "rotate", (30.0, 0.0))
    torn = bags.begun("torn")
    wait_until(lambda: (torn / f"{torn.name}.mcap").stat().st_size > 1000, what="the file")
    time.sleep(1.2)  # two flushes
    process.kill()
    states = {verdict.instruction: verdict.state for verdict in verify_directory(tmp_path)}
    assert states == {"find the whole": BagState.WHOLE, "find the torn": BagState.UNFINISHED}
    assert read_episode(torn).problem.startswith("unfinished")
    assert {v.state for v in verify_directory(tmp_path, recover=True)} == {BagState.WHOLE, BagState.RECOVERED}
    with Reader(torn) as reader:
        assert reader.message_count > 5
    record = read_episode(torn)
    assert record.problem == "" and len(record.turns) == 1 and record.turns[0].view is not None
    assert (tmp_path / f"{torn.name}.damaged").is_dir(), "the original is kept"


def test_a_full_disk_is_said_and_the_next_search_is_recorded(
    start_node: Any, stage: Stage, graph: Graph, bags: Bags, tmp_path: Path
) -> None:
    states = graph.collect(DiagnosticArray, "/diagnostics")
    process = start(start_node, stage, tmp_path / "bags")
    # The same error that a full disk gives, for this process alone.
    resource.prlimit(process._process.pid, resource.RLIMIT_FSIZE, (120_000, resource.RLIM_INFINITY))
    stage.begin("too large", "find it")
    for number in range(1, 9):
        stage.turn(number, stage.view(0.0, 0.0, noise=True), (0.0, 0.0), "rotate", (1.0, 0.0))
    stage.done(8)
    end = bags.end("too large")
    assert end["state"] == "failed" and end["message"], end
    wait_until(
        lambda: any(s.level == b"\2" and "not recorded" in s.message for a in states for s in a.status),
        what="the diagnostics",
    )
    assert process.running
    (verdict,) = verify_directory(tmp_path / "bags")
    assert verdict.state is BagState.UNFINISHED
    resource.prlimit(process._process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    stage.search("fits", "find it")
    assert bags.end("fits")["state"] == "complete"


def test_a_directory_that_cannot_be_written(start_node: Any, stage: Stage, bags: Bags, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    process = start(start_node, stage, blocked / "bags")
    assert f"searches cannot be recorded: {blocked / 'bags'}: cannot be written" in process.output
    stage.search("nowhere", "find it")
    end = bags.end("nowhere")
    assert (end["state"], end["path"]) == ("failed", "") and str(blocked) in end["message"]
    blocked.unlink()
    stage.search("somewhere", "find it")
    assert bags.end("somewhere")["state"] == "complete"
    assert process.running and "Traceback" not in process.output


def test_a_directory_that_vanishes(start_node: Any, stage: Stage, bags: Bags, tmp_path: Path) -> None:
    start(start_node, stage, tmp_path / "bags")
    stage.begin("gone", "find it")
    path = bags.begun("gone")
    for file in path.iterdir():
        file.unlink()
    path.rmdir()
    stage.turn(1, stage.view(0.0, 0.0), (0.0, 0.0), "submit", (0.0, 0.0))
    stage.done(1)
    assert bags.end("gone")["state"] == "failed"
    stage.search("back", "find it")
    assert bags.end("back")["state"] == "complete"


def test_two_recorders_on_one_directory(start_node: Any, stage: Stage, bags: Bags, tmp_path: Path) -> None:
    start(start_node, stage, tmp_path)
    start_node(MODULE, directory=str(tmp_path))
    stage.wait_for_listeners(2)
    stage.search("twice", "find it")
    wait_until(lambda: [one["state"] for one in bags.said("twice")].count("complete") == 2, what="both bags")
    verdicts = verify_directory(tmp_path)
    assert [verdict.state for verdict in verdicts] == [BagState.WHOLE] * 2
    assert all(len(read_episode(verdict.path).turns) == 3 for verdict in verdicts)


def test_coming_late_is_said(start_node: Any, stage: Stage, bags: Bags, tmp_path: Path) -> None:
    stage.begin("under way", "find it")
    stage.turn(1, stage.view(0.0, 0.0), (0.0, 0.0), "rotate", (30.0, 0.0))
    stage.state(2, 2)
    start(start_node, stage, tmp_path)
    path = bags.begun("under way")
    stage.turn(2, stage.view(30.0, 0.0), (30.0, 0.0), "submit", (30.0, 0.0))
    stage.done(2)
    end = bags.end("under way")
    assert end["state"] == "incomplete" and "late" in end["message"] and end["path"] == str(path)
    assert [turn.number for turn in read_episode(path).turns] == [2]


def test_a_search_that_ended_before_is_left_alone(start_node: Any, stage: Stage, tmp_path: Path) -> None:
    stage.search("yesterday", "find it")
    start(start_node, stage, tmp_path / "bags")
    time.sleep(0.5)
    assert not list((tmp_path / "bags").glob("*"))


def test_the_searcher_goes_away(start_node: Any, stage: Stage, bags: Bags, tmp_path: Path) -> None:
    start(start_node, stage, tmp_path)
    stage.begin("alone", "find it")
    bags.begun("alone")
    stage.leave()
    end = bags.end("alone")
    assert end["state"] == "incomplete" and "went away" in end["message"]


def test_names_are_safe(start_node: Any, stage: Stage, bags: Bags, tmp_path: Path) -> None:
    start(start_node, stage, tmp_path / "bags")
    stage.search("../../etc/passwd", 'Find ../../the exit\n"sign" & Ausgänge, please: as fast as you can, really')
    path = Path(bags.end("../../etc/passwd")["path"])
    assert path.parent == tmp_path / "bags"
    assert set(path.name) <= set("abcdefghijklmnopqrstuvwxyz0123456789_-")


def test_a_wrong_parameter_is_refused_by_name(start_node: Any) -> None:
    process = start_node(MODULE, views="video")
    assert process.wait() == 1 and "views" in process.output
