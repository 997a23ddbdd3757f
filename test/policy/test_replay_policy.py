"""Decisions from a recording."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from picture_scenes import PictureHead, blank, panorama

from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError
from hvs_ros.policy.random_walk import RandomPolicy
from hvs_ros.policy.replay import ReplayPolicy
from hvs_ros.search.action import Rotate, Submit
from hvs_ros.search.decision import ParseStatus
from hvs_ros.search.episode import SearchResult
from hvs_ros.search.loop import run_search
from hvs_ros.search.task import Task

SCENE = panorama()
TASK = Task("find the exit")


def lines(path: Path, *values: object) -> Path:
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    return path


def test_turns_as_text_lines(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "turns.jsonl",
        {"turn": 1, "raw": "<answer>rotate(30,0)</answer>", "action": "rotate(30,0)", "thought": "look right"},
        {"turn": 2, "action": None, "raw": "hm", "status": "no answer"},
        {"turn": 3, "action": "submit(41.5,-3)", "guess": True},
    )
    policy = ReplayPolicy(str(path))
    policy.start(TASK)
    first, second, third = (policy.decide(blank(turn)) for turn in (1, 2, 3))
    assert (first.action, first.raw, first.thought) == (Rotate(30, 0), "<answer>rotate(30,0)</answer>", "look right")
    assert second.action is None and second.status is ParseStatus.NO_ANSWER
    assert third.action == Submit(41.5, -3) and third.guess


def test_a_record_without_submission_ends_by_name(tmp_path: Path) -> None:
    policy = ReplayPolicy(str(lines(tmp_path / "turns.jsonl", {"turn": 1, "action": "rotate(30,0)"})))
    policy.start(TASK)
    policy.decide(blank(1))
    with pytest.raises(PolicyError, match="ended after turn 1 without a submission"):
        policy.decide(blank(2))


def recorded(instruction: str, start: tuple[float, float], yaw: float) -> dict[str, object]:
    """A line of a results file."""
    action = {"do": "submit", "angles": [yaw, 0]}
    turn = {"turn": 1, "direction": list(start), "action": action, "status": "ok", "raw": ""}
    return {"episode": "hall/0/0", "instruction": instruction, "turns": [turn]}


def test_of_many_searches_the_one_with_the_task_and_start_is_replayed(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "results.jsonl",
        {"made with": "header"},
        recorded("find the exit", (0, 0), 10),
        recorded("find the exit", (90, 0), 20),
        recorded("find the lift", (90, 0), 30),
    )
    policy = ReplayPolicy(str(path))
    searches = (("find the exit", 90.0, 20), ("find the exit", 0.0, 10), ("find the lift", 90.0, 30))
    for instruction, yaw_deg, expected in searches:
        policy.start(Task(instruction))
        assert policy.decide(blank(yaw_deg=yaw_deg)).action == Submit(expected, 0)
    policy.start(TASK)
    with pytest.raises(PolicyError, match="none starts at"):
        policy.decide(blank(yaw_deg=45.0))
    with pytest.raises(PolicyError, match="no search for 'find the moon'"):
        policy.start(Task("find the moon"))


def test_a_single_search_is_replayed_for_any_task(tmp_path: Path) -> None:
    policy = ReplayPolicy(str(lines(tmp_path / "r.jsonl", recorded("find the exit", (0, 0), 10))))
    policy.start(Task("find the moon"))
    assert policy.decide(blank(yaw_deg=123.0)).action == Submit(10, 0)


def search(policy: object) -> SearchResult:
    return run_search(TASK, PictureHead(SCENE), policy)  # type: ignore[arg-type]


def test_a_replayed_search_makes_the_same_moves(tmp_path: Path) -> None:
    first = search(RandomPolicy(seed=11))
    turns = [{"turn": t.number, "action": str(t.decision.action), "raw": t.decision.raw} for t in first.turns]
    again = search(ReplayPolicy(str(lines(tmp_path / "turns.jsonl", *turns))))
    assert [turn.direction for turn in again.turns] == [turn.direction for turn in first.turns]
    assert again.submitted == first.submitted


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("not json\n", "line 1"),
        ('{"turn": 1, "action": "jump(1,2)"}\n', "jump"),
        ('{"turn": 1, "action": "rotate(1)"}\n', "rotate"),
        ('{"turn": 1, "action": "rotate(nan,2)"}\n', "line 1"),
        ("[1, 2]\n", "line 1"),
        ("", "holds no decisions"),
    ],
)
def test_a_file_that_is_no_recording_is_refused_with_the_line(tmp_path: Path, content: str, says: str) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(PolicyError, match=says) as caught:
        ReplayPolicy(str(path))
    assert str(path) in str(caught.value)


def test_no_path_and_a_path_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="setting path"):
        ReplayPolicy()
    with pytest.raises(PolicyUnavailableError, match="not there"):
        ReplayPolicy(str(tmp_path / "nothing"))
    with pytest.raises(PolicyError, match="holds no decisions"):
        ReplayPolicy(str(tmp_path))


def test_bags_are_replayed_alone_and_from_their_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rosbags")
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "recording"))
    from recording_builders import episode, write

    right = write(tmp_path, episode(instruction="find the exit sign"), name="right")
    right.close()
    steps = ((0.0, 0.0, "rotate", -90.0, 0.0), (270.0, 0.0, "submit", 272.0, 1.0))
    left = write(tmp_path, episode("s2", "find the lift", steps), name="left")
    left.close()
    alone = ReplayPolicy(str(right.path))
    alone.start(Task("find the exit sign"))
    actions = [alone.decide(blank(turn)).action for turn in (1, 2, 3)]
    assert [str(action) for action in actions] == ["rotate(90,0)", "rotate(45,-10)", "submit(140,-8)"]
    among = ReplayPolicy(str(tmp_path))
    among.start(Task("find the lift"))
    assert str(among.decide(blank(1)).action) == "rotate(-90,0)"


def test_a_folder_that_is_no_bag_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("rosbags")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "broken_0.mcap").write_bytes(b"not a bag")
    with pytest.raises(PolicyError, match="broken"):
        ReplayPolicy(str(tmp_path / "broken"))
