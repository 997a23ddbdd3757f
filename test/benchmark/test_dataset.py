"""The data set: what is a split, how its scenes are called, and the published order of its episodes."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from hvs_ros.benchmark.dataset import DataSet, open_dataset, plan_benchmark
from hvs_ros.benchmark.episodes import Selection, SelectionError
from hvs_ros.panorama.scene import SceneError
from hvs_ros.search.task import TaskKind

SHARED = Path(__file__).parents[3] / "shared"
FIND: dict[str, Any] = {"task": "Find it.", "yaw": [80, 100], "pitch": [-10, 10]}
WAY: dict[str, Any] = {"task": "Which way?", "yaw": [350, 10], "initial yaw": [10, 200], "level": [3, 1]}


def put(folder: Path, *items: dict[str, Any], picture: str = "view.png") -> Path:
    """Write a scene; its picture exists, but is none."""
    folder.mkdir(parents=True)
    (folder / picture).write_bytes(b"not opened here")
    (folder / "annotation.json").write_text(json.dumps(items), encoding="utf-8")
    return folder


@pytest.fixture
def both(tmp_path: Path) -> DataSet:
    for name in ("yard", "hall", "shop"):
        put(tmp_path / "hos_bench" / name, FIND)
    put(tmp_path / "hps_bench" / "hall", WAY, picture="hall.jpg")
    (tmp_path / "readme.md").write_text("about")
    return open_dataset(tmp_path)


def ids(*args: Any, **kwargs: Any) -> list[str]:
    return [episode.episode_id for episode in plan_benchmark(*args, **kwargs)]


def test_a_folder_of_scenes_is_one_split_without_a_name(tmp_path: Path) -> None:
    put(tmp_path / "hall", FIND)
    dataset = open_dataset(tmp_path)
    assert [(split.name, split.folder) for split in dataset.splits] == [("", tmp_path)]
    assert ids(dataset, seed=None) == ["hall/0/0", "hall/0/90", "hall/0/180", "hall/0/270"]
    assert ids(open_dataset(tmp_path / "hall"), seed=None) == ids(dataset, seed=None), "a scene is a data set too"


def test_a_folder_of_splits_names_its_scenes_after_them(both: DataSet) -> None:
    assert [split.name for split in both.splits] == ["hos_bench", "hps_bench"]
    names = [scene.name for scene in both.scenes]
    assert names == ["hos_bench/hall", "hos_bench/shop", "hos_bench/yard", "hps_bench/hall"]
    assert ids(both, seed=None)[-2:] == ["hps_bench/hall/0/10", "hps_bench/hall/0/200"]
    episode = plan_benchmark(both, Selection(patterns=("hps_bench/*/10",)))[0]
    assert episode.scene.panorama_path.name == "hall.jpg"
    assert (episode.level, episode.start.yaw_deg, episode.task.max_turns) == (3, 10.0, 10)


def test_what_is_neither_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SceneError, match="there is no such folder"):
        open_dataset(tmp_path / "nowhere")
    with pytest.raises(SceneError, match="nothing to search here"):
        open_dataset(tmp_path)
    put(tmp_path / "hos_bench" / "hall", FIND)
    put(tmp_path / "yard", FIND)
    with pytest.raises(SceneError, match=r"scenes lie beside folders of scenes \(hos_bench\)"):
        open_dataset(tmp_path)


def test_scenes_without_annotation_have_no_episodes(tmp_path: Path) -> None:
    put(tmp_path / "hall", FIND)
    put(tmp_path / "bare")
    (tmp_path / "bare" / "annotation.json").unlink()
    assert {name.split("/")[0] for name in ids(open_dataset(tmp_path))} == {"hall"}
    with pytest.raises(SelectionError, match=r"none of the scenes has tasks \(view\)"):
        plan_benchmark(open_dataset(tmp_path / "bare"))


def test_each_split_is_shuffled_with_the_seed(both: DataSet) -> None:
    for split in both.splits:
        listed = ids(DataSet(both.folder, (split,)), seed=None)
        random.Random(42).shuffle(listed)
        assert [name for name in ids(both) if name.startswith(split.name)] == listed
    assert ids(both, seed=7) != ids(both)
    assert sorted(ids(both, seed=7)) == sorted(ids(both))


def test_a_selection_keeps_the_order_and_takes_the_first(both: DataSet) -> None:
    order = ids(both)
    assert ids(both, Selection(episodes=5)) == order[:5]
    chosen = ids(both, Selection(patterns=("*/hall",), episodes=3))
    assert chosen == [name for name in order if "/hall/" in name][:3]
    assert ids(both, Selection(starts=1)) == [name for name in order if name.endswith(("/0/0", "/10"))]
    assert ids(both, Selection(kind=TaskKind.PATH)) == order[-2:]
    assert plan_benchmark(both, Selection(episodes=1), max_turns=3)[0].task.max_turns == 3
    with pytest.raises(SelectionError, match=r"no episode matches 'nowhere'; ids look like 'hos_bench/"):
        plan_benchmark(both, Selection(patterns=("nowhere",)))
    with pytest.raises(SelectionError, match="no scene has a task of kind 'path'"):
        plan_benchmark(DataSet(both.folder, both.splits[:1]), Selection(kind=TaskKind.PATH))


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_shards_are_disjoint_and_together_the_whole(both: DataSet, count: int) -> None:
    chosen = Selection(episodes=12)
    shards = [ids(both, chosen, shard=(number, count)) for number in range(1, count + 1)]
    whole = ids(both, chosen)
    assert sorted(name for shard in shards for name in shard) == sorted(whole)
    for shard in shards:
        assert shard == [name for name in whole if name in shard], "in the order of the whole"
    listed = [name for name in ids(both, seed=None) if name in whole]
    assert [name for shard in shards for name in sorted(shard, key=listed.index)] == listed, "neighbours by scene"


def test_a_shard_that_is_none_is_refused(both: DataSet) -> None:
    for shard in ((0, 2), (3, 2), (1, 0)):
        with pytest.raises(SelectionError, match="a number from 1"):
            plan_benchmark(both, shard=shard)
    with pytest.raises(SelectionError, match="shard 1/99 holds none of the 14 episodes"):
        plan_benchmark(both, shard=(1, 99))


@pytest.mark.skipif(not SHARED.is_dir(), reason="../shared is not there")
def test_the_order_is_the_published_one() -> None:
    reference = json.loads((SHARED / "reference" / "hstar_episodes.json").read_text(encoding="utf-8"))
    episodes = plan_benchmark(open_dataset(SHARED / "panoramas"))
    assert len(episodes) == len(reference["order"]) == 188
    assert [
        {"scene": e.scene.name, "task": e.task.instruction, "start_yaw_deg": e.start.yaw_deg} for e in episodes
    ] == reference["order"]
