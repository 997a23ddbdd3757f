"""What is rewarded, term by term, and when."""

from __future__ import annotations

from pathlib import Path

import pytest
from gym_builders import make, said

from hvs_ros.angles import Direction
from hvs_ros.gym.rewards import RewardWeights, approach
from hvs_ros.search.task import Target

OBJECT = Target((90.0, 110.0), (0.0, 10.0))  # accepted: yaw 70 to 130, pitch -15 to 25
WIDE = Target((350.0, 60.0), (-40.0, 20.0))  # accepted as it is
PATH = Target((355.0, 5.0))  # accepted: yaw 350 to 10

TERMS = ("correctness", "format", "distance")


@pytest.mark.parametrize(
    ("target", "before", "after", "expected"),
    [
        # |0-70| + |0-130| = 200 before, |60-70| + |60-130| = 80 after
        (OBJECT, (0, 0), (60, 0), 120 / 180),
        (OBJECT, (60, 0), (0, 0), -120 / 180),
        # across yaw 0: 350 is 80 and 140 away, 10 is 60 and 120 away
        (OBJECT, (350, 0), (10, 0), 40 / 180),
        # within the accepted interval nothing is nearer than anything else
        (OBJECT, (75, -10), (125, 20), 0.0),
        # pitch alone: |-60+15| + |-60-25| = 130 before, 40 after; with yaw both add up
        (OBJECT, (100, -60), (100, 0), 90 / 180),
        (OBJECT, (0, -60), (100, 0), (200 - 60 + 130 - 40) / 180),
        (WIDE, (200, 60), (20, 60), (150 + 140 - 70) / 180),
        # the pitch of a path counts nothing
        (PATH, (180, 0), (20, 80), (170 + 170 - 30 - 10) / 180),
    ],
)
def test_approach_is_the_way_to_both_edges_of_what_is_accepted(
    target: Target, before: tuple[float, float], after: tuple[float, float], expected: float
) -> None:
    assert approach(target, Direction(*before), Direction(*after)) == pytest.approx(expected)


def play(
    scenes: Path, episode: str, answers: list[str], **settings: object
) -> tuple[list[dict[str, float]], list[float]]:
    env = make(scenes, **settings)
    env.reset(options={"episode": episode})
    terms, rewards = [], []
    for answer in answers:
        _, reward, *_, info = env.step(answer)
        assert reward == pytest.approx(sum(info["rewards"].values()))
        assert tuple(info["rewards"]) == TERMS
        terms.append(info["rewards"])
        rewards.append(reward)
    return terms, rewards


def test_a_right_submission_in_the_format_earns_what_the_published_training_pays(scenes: Path) -> None:
    terms, rewards = play(scenes, "hall/0/0", [said("rotate(100,5)"), said("submit(100,5)")])
    assert rewards == [0.0, 1.0]
    assert terms[1] == {"correctness": 0.5, "format": 0.5, "distance": 0.0}


@pytest.mark.parametrize(
    ("answers", "correct", "formed"),
    [
        ([said("submit(300,5)")], 0.0, 0.5),
        # One answer that is not in the format, whichever it is, and the format earns nothing.
        (["<answer>rotate(10,0)</answer>", said("submit(100,5)")], 0.5, 0.0),
        ([said("rotate(10,0)"), "<answer>submit(100,5)</answer>"], 0.5, 0.0),
        ([said("rotate(ten,0)"), said("submit(100,5)")], 0.5, 0.0),
        ([said("rotate(10,0)") + "!", said("submit(100,5)")], 0.5, 0.0),
    ],
)
def test_format_is_paid_with_the_submission_for_every_answer(
    scenes: Path, answers: list[str], correct: float, formed: float
) -> None:
    terms, rewards = play(scenes, "hall/0/0", answers)
    assert terms[-1] == {"correctness": correct, "format": formed, "distance": 0.0}
    assert rewards[:-1] == [0.0] * (len(answers) - 1)


def test_nothing_is_earned_without_a_submission(scenes: Path) -> None:
    _, rewards = play(scenes, "hall/0/0", [said("rotate(10,0)")] * 3, max_turns=3)
    assert rewards == [0.0] * 3


def test_format_does_not_carry_over_into_the_next_episode(scenes: Path) -> None:
    env = make(scenes)
    env.reset(options={"episode": "hall/0/0"})
    env.step("nothing")
    env.reset(options={"episode": "hall/0/0"})
    assert env.step(said("submit(100,5)"))[1] == 1.0


def test_weights_are_the_makers(scenes: Path) -> None:
    answers = [said("rotate(60,0)"), said("rotate(-60,0)"), "nothing", said("submit(300,0)")]
    weights = {"correctness": 3.0, "wrong": -2.0, "format": 5.0, "progress": 0.9, "regress": 1.8}
    terms, _ = play(scenes, "hall/0/0", answers, rewards=weights)
    assert [term["distance"] for term in terms] == pytest.approx([0.6, -1.2, 0.0, 0.0])
    assert (terms[3]["correctness"], terms[3]["format"]) == (-2.0, 0.0)
    assert RewardWeights.of({"wrong": -1.0}) == RewardWeights(0.5, -1.0, 0.5, 0.0, 0.0)


def test_a_path_before_it_does_not_narrow_what_an_object_accepts(scenes: Path) -> None:
    env = make(scenes, rewards={"progress": 1.0})
    earned = []
    for episodes in (["hall/0/0"], ["hall/1/180", "hall/0/0"]):
        for episode in episodes:
            env.reset(options={"episode": episode})
        earned.append((env.step(said("rotate(30,0)"))[1], env.step(said("submit(75,0)"))[1]))
    assert earned[0] == earned[1] == (pytest.approx(60 / 180), 1.0)


def test_success_is_by_the_rule_that_was_asked_for(scenes: Path) -> None:
    # Across yaw 0 the published code does not look at the pitch of an object.
    for scoring, success in (("paper", False), ("reference", True)):
        env = make(scenes, scoring=scoring)
        env.reset(options={"episode": "yard/0/0"})
        _, reward, _, _, info = env.step(said("submit(5,80)"))
        assert (info["success"], reward) == (success, 0.5 + 0.5 * success)
