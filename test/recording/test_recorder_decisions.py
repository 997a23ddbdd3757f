"""What goes into which bag, without ROS and without a disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hvs_ros.recording.bag import Topic
from hvs_ros.recording.buffer import Past, Received
from hvs_ros.recording.info import EpisodeInfo
from hvs_ros.recording.naming import bag_name, slug
from hvs_ros.recording.recorder import Recorder, SearchStatus

S = 10**9
STATE, TURN, POSE, VIEW, INFO = (Topic(name, f"x/msg/{name}") for name in ("State", "Turn", "Pose", "View", "Info"))


@dataclass
class Bag:
    search_id: str
    name: str
    written: list[tuple[str, bytes]] = field(default_factory=list)
    problem: str | None = None
    description: Mapping[str, Any] = field(default_factory=dict)


class Writer:
    """Keeps bags in memory, in place of the writer's thread."""

    def __init__(self) -> None:
        self.bags: list[Bag] = []

    def open(self, search_id: str, name: str) -> Bag:
        self.bags.append(Bag(search_id, name))
        return self.bags[-1]

    def write(self, bag: Bag, topic: Topic, stamp_ns: int, data: bytes) -> None:
        assert bag.problem is None, "written after its end"
        if topic is not INFO:
            bag.written.append((topic.name, data))

    def close(self, bag: Bag, description: Mapping[str, Any], problem: str) -> None:
        bag.problem, bag.description = problem, description


class Stage:
    def __init__(self) -> None:
        self.writer = Writer()
        self.now = 100.0
        self.recorder = Recorder(
            self.writer,  # type: ignore[arg-type]
            lambda _: b"",
            INFO,
            since_ns=100 * S,
            grace_s=0.5,
            past=Past(2.0, 10_000),
        )

    def state(self, search_id: str, started: float, turn: int = 1, *, done: bool = False) -> None:
        info = EpisodeInfo(search_id, "find it", "object", 10, "signs", outcome="SUBMITTED" if done else "")
        status = SearchStatus(search_id, done, round(started * S), turn, info)
        received = Received(STATE, f"{search_id} {turn} {done}".encode(), self._ns, self._ns, search_id)
        self.recorder.on_state(status, received, self.now)

    def message(
        self, topic: Topic, data: bytes, search_id: str = "", turn: int = 0, stamp: float | None = None
    ) -> None:
        stamp_ns = self._ns if stamp is None else round(stamp * S)
        self.recorder.on_message(Received(topic, data, self._ns, stamp_ns, search_id, turn))

    def after(self, seconds: float, **more: bool) -> None:
        self.now += seconds
        self.recorder.tick(self.now, **more)

    @property
    def _ns(self) -> int:
        return round(self.now * S)

    def data(self, number: int = 0) -> list[bytes]:
        return [data for _, data in self.writer.bags[number].written]


def test_what_came_before_the_state_is_in_the_bag() -> None:
    stage = Stage()
    stage.message(POSE, b"long ago", stamp=99.0)
    stage.after(1.0)
    stage.message(VIEW, b"old view", stamp=100.5)
    stage.message(POSE, b"before", stamp=100.9)
    stage.after(0.2)
    stage.message(VIEW, b"first view", stamp=101.1)
    stage.message(POSE, b"first pose", stamp=101.1)
    stage.state("a", started=101.0)
    assert stage.data() == [b"first view", b"first pose", b"a 1 False"]


def test_the_last_known_of_every_topic_opens_the_bag() -> None:
    stage = Stage()
    stage.message(VIEW, b"at rest", stamp=100.0)
    stage.message(POSE, b"at rest too", stamp=100.0)
    stage.message(TURN, b"of another search", "z", 3)
    stage.after(60.0)
    stage.message(POSE, b"now")
    stage.state("a", started=159.9)
    assert stage.data() == [b"at rest", b"now", b"a 1 False"]


def test_late_messages_find_their_search() -> None:
    stage = Stage()
    stage.state("a", started=100.0)
    stage.after(0.1)
    stage.state("a", started=100.0, done=True)
    stage.state("b", started=100.1)
    stage.message(TURN, b"turn of a", "a", 1)
    stage.message(VIEW, b"view of a", stamp=100.05)
    stage.message(VIEW, b"view of b", stamp=100.1)
    stage.after(0.6)
    a, b = stage.writer.bags
    assert a.problem == "" and b.problem is None
    assert (b"turn of a" in stage.data(0)) and (b"view of a" in stage.data(0)) and (b"view of b" not in stage.data(0))
    assert stage.data(1) == [b"b 1 False", b"view of b"]


def test_an_ended_search_closes_after_the_grace() -> None:
    stage = Stage()
    stage.state("a", started=100.0)
    stage.state("a", started=100.0, done=True)
    stage.after(0.4)
    assert stage.writer.bags[0].problem is None
    stage.after(0.2)
    assert stage.writer.bags[0].problem == ""
    assert stage.writer.bags[0].description["result"]["outcome"] == "SUBMITTED"
    stage.state("a", started=100.0, done=True)
    assert len(stage.writer.bags) == 1, "the latched end comes again"


def test_a_search_whose_states_all_got_lost_but_the_last_is_recorded() -> None:
    stage = Stage()
    stage.state("a", started=100.0, done=True)
    stage.after(1.0)
    assert stage.writer.bags[0].problem == ""


def test_a_missing_end_is_said() -> None:
    stage = Stage()
    stage.state("a", started=100.0)
    stage.state("b", started=101.0)
    stage.after(1.0)
    assert "next search" in (stage.writer.bags[0].problem or "")
    stage.state("", started=0.0)
    stage.after(1.0)
    assert "restarted" in (stage.writer.bags[1].problem or "")
    stage.state("c", started=103.0)
    stage.after(0.1, searcher_gone=True)
    stage.after(1.0)
    assert "went away" in (stage.writer.bags[2].problem or "")
    stage.state("d", started=105.0)
    stage.recorder.close()
    assert "stopped" in (stage.writer.bags[3].problem or "")


def test_missing_turns_are_said() -> None:
    stage = Stage()
    stage.state("a", started=100.0, turn=3)
    stage.message(TURN, b"3", "a", 3)
    stage.state("a", started=100.0, turn=3, done=True)
    stage.after(1.0)
    assert "turns 1, 2 are missing" in (stage.writer.bags[0].problem or "")


def test_history_is_left_alone_and_a_search_under_way_is_not() -> None:
    stage = Stage()
    stage.state("yesterday", started=10.0)
    stage.state("yesterday", started=10.0, done=True)
    stage.after(1.0)
    assert stage.writer.bags == []
    stage.state("under way", started=50.0, turn=2)
    stage.after(1.0)
    assert [bag.search_id for bag in stage.writer.bags] == ["under way"]


def test_the_past_is_bounded() -> None:
    past = Past(1000.0, 10_000)
    for number in range(100):
        past.add(Received(VIEW, bytes(1000), number, number))
    _, own = past.since(0, "a")
    assert len(own) == 10


def test_names() -> None:
    assert slug("Find the exit sign!") == "find-the-exit-sign"
    assert slug("../../etc/passwd") == "etc-passwd"
    assert slug("Ausgänge, größer") == "ausgange-groer"
    assert len(slug("word " * 40)) <= 40 and not slug("word " * 40).endswith("-")
    assert slug("x" * 100) == "x" * 40
    assert slug("出口を探す") == ""
    name = bag_name("出口を探す", "scene/3/90", 1_790_000_000 * S)
    assert name.endswith("_search_scene-3-90") and name[8] == "_"
    assert bag_name("a", "", 5)[:2] == "20", "a clock that begins at zero gives no date"
