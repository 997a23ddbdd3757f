"""Which worker gets which episodes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from benchmark_builders import make_episode

from hvs_ros.benchmark.episodes import Episode
from hvs_ros.benchmark.handout import Handout
from hvs_ros.panorama.scene import Scene


def episodes_in(folder: Path, **scenes: int) -> list[Episode]:
    """Return so many episodes in each scene, one scene after the other."""
    first = make_episode(folder)
    return [
        replace(first, episode_id=f"{name}/{number}", scene=Scene(name, first.scene.panorama_path))
        for name, count in scenes.items()
        for number in range(count)
    ]


def names(episodes: list[Episode]) -> list[str]:
    return [episode.episode_id for episode in episodes]


def test_a_worker_gets_whole_scenes_until_it_is_busy(tmp_path: Path) -> None:
    handout = Handout(episodes_in(tmp_path, a=3, b=3, c=3, d=3), workers=1)
    assert names(handout.take("w", 4)) == ["a/0", "a/1", "a/2", "b/0", "b/1", "b/2"]
    assert handout.take("w", 4) == [], "it has enough"
    for name in ("a/0", "a/1", "a/2"):
        assert handout.ended("w", name)
    assert names(handout.take("w", 4)) == ["c/0", "c/1", "c/2"]
    assert handout.waiting == 3 and handout.held("w") == 6 and not handout.done


def test_towards_the_end_nobody_gets_more_than_a_share_of_what_is_left(tmp_path: Path) -> None:
    handout = Handout(episodes_in(tmp_path, a=2, b=2, c=2, d=2), workers=2)
    assert names(handout.take("one", 100)) == ["a/0", "a/1", "b/0", "b/1"]
    assert names(handout.take("two", 100)) == ["c/0", "c/1"]
    assert names(handout.take("one", 100)) == ["d/0", "d/1"]


def test_one_large_scene_is_shared(tmp_path: Path) -> None:
    handout = Handout(episodes_in(tmp_path, hall=8), workers=4)
    got = [names(handout.take(worker, 100)) for worker in ("1", "2", "3", "4")]
    assert [len(part) for part in got] == [2, 2, 2, 2] and len({name for part in got for name in part}) == 8


def test_what_a_lost_worker_had_is_handed_out_last_and_its_word_counts_no_more(tmp_path: Path) -> None:
    handout = Handout(episodes_in(tmp_path, a=2, b=1, c=1), workers=1)
    handout.take("one", 2)
    assert handout.ended("one", "a/0")
    assert names(handout.lost("one")) == ["a/1"]
    assert not handout.ended("one", "a/1"), "somebody else searches it"
    assert names(handout.take("two", 100)) == ["b/0", "c/0", "a/1"]
    for name in ("b/0", "c/0", "a/1"):
        assert handout.ended("two", name)
    assert handout.done
    assert not handout.ended("two", "a/1"), "an episode ends once"
