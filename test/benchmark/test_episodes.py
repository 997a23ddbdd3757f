"""Which episodes a run consists of, and how difficult they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvs_ros.angles import Direction
from hvs_ros.benchmark.episodes import FreeTask, Selection, SelectionError, level_of, plan_episodes
from hvs_ros.panorama.annotation import SceneItem
from hvs_ros.panorama.scene import Scene, load_scenes
from hvs_ros.search.task import Target, Task, TaskKind

SHARED = Path(__file__).parents[3] / "shared" / "panoramas"
FIND = SceneItem(Task("Find the exit sign."), Target((80.0, 100.0), (-10.0, 10.0)))
WAY = SceneItem(Task("Which way is out?", TaskKind.PATH), Target((350.0, 10.0)), (45.0, 300.5), (1, 3))
HALL = Scene("hall", Path("hall/hall.jpg"), (FIND, WAY))
SHOP = Scene("shop", Path("shop/shop.jpg"), (FIND,))
BARE = Scene("yard", Path("yard.jpg"))


def ids(*args: object, **kwargs: object) -> list[str]:
    return [episode.episode_id for episode in plan_episodes(*args, **kwargs)]  # type: ignore[arg-type]


def test_the_order_is_that_of_scenes_items_and_starts() -> None:
    assert ids([HALL, SHOP]) == [
        *(f"hall/0/{start}" for start in (0, 90, 180, 270)),
        "hall/1/45",
        "hall/1/300.5",
        *(f"shop/0/{start}" for start in (0, 90, 180, 270)),
    ]


def test_part_of_them_can_be_selected() -> None:
    scenes = [HALL, SHOP]
    found = ids(scenes, Selection(patterns=("hall/1/*", "*/0/90")))
    assert found == ["hall/0/90", "hall/1/45", "hall/1/300.5", "shop/0/90"]
    assert ids(scenes, Selection(patterns=("sh*",), starts=2)) == ["shop/0/0", "shop/0/90"]
    assert ids(scenes, Selection(kind=TaskKind.PATH)) == ["hall/1/45", "hall/1/300.5"]
    assert ids(scenes, Selection(starts=1)) == ["hall/0/0", "hall/1/45", "shop/0/0"]
    assert ids(scenes, Selection(episodes=1)) == ["hall/0/0"]


def test_nothing_left_says_what_there_is() -> None:
    with pytest.raises(SelectionError, match=r"'x\*'; ids look like 'hall/0/0', scenes are hall, shop"):
        plan_episodes([HALL, SHOP], Selection(patterns=("x*",)))
    with pytest.raises(SelectionError, match="no scene has a task of kind 'path'"):
        plan_episodes([SHOP], Selection(kind=TaskKind.PATH))
    with pytest.raises(SelectionError, match=r"none of the 1 scenes has tasks .*--instruction"):
        plan_episodes([BARE])


def test_a_task_of_the_users_own_is_searched_everywhere_and_not_scored() -> None:
    episodes = plan_episodes([BARE, HALL], free_task=FreeTask("find the door"))
    assert [episode.episode_id for episode in episodes] == ["yard/free/0", "hall/free/0"]
    assert all(episode.target is None and episode.level is None for episode in episodes)
    assert len(plan_episodes([BARE], Selection(starts=9), free_task=FreeTask("x", TaskKind.PATH))) == 4
    with pytest.raises(SelectionError, match="the instruction is empty"):
        plan_episodes([BARE], free_task=FreeTask("  "))


def test_the_turn_limit_can_be_set_for_all() -> None:
    assert {episode.task.max_turns for episode in plan_episodes([HALL])} == {10}
    assert {episode.task.max_turns for episode in plan_episodes([HALL], max_turns=3)} == {3}


def test_difficulty_is_annotated_or_follows_from_the_first_view() -> None:
    levels = {episode.episode_id: episode.level for episode in plan_episodes([HALL])}
    assert (levels["hall/1/45"], levels["hall/1/300.5"]) == (1, 3)
    assert (levels["hall/0/90"], levels["hall/0/270"]) == (0, 2)
    assert level_of(Target((45.0, 60.0), (-5.0, 5.0)), Direction(0.0, 0.0)) == 1, "the edge of the view is at 50"


@pytest.mark.skipif(not SHARED.is_dir(), reason="../shared/panoramas is not there")
def test_difficulty_agrees_with_what_was_annotated_for_real_photographs() -> None:
    episodes = plan_episodes(load_scenes(SHARED))
    computed = [level_of(episode.target, episode.start) for episode in episodes if episode.target is not None]
    assert computed == [episode.level for episode in episodes]
