"""Golden runs of our own: scripted answers whose consequences follow from the rules, worked out by hand.

Each tells its answers, and of each whether it is a valid action, whether it keeps the form, and where the camera
looks afterwards; then how the search ends, and whether it succeeds by the paper's rule and by the published code's.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_model import CUT, marked, run_at_once, run_one_by_one

from hvs_ros.benchmark.dataset import open_dataset, plan_benchmark
from hvs_ros.benchmark.episodes import Episode
from hvs_ros.benchmark.protocol import PROTOCOLS
from hvs_ros.benchmark.result import EpisodeResult
from hvs_ros.policy.model_settings import ParserMode, Thought
from hvs_ros.policy.parse import parse, well_formed
from hvs_ros.search.decision import ParseStatus
from hvs_ros.search.episode import Outcome
from hvs_ros.search.scoring import ScoringMode

OK, BAD, NONE = ParseStatus.OK, ParseStatus.BAD_ACTION, ParseStatus.NO_ANSWER
FRONT: dict[str, Any] = {"task": "Find the clock.", "yaw": [350, 10], "pitch": [-5, 5]}
SIDE: dict[str, Any] = {"task": "Find the bin.", "yaw": [80, 100], "pitch": [-10, 10]}
WIDE: dict[str, Any] = {"task": "Find the window.", "yaw": [100, 200], "pitch": [-60, 20]}
BACK: dict[str, Any] = {"task": "Which way is out?", "yaw": [170, 190]}
TASKS = [FRONT, SIDE, WIDE, BACK]


def said(action: str) -> str:
    return f"<think>So.</think><answer>{action}</answer>"


@dataclass(frozen=True)
class Script:
    """Answers, each with its status, whether it is well formed, and (yaw, pitch) afterwards."""

    item: dict[str, Any]
    start: int
    turns: list[tuple[str, ParseStatus, bool, tuple[int, int]]]
    outcome: Outcome = Outcome.SUBMITTED
    paper: bool = False
    reference: bool | None = None

    @property
    def by_reference(self) -> bool:
        return self.paper if self.reference is None else self.reference


def at_once(item: dict[str, Any], action: str, paper: bool, reference: bool | None = None) -> Script:
    """Submit in the first turn; the camera stays where it began, whatever is submitted."""
    return Script(item, 0, [(said(action), OK, True, (0, 0))], Outcome.SUBMITTED, paper, reference)


SCRIPTS = {
    "yaw wraps both ways": Script(
        *(SIDE, 90),
        [
            (said("rotate(350,0)"), OK, True, (80, 0)),
            (said("rotate(-100,0)"), OK, True, (340, 0)),
            (said("rotate(-1060,0)"), OK, True, (0, 0)),
            (said("rotate(3600,0)"), OK, True, (0, 0)),
            (said("submit(90,0)"), OK, True, (0, 0)),
        ],
        paper=True,
    ),
    "pitch is clamped": Script(
        *(SIDE, 0),
        [
            (said("rotate(0,80)"), OK, True, (0, 80)),
            (said("rotate(5,80)"), OK, True, (5, 90)),
            (said("rotate(0,-10)"), OK, True, (5, 80)),
            (said("rotate(0,-300)"), OK, True, (5, -90)),
            (said("submit(5,-90)"), OK, True, (5, -90)),
        ],
    ),
    "answers without an action use up turns": Script(
        *(SIDE, 0),
        [
            ("I am not sure.", NONE, False, (0, 0)),
            (said(""), NONE, True, (0, 0)),
            (said("rotate(10.0,0)"), BAD, True, (0, 0)),
            (said("Rotate(10,0)"), BAD, True, (0, 0)),
            (said("rotate(10,0)."), BAD, True, (0, 0)),
            (said("submit(90)"), BAD, True, (0, 0)),
            (said("rotate(yaw=10,pitch=0)"), BAD, True, (0, 0)),
            ("<answer>rotate(10,0)</answer>", OK, False, (10, 0)),
            (said("rotate(10,0)") + " Good?", OK, False, (20, 0)),
            (said("submit(90,0)"), OK, True, (20, 0)),
        ],
        paper=True,
    ),
    "of several actions the first": Script(
        *(SIDE, 0),
        [
            (said("rotate(10,0)|rotate(20,0)"), OK, True, (10, 0)),
            (said("rotate(1,2)") + "<answer>submit(90,0)</answer>", OK, True, (11, 2)),
            ("<think>or <answer>rotate(7,7)</answer></think><answer>rotate(4,-2)</answer>", OK, True, (15, 0)),
            (said("submit(90,0)|rotate(20,0)"), OK, True, (15, 0)),
        ],
        paper=True,
    ),
    "what the token limit cut off": Script(
        *(SIDE, 0),
        [
            (f"<think>There is a lot to see{CUT}", ParseStatus.TRUNCATED, False, (0, 0)),
            (f"<think>So.</think><answer>rotate(9{CUT}", ParseStatus.TRUNCATED, False, (0, 0)),
            (said("rotate(9,0)") + f" And the{CUT}", OK, False, (9, 0)),
            (said("submit(90,0)"), OK, True, (9, 0)),
        ],
        paper=True,
    ),
    "more than ten turns round is out of range": Script(
        *(SIDE, 0),
        [(said("rotate(3601,0)"), ParseStatus.OUT_OF_RANGE, True, (0, 0)), (said("submit(450,0)"), OK, True, (0, 0))],
        paper=True,
    ),
    "ten turns without a submission": Script(
        *(SIDE, 0),
        [(said("rotate(9,0)"), OK, True, (9 * turn, 0)) for turn in range(1, 11)],
        Outcome.TURNS_EXHAUSTED,
    ),
    "a submission in the tenth turn counts": Script(
        *(SIDE, 0),
        [*[(said("zoom(in)"), BAD, True, (0, 0))] * 9, (said("submit(90,0)"), OK, True, (0, 0))],
        paper=True,
    ),
    "an object's yaw, on the edge": at_once(SIDE, "submit(120,0)", True),
    "an object's yaw, beyond": at_once(SIDE, "submit(121,0)", False),
    "an object's pitch, on the edge": at_once(SIDE, "submit(60,-20)", True),
    "an object's pitch, beyond": at_once(SIDE, "submit(90,21)", False),
    "a wide box is its own tolerance": at_once(WIDE, "submit(200,-60)", True),
    "and no more": at_once(WIDE, "submit(201,-60)", False),
    "a path's yaw, on the edge": at_once(BACK, "submit(170,0)", True),
    "a path's yaw, beyond": at_once(BACK, "submit(191,0)", False),
    "a path's pitch does not matter": at_once(BACK, "submit(180,-90)", True),
    "below zero": at_once(FRONT, "submit(-30,20)", True),
    "across zero, beyond": at_once(FRONT, "submit(31,0)", False),
    "across zero the published code looks at no pitch": at_once(FRONT, "submit(30,21)", False, True),
    "but at the yaw": at_once(FRONT, "submit(300,80)", False),
}


@pytest.fixture(scope="module")
def episodes(tmp_path_factory: pytest.TempPathFactory) -> list[Episode]:
    folder = tmp_path_factory.mktemp("golden") / "room"
    folder.mkdir()
    noise = np.random.default_rng(0).integers(0, 255, (64, 128, 3), np.uint8)
    cv2.imwrite(str(folder / "room.png"), noise)
    (folder / "annotation.json").write_text(json.dumps(TASKS), encoding="utf-8")
    planned = {e.episode_id: e for e in plan_benchmark(open_dataset(folder.parent), seed=None)}
    assert len(planned) == 16
    return [
        marked(planned[f"room/{TASKS.index(script.item)}/{script.start}"], name) for name, script in SCRIPTS.items()
    ]


@pytest.fixture(
    scope="module",
    params=[(protocol, run) for protocol in PROTOCOLS for run in (run_at_once, run_one_by_one)],
    ids=lambda param: f"{param[0]}, {param[1].__name__}",
)
def results(request: pytest.FixtureRequest, episodes: list[Episode]) -> dict[str, EpisodeResult]:
    protocol, run = request.param
    scripts = {name: [turn[0] for turn in script.turns] for name, script in SCRIPTS.items()}
    return {result.episode_id: result for result in run(PROTOCOLS[protocol], episodes, scripts)}


@pytest.mark.parametrize("name", SCRIPTS)
def test_what_comes_of_answers(name: str, results: dict[str, EpisodeResult]) -> None:
    script, record = SCRIPTS[name], results[name].record
    seen = [
        (turn.raw, turn.status, well_formed(turn.raw), (turn.after.yaw_deg, turn.after.pitch_deg))
        for turn in record.turns
    ]
    assert seen == [(answer.removesuffix(CUT), *rest) for answer, *rest in script.turns]
    assert record.outcome is script.outcome
    assert results[name].success(ScoringMode.PAPER) is script.paper
    assert results[name].success(ScoringMode.REFERENCE) is script.by_reference


def test_the_rules_differ_somewhere() -> None:
    assert [name for name, script in SCRIPTS.items() if script.by_reference != script.paper] == [
        "across zero the published code looks at no pitch"
    ]


GROUNDS = "<think> <observation>a</observation>\n<reasoning>b</reasoning></think>"


@pytest.mark.parametrize(
    ("thought", "text", "expected"),
    [
        (Thought.FREE, " <think>a\nb</think> \n <answer>anything</answer>\n", True),
        (Thought.FREE, "<image><think></think><answer></answer>", True),
        (Thought.FREE, "<think>a</think><answer>b</answer><answer>c</answer>", True),
        (Thought.FREE, "<think>a</think> so <answer>b</answer>", False),
        (Thought.FREE, "<think>a</think><answer>b", False),
        (Thought.FREE, "<think>a<answer>b</answer>", False),
        (Thought.FREE, "So <think>a</think><answer>b</answer>", False),
        (Thought.FREE, "</answer>", False),
        (Thought.NONE, " <answer>b</answer> ", True),
        (Thought.NONE, "<think>a</think><answer>b</answer>", False),
        (Thought.GROUNDED, GROUNDS + "<answer>b</answer>", True),
        (Thought.GROUNDED, GROUNDS.replace("observation", "reasoning") + "<answer>b</answer>", False),
        (Thought.GROUNDED, "<think>a</think><answer>b</answer>", False),
        (Thought.GROUNDED, GROUNDS, False),
    ],
)
def test_the_form_of_an_answer(thought: Thought, text: str, expected: bool) -> None:
    assert well_formed(text, thought) is expected


PIECES = ["<think>", "</think>", "<answer>", "</answer>", " ", "rotate(1,1)", "<observation>", "</observation>"]


@given(st.lists(st.sampled_from(PIECES), max_size=8).map("".join), st.sampled_from(Thought))
def test_what_strict_accepts_is_well_formed(text: str, thought: Thought) -> None:
    if parse(text, mode=ParserMode.STRICT, thought=thought).status is OK:
        assert well_formed(text, thought)


def test_a_long_answer_is_judged_in_no_time() -> None:
    for thought in Thought:
        well_formed("<think><observation>" * 5_000 + "</answer>", thought)
        well_formed("<think>" + "</think> " * 5_000 + "</answer>", thought)
