"""The report says what happened, holds everything it needs, and lets nothing through."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from html_page import Page

from hvs_ros.angles import Direction
from hvs_ros.panorama import Camera, Tilt, pixel_to_direction
from hvs_ros.recording.episode import EpisodeRecord, RecordedHead, RecordedTurn, RecordedView
from hvs_ros.report import IndexEntry, IndexRun, write_index, write_report, write_runs
from hvs_ros.report.geometry import outline, path, visible_turns
from hvs_ros.search.action import Action, Rotate, Submit
from hvs_ros.search.decision import Decision, ParseStatus, Usage
from hvs_ros.search.episode import Outcome, TurnTimes
from hvs_ros.search.task import EpisodeSpec, Target, Task, TaskKind
from hvs_ros.search.view import MoveOutcome

BAD = "<script>alert(1)</script>\" onload='x' & <b>"
TARGET = Target((350.0, 10.0), (-5.0, 5.0))


def picture(width: int = 1920, height: int = 1080) -> bytes:
    return bytes(cv2.imencode(".jpg", np.full((height, width, 3), 90, np.uint8))[1])


def turn(number: int, at: Direction, action: Action | None, after: Direction, **more: object) -> RecordedTurn:
    status = ParseStatus.OK if action is not None else ParseStatus.BAD_ACTION
    decision = Decision(action, f"thought {number}", f"raw {number}", status, usage=Usage(1000 + number, 20, None))
    fields = {
        "number": number,
        "view": RecordedView(picture(), number, 1920, 1080),
        "view_stamp_ns": number,
        "picture": "1920x1080, exact, green cross",
        "direction": at,
        "decision": decision,
        "move": MoveOutcome.REACHED if isinstance(action, Rotate) else None,
        "move_message": "",
        "after": after,
        "feedback": f"feedback {number}",
        "times": TurnTimes(0.05, 1.5, 0.25),
    }
    return RecordedTurn(**(fields | more))  # type: ignore[arg-type]


def record(**more: object) -> EpisodeRecord:
    turns = (
        turn(1, Direction(90.0, 0.0), Rotate(80.0, 5.0), Direction(170.0, 5.0)),
        turn(2, Direction(170.0, 5.0), None, Direction(170.0, 5.0)),
        turn(3, Direction(170.0, 5.0), Rotate(-175.0, 0.0), Direction(355.0, 5.0)),
        turn(4, Direction(355.0, 5.0), Submit(2.0, 1.0), Direction(355.0, 5.0)),
    )
    fields = {
        "search_id": "id-7",
        "task": Task("find the exit sign"),
        "policy": "signs",
        "parameters": {"reader": "rapidocr"},
        "outcome": Outcome.SUBMITTED,
        "message": "",
        "submitted": Direction(2.0, 1.0),
        "guess": False,
        "looking": Direction(355.0, 5.0),
        "turns": turns,
        "scene": "hall",
        "head": RecordedHead("panorama", "panorama", "exact", 1920, 1080, 100.0, (-140.0, 150.0), (-90.0, 90.0)),
        "started_ns": 1_790_000_000 * 10**9,
        "ended_ns": 1_790_000_007 * 10**9,
    }
    return EpisodeRecord(**(fields | more))  # type: ignore[arg-type]


@pytest.fixture
def panorama(tmp_path: Path) -> Path:
    file = tmp_path / "panorama.jpg"
    noise = np.random.default_rng(0).integers(0, 255, (512, 1024, 3), np.uint8)
    cv2.imwrite(str(file), cv2.resize(noise, (4096, 2048)))
    return file


def test_it_says_what_happened(tmp_path: Path, panorama: Path) -> None:
    out = write_report(record(), tmp_path / "new" / "report.html", panorama=panorama, target=TARGET, level=2)
    page = Page(out)
    for words in (
        "find the exit sign", "Found", "off by 2.0° right, 1.0° up", "hall", "signs", "4 of 10", "object search, hard",
        "thought 1", "rotate 80° right, 5° up", "rotate 175° left", "no valid action", "submit yaw 2°, pitch 1°",
        "bad action", "reached", "feedback 3", "think 1.50 s", "look 50 ms", "1001 in, 20 out", "raw 4", "id-7",
        "rapidocr", "reachable yaw -140° to 150°",
    ):  # fmt: skip
        assert words in page.text, words
    assert "reachable pitch" not in page.text, "nothing limits it"
    assert sum(tag == "img" for tag, _ in page.tags) == 4
    assert out.stat().st_size < 2e6


def test_it_needs_nothing_from_outside(tmp_path: Path, panorama: Path) -> None:
    page = Page(write_report(record(), tmp_path / "r.html", panorama=panorama, target=TARGET))
    for tag, attributes in page.tags:
        assert tag not in ("script", "link", "iframe", "object")
        for key in ("src", "href", "data"):
            assert (attributes.get(key) or "data:").startswith("data:")
        assert not any(key.startswith("on") for key in attributes)
    assert "http" not in page.text
    policy = next(a["content"] for tag, a in page.tags if tag == "meta" and "http-equiv" in a)
    assert policy is not None and policy.startswith("default-src 'none'")


def test_nothing_unescaped_gets_through(tmp_path: Path) -> None:
    decision = Decision(None, BAD, BAD, ParseStatus.BAD_ACTION)
    bad = replace(record().turns[0], decision=decision, feedback=BAD, picture=BAD, move_message=BAD)
    evil = record(
        search_id=BAD, task=Task(BAD), policy=BAD, parameters={BAD: BAD}, message=BAD, scene=BAD, turns=(bad,),
        submitted=None, outcome=Outcome.POLICY_FAILED, problem=BAD, head=RecordedHead(BAD, BAD, BAD),
        path=Path("/x") / "<b>", info={"versions": {BAD: BAD}},
    )  # fmt: skip
    out = write_report(evil, tmp_path / "r.html", links=((BAD, "javascript"),))
    page = Page(out)
    assert not any(tag in ("script", "b onload") or "onload" in attributes for tag, attributes in page.tags)
    assert "<script" not in out.read_text()
    assert BAD in page.text
    index = write_index(tmp_path / "index.html", [IndexEntry(evil, out, BAD)], title=BAD, summary=BAD)
    assert "<script" not in index.read_text()


def test_strange_letters_do_not_stop_it(tmp_path: Path) -> None:
    strange = replace(record().turns[0], decision=Decision(None, "\ud800 \x00 出口 🚪", "", ParseStatus.NO_ANSWER))
    assert "出口 🚪" in Page(write_report(record(turns=(strange,)), tmp_path / "r.html")).text


def test_a_box_that_crosses_the_middle_is_one_and_one_that_crosses_the_edge_is_two(tmp_path: Path) -> None:
    page = Page(write_report(record(), tmp_path / "r.html", target=TARGET))
    assert page.boxes("target") == [(-10.0, 85.0, 20.0, 10.0)]
    # 30 degrees to both sides, 20 up and down
    assert page.boxes("accepted") == [(-30.0, 70.0, 60.0, 40.0)]
    page = Page(write_report(record(), tmp_path / "r.html", target=Target((170.0, 200.0), (0.0, 10.0))))
    assert sorted(page.boxes("target")) == [(-190.0, 80.0, 30.0, 10.0), (170.0, 80.0, 30.0, 10.0)]


def test_a_path_is_a_band_from_floor_to_ceiling(tmp_path: Path) -> None:
    page = Page(write_report(record(task=Task("go", TaskKind.PATH)), tmp_path / "r.html", target=Target((20.0, 30.0))))
    assert page.boxes("target") == [(20.0, 0.0, 10.0, 180.0)]
    assert page.boxes("accepted") == [(15.0, 0.0, 20.0, 180.0)]


def test_the_gaze_path_goes_through_every_view_without_a_jump(tmp_path: Path) -> None:
    page = Page(write_report(record(), tmp_path / "r.html"))
    (line,) = [line for line in page.lines("gaze") if "transform" not in line]
    points = [tuple(map(float, pair.split(","))) for pair in (line["points"] or "").split()]
    assert points == [(90.0, 90.0), (170.0, 85.0), (170.0, 85.0), (-5.0, 85.0)] or points[:1] == [(90.0, 90.0)]
    numbers = re.findall(r'class="number"[^>]*>([^<]*)<', (tmp_path / "r.html").read_text())
    assert numbers == ["1", "2·3", "4"]


def test_a_path_over_the_edge_is_drawn_on_both_sides() -> None:
    points = path([Direction(170.0, 0.0), Direction(-170.0, 10.0), Direction(-150.0, 0.0)])
    assert points == [(170.0, 90.0), (190.0, 80.0), (210.0, 90.0)]
    assert visible_turns(points) == [-360.0, 0.0]
    assert path([Direction(10.0, 0.0), Direction(350.0, 0.0)]) == [(10.0, 90.0), (-10.0, 90.0)]


@pytest.mark.parametrize("direction", [Direction(0.0, 0.0), Direction(170.0, 30.0), Direction(300.0, -70.0)])
def test_a_view_s_border_is_where_the_camera_sees_it(direction: Direction) -> None:
    camera = Camera(1600, 900, 100.0)
    corners = [(camera.cx + 800 * x, camera.cy + 450 * y) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    points = outline(direction, 100.0, 16 / 9)
    for (u, v), (x, y) in zip(corners, points[:-1:12], strict=True):
        yaw, pitch = pixel_to_direction(camera, direction, u, v)
        assert (x - float(yaw) + 180) % 360 - 180 == pytest.approx(0.0, abs=1e-6)
        assert 90 - y == pytest.approx(float(pitch), abs=1e-6)


def test_no_panorama_no_target_no_view(tmp_path: Path) -> None:
    bare = record(turns=tuple(replace(one, view=None) for one in record().turns), head=RecordedHead(), scene="")
    page = Page(write_report(bare, tmp_path / "r.html", panorama=tmp_path / "missing.jpg"))
    assert "Submitted" in page.text and "does not hold this view" in page.text
    assert page.boxes("target") == []


def test_no_turn_at_all(tmp_path: Path) -> None:
    failed = record(turns=(), submitted=None, looking=None, outcome=Outcome.HEAD_UNAVAILABLE, message="no head answers")
    page = Page(write_report(failed, tmp_path / "r.html", target=TARGET, start=Direction(90.0, 0.0)))
    assert "Head unavailable" in page.text and "no head answers" in page.text
    assert not any(tag == "svg" for tag, _ in page.tags), "no map with nothing in it"


def test_a_long_reason_has_the_whole_width_and_a_short_verdict_the_side(tmp_path: Path) -> None:
    failed = record(turns=(), submitted=None, outcome=Outcome.HEAD_UNAVAILABLE, message="no head answers " * 8)
    assert 'class="verdict bad wide"' in write_report(failed, tmp_path / "f.html", target=TARGET).read_text()
    assert 'class="verdict good"' in write_report(record(), tmp_path / "r.html", target=TARGET).read_text()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"submitted": Direction(90.0, 0.0)}, "Not found"),
        ({"submitted": None, "outcome": Outcome.TURNS_EXHAUSTED, "message": "no submission in 10 turns"}, "Not found"),
        ({"submitted": None, "outcome": None, "problem": "unfinished"}, "No end recorded"),
        ({"guess": True}, "a guess by its own account"),
    ],
)
def test_verdicts(tmp_path: Path, more: dict[str, object], words: str) -> None:
    assert words in Page(write_report(record(**more), tmp_path / "r.html", target=TARGET)).text


def test_an_episode_s_answer_may_come_as_a_spec(tmp_path: Path) -> None:
    spec = EpisodeSpec("hall/0/90", "hall", Task("find"), Direction(90.0, 0.0), TARGET, 1)
    assert "object search, medium" in Page(write_report(record(), tmp_path / "r.html", spec=spec)).text


def test_a_tilted_panorama_is_shown_level(tmp_path: Path) -> None:
    from hvs_ros.panorama import ViewSampler, open_panorama
    from hvs_ros.report import pictures

    rows, columns = np.mgrid[0:512, 0:1024]
    smooth = np.stack([columns / 4, rows / 2, (columns + rows) / 6], axis=-1).astype(np.uint8)
    file = tmp_path / "p.png"
    cv2.imwrite(str(file), smooth)
    leveled = pictures._leveled(smooth, Tilt(5.0, -3.0))
    sampler = ViewSampler(open_panorama(file, roll_deg=5.0, pitch_deg=-3.0), Camera(101, 101, 30.0))
    for yaw, pitch in ((30.0, 20.0), (-60.0, -30.0)):
        seen = sampler.render(yaw, pitch)[50, 50].astype(int)
        drawn = leveled[round((0.5 - pitch / 180) * 512 - 0.5), round((yaw / 360 + 0.5) * 1024 - 0.5)].astype(int)
        assert np.abs(seen - drawn).max() <= 2


def test_the_index_links_every_report(tmp_path: Path) -> None:
    reports = [write_report(record(), tmp_path / f"bag {n}" / "report.html", target=TARGET) for n in range(3)]
    entries = [IndexEntry(record(), out, f"hall/0/{n}", TARGET, 1) for n, out in enumerate(reports)]
    page = Page(write_index(tmp_path / "index.html", entries, title="Run", summary="3 of 3"))
    links = {attributes["href"] for tag, attributes in page.tags if tag == "a"}
    assert links == {f"bag%20{n}/report.html" for n in range(3)}
    assert "hall/0/2" in page.text and page.text.count("Found") == 3 and "3 of 3" in page.text
    assert Page(write_index(tmp_path / "none.html", [])).text


def test_an_index_of_several_runs_has_a_table_of_each(tmp_path: Path) -> None:
    runs = [
        IndexRun([IndexEntry(record(), tmp_path / f"{name}.html", f"hall/{name}", TARGET)], f"Run <{name}>")
        for name in ("late", "early")
    ]
    page = Page(write_runs(tmp_path / "index.html", runs, [tmp_path / "more" / "report.html"]))
    links = [attributes["href"] for tag, attributes in page.tags if tag == "a"]
    assert links == ["late.html", "late.html", "early.html", "early.html", "more/report.html"]
    assert page.text.index("Run <late>") < page.text.index("Run <early>") < page.text.index("Other reports")
