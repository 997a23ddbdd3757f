"""The environment shows, tells and ends as the benchmark does, and as Gymnasium asks."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gym_builders import HEIGHT, ID, WIDTH, make, said
from gymnasium.utils.env_checker import check_env

from hvs_ros.angles import Direction
from hvs_ros.benchmark.in_process import SceneHead
from hvs_ros.panorama import Camera, draw_cross
from hvs_ros.panorama.scene import SceneError
from hvs_ros.panorama.surroundings import Workshop
from hvs_ros.policy.parse import parse
from hvs_ros.search.decision import Decision
from hvs_ros.search.loop import run_search
from hvs_ros.search.task import Task
from hvs_ros.search.view import Observation


def test_passes_gymnasiums_checks_without_a_warning(scenes: Path) -> None:
    env = make(scenes, render_mode="rgb_array")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env)


def test_is_found_by_a_process_that_imports_only_gymnasium(scenes: Path) -> None:
    made = f"gymnasium.make('hvs_ros.gym:{ID}', scenes={str(scenes)!r}, width=64, height=36)"
    code = f"import gymnasium; env = {made}; print(env.reset(seed=3)[1]['episode_id'])"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == make(scenes).reset(seed=3)[1]["episode_id"]


def test_its_settings_can_be_written_as_json(scenes: Path) -> None:
    env = gymnasium.make(ID, scenes=str(scenes), rewards={"progress": 0.5}, select=["hall"])
    assert env.spec is not None
    again = gymnasium.make(gymnasium.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    assert {episode.scene.name for episode in again.unwrapped.episodes} == {"hall"}  # type: ignore[attr-defined]


class Scripted:
    """A policy of the benchmark that says what it is told to and remembers what it saw."""

    def __init__(self, answers: list[str]) -> None:
        self._answers, self.seen = answers, list[Observation]()

    def start(self, task: Task) -> None:
        self.seen = []

    def decide(self, observation: Observation) -> Decision:
        self.seen.append(observation)
        answer = self._answers[len(self.seen) - 1]
        parsed = parse(answer)
        return Decision(parsed.action, thought=parsed.thought, raw=answer, status=parsed.status)


@pytest.mark.parametrize(
    "answers",
    [
        [said("rotate(100,-20)"), said("rotate(10.5,0)"), said("rotate(-15,120)"), "", said("submit(-260,5)")],
        [said("rotate(1,0)")] * 3 + [said("rotate(5,5)")] * 7,
    ],
)
def test_is_the_search_of_the_benchmark(scenes: Path, answers: list[str]) -> None:
    env = make(scenes)
    episode = next(episode for episode in env.episodes if episode.episode_id == "hall/0/350")
    head = SceneHead(Workshop("", Camera(WIDTH, HEIGHT, 100.0), "exact", 1, 100))
    head.enter(episode.address, episode.start)
    policy = Scripted(answers)
    result = run_search(episode.task, head, policy, mark=draw_cross, mark_name="green cross")

    pixels, info = env.reset(options={"episode": "hall/0/350"})
    for observation, turn, answer in zip(policy.seen, result.turns, answers, strict=True):
        ours = env.observation
        assert (ours.turn, ours.turns_left, ours.direction) == (turn.number, 11 - turn.number, observation.direction)
        assert (info["turn"], info["turns_left"]) == (ours.turn, ours.turns_left)
        assert ours.picture == observation.picture == "exact, green cross"
        assert info["feedback"] == (observation.feedback or "") == (ours.feedback or "")
        assert Direction(*info["direction"]) == observation.direction
        np.testing.assert_array_equal(pixels, observation.image[..., ::-1])
        pixels, _, terminated, truncated, info = env.step(answer)
        assert info["status"] == turn.decision.status.value
        assert info["feedback"] == turn.feedback
    assert (terminated, truncated) == ("submit" in answers[-1], "submit" not in answers[-1])
    assert info["outcome"] == result.outcome.value
    assert info["turn"] == len(answers)
    assert info["success"] is ("submit" in answers[-1])


def test_the_last_view_shows_where_the_last_rotation_led(scenes: Path) -> None:
    env = make(scenes, max_turns=1)
    before, _ = env.reset(options={"episode": "hall/0/0"})
    after, _, _, truncated, info = env.step(said("rotate(90,0)"))
    assert truncated
    assert info["direction"].tolist() == [90.0, 0.0]
    elsewhere = make(scenes)
    elsewhere.reset(options={"episode": "hall/0/0"})
    shown = elsewhere.step(said("rotate(90,0)"))[0]
    np.testing.assert_array_equal(after, shown)
    assert (before != after).mean() > 0.5


def test_views_are_rgb_with_the_cross(scenes: Path) -> None:
    env = make(scenes, render_mode="rgb_array")
    pixels, _ = env.reset(options={"episode": "hall/0/0"})
    assert pixels.shape == (HEIGHT, WIDTH, 3)
    assert pixels[HEIGHT // 2, WIDTH // 2].tolist() == [0, 255, 0]
    corner = env.observation.image[0, 0].tolist()
    assert pixels[0, 0].tolist() == corner[::-1]
    pixels[:] = 0
    frame = env.render()
    assert frame is not None
    assert frame.any(), "what a caller does to a view must not change the next one"


def test_a_bare_action_is_one_only_where_that_is_asked_for(scenes: Path) -> None:
    for bare in (False, True):
        env = make(scenes, bare=bare)
        env.reset(options={"episode": "hall/0/0"})
        info = env.step("rotate(10,-5)")[4]
        assert (info["action"], info["status"]) == (("rotate(10,-5)", "ok") if bare else ("", "no answer"))
        assert info["well_formed"] is bare
    assert env.step(said("rotate(10,0)"))[4]["direction"].tolist() == [20.0, -5.0]
    assert env.step("I do not know")[4]["status"] == "bad action"


def test_whatever_a_model_says_belongs_to_the_actions_and_costs_a_turn(scenes: Path) -> None:
    env = gymnasium.make(ID, scenes=str(scenes), width=64, height=36)
    for text in ("", "<think>出口はどこ？ 🧭 é</think><answer>rotate(1,0)</answer>", "\ud800", "a" * 20_000, "\0"):
        assert text in env.action_space
        env.reset(seed=1)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            info = env.step(text)[4]
        assert info["turns_left"] == 9
        assert json.dumps(info["feedback"])


@pytest.mark.parametrize("bare", [False, True])
def test_samples_are_answers(scenes: Path, bare: bool) -> None:
    env = make(scenes, bare=bare)
    space = env.action_space
    space.seed(4)
    texts = [space.sample() for _ in range(60)]
    assert all(text in space for text in texts)
    space.seed(4)
    assert texts == [space.sample() for _ in range(60)]
    statuses, actions = set(), set()
    for text in texts:
        env.reset(options={"episode": "hall/0/0"})
        info = env.step(text)[4]
        statuses.add((info["status"], info["well_formed"]))
        actions.add(info["action"].partition("(")[0])
    assert statuses == {("ok", True)}
    assert actions == {"rotate", "submit"}


def test_a_seed_decides_on_the_episodes_and_none_comes_twice_in_a_pass(scenes: Path) -> None:
    env, other = make(scenes), make(scenes)
    passes = []
    for seed in (1, 1, 2, 3):
        ids = [env.reset(seed=seed)[1]["episode_id"], *(env.reset()[1]["episode_id"] for _ in range(4))]
        assert sorted(ids) == sorted(episode.episode_id for episode in env.episodes)
        passes.append(ids)
    assert passes[0] == passes[1]
    assert len({tuple(ids) for ids in passes}) > 1
    assert [other.reset(seed=1)[1]["episode_id"], other.reset()[1]["episode_id"]] == passes[0][:2]


def test_episodes_can_be_chosen(scenes: Path) -> None:
    env = make(scenes)
    assert env.reset(options={"episode": "yard/0/350"})[1]["episode_id"] == "yard/0/350"
    info = env.reset(options={"episode": "hall/1/180"})[1]
    assert (info["kind"], info["level"], info["instruction"]) == ("path", 3, "Which way leads to the café?")
    assert [e.episode_id for e in make(scenes, select=["*/350"]).episodes] == ["hall/0/350", "yard/0/350"]
    assert [e.episode_id for e in make(scenes, kind="path").episodes] == ["hall/1/180"]


def test_without_scenes_there_are_the_sample_scenes() -> None:
    env = gymnasium.make(ID).unwrapped
    assert env.observation_space.shape == (720, 1280, 3)
    assert "shop" in {episode.scene.name for episode in env.episodes}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"kind": "objects"}, "kind is 'objects'; give object or path"),
        ({"parser": "loose"}, "parser is 'loose'; give strict, lenient or lenient+"),
        ({"scoring": "published"}, "scoring is 'published'; give paper or reference"),
        ({"rewards": {"succes": 1.0}}, "no reward weight 'succes'"),
        ({"rewards": {"format": float("nan")}}, "reward weight format is nan"),
        ({"sampling": "nearest"}, "sampling is 'nearest'; give exact or hstar"),
        ({"select": ["nowhere/*"]}, "no episode matches 'nowhere/"),
        ({"max_turns": 0}, "max_turns is 0"),
        ({"width": 0}, "camera width is 0"),
        ({"memory_mb": -1}, "memory_mb is -1"),
    ],
)
def test_a_setting_that_cannot_be_is_named_when_it_is_made(
    scenes: Path, settings: dict[str, object], problem: str
) -> None:
    with pytest.raises(ValueError, match=problem.replace("*", "[*]").replace("+", "[+]")):
        make(scenes, **settings)


def test_a_folder_without_scenes_is_named(tmp_path: Path) -> None:
    with pytest.raises(SceneError, match="nothing to search"):
        make(tmp_path)


def test_calls_that_make_no_sense_are_refused(scenes: Path) -> None:
    env = make(scenes)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(said("rotate(1,0)"))
    with pytest.raises(ValueError, match="no episode 'hall/9/0' among these 5; ids look like 'hall/0/0'"):
        env.reset(options={"episode": "hall/9/0"})
    with pytest.raises(ValueError, match="no option 'scene'"):
        env.reset(options={"scene": "hall"})
    env.reset(seed=0)
    env.step(said("submit(0,0)"))
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(said("rotate(1,0)"))
    env.close()
    with pytest.raises(gymnasium.error.ClosedEnvironmentError):
        env.reset()
