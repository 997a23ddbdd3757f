"""The policy that reads signs, searching in small drawn panoramas."""

from __future__ import annotations

import subprocess
import sys

import pytest
from picture_scenes import PictureHead, Sign, blank, panorama

from hvs_ros.panorama import Panorama, draw_cross
from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError
from hvs_ros.policy.registry import create_policy
from hvs_ros.search.episode import Outcome, SearchResult
from hvs_ros.search.loop import run_search
from hvs_ros.search.task import Task, TaskKind

pytest.importorskip("rapidocr", reason="needs the extra 'signs'")
pytest.importorskip("onnxruntime", reason="needs the extra 'signs'")

from hvs_ros.policy.signs import SignsPolicy


@pytest.fixture(scope="module")
def policy() -> SignsPolicy:
    return SignsPolicy(threads=2)


def search(
    policy: SignsPolicy, scene: Panorama, instruction: str, *, path: bool = False, yaw_deg: float = 0.0, turns: int = 10
) -> SearchResult:
    kind = TaskKind.PATH if path else TaskKind.OBJECT
    return run_search(Task(instruction, kind, turns), PictureHead(scene, yaw_deg), policy, mark=draw_cross)


def error_deg(result: SearchResult, yaw_deg: float) -> float:
    assert result.submitted is not None, result
    return abs((result.submitted.yaw_deg - yaw_deg + 180) % 360 - 180)


def test_a_sign_behind_is_found_centred_and_submitted(policy: SignsPolicy) -> None:
    scene = panorama(Sign("EXIT", 160.0, 8.0), Sign("Lockers", 40.0), Sign("Platform 3", -70.0))
    result = search(policy, scene, "Find the exit sign.")
    assert result.outcome is Outcome.SUBMITTED and not result.guess
    assert error_deg(result, 160.0) < 2.0 and abs(result.submitted.pitch_deg - 8.0) < 2.0  # type: ignore[union-attr]
    # It looked there when it submitted, and read again what it had seen.
    last = result.turns[-1]
    assert last.observation.direction.angle_to_deg(result.submitted) < 1.1  # type: ignore[arg-type]
    assert "EXIT" in last.decision.thought
    assert len(result.turns) <= 5


def test_the_number_decides(policy: SignsPolicy) -> None:
    scene = panorama(Sign("Platform 13", 20.0), Sign("Platform 3", 110.0), Sign("Platform 2", -60.0))
    result = search(policy, scene, "Which way should you walk to reach platform 3?", path=True)
    assert error_deg(result, 110.0) < 2.0 and not result.guess


def test_an_arrow_is_followed_to_the_opening(policy: SignsPolicy) -> None:
    scene = panorama(Sign("Metro", 60.0, 12.0, "right"), doors=((75.0, 95.0), (-120.0, -90.0)))
    result = search(policy, scene, "Which way should you walk to take the subway?", path=True)
    assert error_deg(result, 85.0) < 10.0


def test_the_sign_at_the_end_of_an_arrow_is_the_answer(policy: SignsPolicy) -> None:
    scene = panorama(Sign("Toilets", 20.0, 12.0, "left"), Sign("WC", -75.0, 8.0))
    result = search(policy, scene, "Which way should you walk to the restroom?", path=True)
    assert error_deg(result, -75.0) < 10.0


def test_an_arrow_to_nothing_in_sight_is_a_guess_to_that_side(policy: SignsPolicy) -> None:
    scene = panorama(Sign("Toilets", 20.0, 12.0, "left"))
    result = search(policy, scene, "Which way should you walk to the restroom?", path=True)
    assert result.guess and 30.0 < error_deg(result, 20.0) < 100.0
    assert (result.submitted.yaw_deg - 20.0) % 360.0 > 180.0  # type: ignore[union-attr]


def test_nothing_fits_so_it_guesses_and_says_so(policy: SignsPolicy) -> None:
    result = search(policy, panorama(Sign("Lockers", 40.0)), "Find the dog.")
    assert result.outcome is Outcome.SUBMITTED and result.guess
    assert "guess" in result.turns[-1].decision.thought


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_few_turns_are_enough_to_submit(policy: SignsPolicy, turns: int) -> None:
    scene = panorama(Sign("EXIT", 25.0, 4.0))
    result = search(policy, scene, "Find the exit.", turns=turns)
    assert result.outcome is Outcome.SUBMITTED and len(result.turns) <= turns
    assert error_deg(result, 25.0) < 2.0
    unseen = search(policy, scene, "Find the exit.", turns=turns, yaw_deg=180.0)
    assert unseen.outcome is Outcome.SUBMITTED and len(unseen.turns) <= turns


def test_a_head_that_cannot_turn_that_far_does_not_keep_it_busy(policy: SignsPolicy) -> None:
    class StiffHead(PictureHead):
        def turn_to(self, goal):  # type: ignore[no-untyped-def]
            yaw = (goal.yaw_deg + 180) % 360 - 180
            return super().turn_to(type(goal)(max(-20.0, min(20.0, yaw)), 0.0))

    head = StiffHead(panorama(Sign("EXIT", 50.0, 4.0)))
    result = run_search(Task("Find the exit."), head, policy)
    assert result.outcome is Outcome.SUBMITTED
    assert error_deg(result, 50.0) < 3.0


def test_searches_do_not_remember_each_other(policy: SignsPolicy) -> None:
    scene = panorama(Sign("EXIT", 30.0))
    first = search(policy, scene, "Find the exit.")
    again = search(policy, scene, "Find the exit.")
    assert [turn.decision for turn in first.turns] == [turn.decision for turn in again.turns]


def test_a_picture_of_any_size_is_looked_at(policy: SignsPolicy) -> None:
    policy.start(Task("Find the exit.", max_turns=2))
    assert policy.decide(blank(turns_left=2)).action is not None


@pytest.mark.parametrize(
    ("settings", "name"),
    [({"min_match": 1.5}, "min_match"), ({"threads": -1}, "threads"), ({"max_side": 10}, "max_side")],
)
def test_a_setting_out_of_range_is_refused_by_name(settings: dict[str, float], name: str) -> None:
    with pytest.raises(PolicyError, match=name):
        create_policy("signs", settings)


def test_deciding_before_starting_is_an_error() -> None:
    policy = SignsPolicy(threads=1)
    policy.close()
    with pytest.raises(PolicyError, match="before start"):
        policy.decide(blank())


@pytest.mark.parametrize("missing", ["rapidocr", "rapidfuzz", "onnxruntime"])
def test_a_missing_package_is_one_line(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(PolicyUnavailableError) as caught:
        create_policy("signs")
    assert missing in str(caught.value) and "pip install -e '.[signs]'" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_loading_it_prints_nothing() -> None:
    code = "from hvs_ros.policy.signs import SignsPolicy; SignsPolicy(threads=1)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
