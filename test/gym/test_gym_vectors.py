"""Many environments at once: the same whether they share a process or have one each, and they share what is large."""

from __future__ import annotations

import gc
import multiprocessing
import shutil
import weakref
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gym_builders import HEIGHT, ID, WIDTH, make, said, write_scenes

from hvs_ros.gym.studio import studios

ANSWERS = (
    (said("rotate(30,-5)"), said("rotate(-170,20)"), "nothing"),
    (said("rotate(80,0)"), said("submit(100,5)"), said("rotate(1,0)")),
    (said("submit(0,0)"), said("rotate(5,5)"), said("rotate(3,80)")),
    (said("rotate(7,7)"), said("rotate(9,9)"), said("submit(1,1)")),
)


def roll(scenes: Path, mode: str, **settings: Any) -> list[tuple[Any, ...]]:
    env = gymnasium.make_vec(
        ID,
        num_envs=3,
        vectorization_mode=mode,
        vector_kwargs={"context": settings.pop("context")} if "context" in settings else {},
        scenes=str(scenes),
        width=WIDTH,
        height=HEIGHT,
        rewards={"progress": 1.0},
    )
    try:
        pixels, info = env.reset(seed=11)
        seen: list[tuple[Any, ...]] = [(pixels, info)]
        seen += [env.step(answers) for answers in ANSWERS]
        return seen
    finally:
        env.close()


def same(a: Any, b: Any) -> bool:
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(same(one, other) for one, other in zip(a, b, strict=True))
    return bool(np.array_equal(a, b))


@pytest.mark.parametrize("context", multiprocessing.get_all_start_methods())
def test_a_process_each_makes_no_difference(scenes: Path, context: str) -> None:
    one, other = roll(scenes, "sync"), roll(scenes, "async", context=context)
    assert one[0][0].shape == (3, HEIGHT, WIDTH, 3)
    assert len(set(one[0][1]["episode_id"])) > 1, "environments with seeds of their own"
    assert any(step[2].any() for step in one[1:]), "some episode ends"
    assert any(step[1].any() for step in one[1:]), "something is earned"
    assert same(one, other)
    assert not same(one[1], other[2])


def test_a_batch_of_samples_is_a_batch_of_answers(scenes: Path) -> None:
    env = gymnasium.make_vec(ID, num_envs=2, vectorization_mode="sync", scenes=str(scenes), width=64, height=36)
    env.reset(seed=1)
    actions = env.action_space.sample()
    assert actions in env.action_space
    info = env.step(actions)[4]
    assert info["status"].tolist() == ["ok", "ok"]
    assert info["rewards"]["format"].dtype == float
    env.close()


def test_environments_of_a_process_share_panoramas_until_the_last_is_closed(scenes: Path) -> None:
    envs = [make(scenes, memory_mb=77, select=["hall/*"]) for _ in range(3)]
    for env in envs:
        env.reset(seed=1)
    panoramas = [env._search._sampler.panorama for env in envs]  # type: ignore[union-attr]
    assert all(panorama is panoramas[0] for panorama in panoramas)
    panorama, studio = weakref.ref(panoramas[0]), weakref.ref(studios.get(77))
    del panoramas
    for env in envs[:2]:
        env.close()
    gc.collect()
    assert studio() is not None
    envs[2].close()
    envs[2].close()
    gc.collect()
    assert (panorama(), studio()) == (None, None)
    make(scenes, memory_mb=77).reset(seed=1)


def test_environments_of_a_process_share_the_list_of_episodes_while_one_of_them_is_there(tmp_path: Path) -> None:
    folder = write_scenes(tmp_path / "scenes")
    one, other = make(folder), make(folder)
    assert one.episodes is other.episodes
    assert len(make(folder, select=["yard/*"]).episodes) == 2
    assert make(folder, max_turns=3).episodes[0].task.max_turns == 3
    shutil.rmtree(folder / "yard")
    del one, other
    gc.collect()
    assert {episode.scene.name for episode in make(folder).episodes} == {"hall"}


def test_an_environment_that_is_forgotten_frees_its_panoramas(scenes: Path) -> None:
    env = make(scenes, memory_mb=78)
    env.reset(seed=1)
    studio = weakref.ref(studios.get(78))
    del env
    gc.collect()
    assert studio() is None
