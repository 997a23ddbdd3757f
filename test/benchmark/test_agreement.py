"""Two runs of the same episodes: what counts as the same, and what is said when it is not. And which are sampled."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benchmark_builders import OBJECT, PATH, failed, make_episode, submitted

from hvs_ros.angles import Direction
from hvs_ros.benchmark.agreement import disagreements
from hvs_ros.benchmark.episodes import Episode
from hvs_ros.benchmark.record import SearchRecord
from hvs_ros.benchmark.result import EpisodeResult, judge
from hvs_ros.benchmark.sample import draw_sample
from hvs_ros.panorama.scene import Scene
from hvs_ros.search.action import Rotate, Submit
from hvs_ros.search.decision import ParseStatus, Usage
from hvs_ros.search.episode import Outcome, TurnTimes
from hvs_ros.search.task import TaskKind


def result_of(tmp_path: Path, record: SearchRecord, number: int = 0) -> EpisodeResult:
    return judge(make_episode(tmp_path, number), record)


def with_turn(record: SearchRecord, number: int, **changes: Any) -> SearchRecord:
    turns = tuple(replace(turn, **changes) if turn.number == number else turn for turn in record.turns)
    return replace(record, turns=turns)


def test_times_tokens_and_what_radians_cost_are_no_difference(tmp_path: Path) -> None:
    record = submitted(91, turns=3)
    other = with_turn(record, 1, times=TurnTimes(9.0, 9.0, 9.0), usage=Usage(1))
    other = with_turn(other, 1, direction=Direction(359.9999999, -1e-9), action=Rotate(30.000001, 0.0))
    other = replace(other, bag=tmp_path / "bag", submitted=Direction(91.0000001, 0.0))
    assert disagreements([result_of(tmp_path, record)], [result_of(tmp_path, other)]) == []


@pytest.mark.parametrize(
    ("changes", "what", "one", "other"),
    [
        ({"direction": Direction(30.002, 0.0)}, "direction", "(30.000, 0.000)", "(30.002, 0.000)"),
        ({"raw": "raw\n"}, "answer", "'raw'", "'raw\\n'"),
        ({"status": ParseStatus.TRUNCATED, "action": None}, "status", "ok", "truncated"),
        ({"action": Submit(60, 0)}, "action", "rotate(30,0)", "submit(60,0)"),
        ({"action": Rotate(30, 0.01)}, "action", "rotate(30,0)", "rotate(30,0.01)"),
        ({"after": Direction(60, 1)}, "direction after it", "(60.000, 0.000)", "(60.000, 1.000)"),
    ],
)
def test_a_turn_that_differs_is_named_with_both(
    tmp_path: Path, changes: dict[str, Any], what: str, one: str, other: str
) -> None:
    record = submitted(91, turns=4)
    changed = with_turn(record, 2, **changes)
    first = disagreements([result_of(tmp_path, record)], [result_of(tmp_path, changed)])[0]
    assert (first.turn, first.what, first.one, first.other) == (2, what, one, other)
    assert first.where == "hall/0/0, turn 2"


def test_only_the_first_turn_that_differs_is_listed_and_how_the_episode_ended(tmp_path: Path) -> None:
    record = submitted(91, turns=4)
    other = submitted(200, turns=3)
    other = with_turn(with_turn(other, 1, raw="a"), 2, raw="b")
    found = disagreements([result_of(tmp_path, record)], [result_of(tmp_path, other)])
    assert [(d.turn, d.what) for d in found] == [
        (1, "answer"),
        (None, "turns"),
        (None, "submitted"),
        (None, "success, paper rule"),
        (None, "success, reference rule"),
    ]
    assert [(d.one, d.other) for d in found[1:4]] == [
        ("4", "3"),
        ("(91.000, 0.000)", "(200.000, 0.000)"),
        ("yes", "no"),
    ]


def test_a_failure_of_one_of_them_and_a_missing_episode_are_differences(tmp_path: Path) -> None:
    good = [result_of(tmp_path, submitted(91), number) for number in range(3)]
    bad = [good[2], result_of(tmp_path, failed(Outcome.VIEW_TIMEOUT, "no view"), 1)]
    found = disagreements(good, bad)
    assert [(d.episode_id, d.what) for d in found][:2] == [("hall/0/0", "episode"), ("hall/1/0", "outcome")]
    assert (found[0].one, found[0].other) == ("there", "missing")
    assert found[1].other == "view timeout: no view" and found[1].where == "hall/1/0, end"
    assert not [d for d in found if d.episode_id == "hall/2/0"], "the order of the results does not matter"
    missing = disagreements(bad[:1], good[1:])
    assert [(d.episode_id, d.one) for d in missing] == [("hall/1/0", "missing")]


def test_of_a_long_answer_the_place_where_it_parts_is_shown(tmp_path: Path) -> None:
    text = "a" * 500
    record = submitted(91)
    pair = [
        [result_of(tmp_path, with_turn(record, 1, raw=raw))] for raw in (text + "ONE" + text, text + "OTHER" + text)
    ]
    (found,) = disagreements(*pair)
    assert "aONEa" in found.one and "aOTHERa" in found.other and max(len(found.one), len(found.other)) < 80


def many_episodes(tmp_path: Path) -> list[Episode]:
    """20 scenes with three tasks for objects and one for a path, four starts each."""
    made = []
    for scene in range(20):
        for item in range(4):
            target = PATH if item == 3 else OBJECT
            for start in (0, 90, 180, 270):
                episode = make_episode(tmp_path, target=target, level=item)
                made.append(
                    replace(
                        episode,
                        episode_id=f"s{scene}/{item}/{start}",
                        scene=Scene(f"s{scene}", episode.scene.panorama_path),
                        start=Direction(start, 0),
                    )
                )
    return made


def test_a_sample_is_spread_over_kinds_and_scenes_and_is_drawn_again(tmp_path: Path) -> None:
    episodes = many_episodes(tmp_path)
    sample = draw_sample(episodes, 8, seed=42)
    assert Counter(episode.task.kind for episode in sample) == {TaskKind.OBJECT: 4, TaskKind.PATH: 4}
    assert len({episode.scene.name for episode in sample}) == 8
    assert len({episode.start for episode in sample}) == 4
    assert [episode for episode in episodes if episode in sample] == sample, "in the order of the run"

    shuffled = random.Random(1).sample(episodes, len(episodes))
    assert {e.episode_id for e in draw_sample(shuffled, 8, seed=42)} == {e.episode_id for e in sample}
    assert {e.episode_id for e in draw_sample(episodes, 8, seed=43)} != {e.episode_id for e in sample}


def test_a_sample_of_more_than_there_are_is_all(tmp_path: Path) -> None:
    episodes = many_episodes(tmp_path)
    assert draw_sample(episodes, 1000, seed=0) == episodes
